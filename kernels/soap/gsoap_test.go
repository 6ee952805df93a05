package soap_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// values returns the values that a parameter of the echo kernel may have.
func values(tb testing.TB, name string) []string {
	tb.Helper()
	p, ok := soap.Echo{}.Info().Param(name)
	if !ok || len(p.Values) == 0 {
		tb.Fatalf("soap.echo has no parameter %q with values", name)
	}
	return p.Values
}

// TestGSOAPServer calls the service made by gSOAP with every payload and version, both of
// which it reads and writes itself. Every value of the answers is compared; the checks among
// the calls send what is hard to carry.
func TestGSOAPServer(t *testing.T) {
	t.Parallel()
	served := soap.Echo{}.Info().Defaults().With(kernels.Addr, peer(t, gsoapServer))
	for _, payload := range values(t, "payload") {
		for _, version := range values(t, "version") {
			for _, size := range []string{"2.2KB", "1MB"} {
				t.Run(payload+" "+version+" "+size, func(t *testing.T) {
					t.Parallel()
					p := served.With("payload", payload).With("version", version).With("size", size)
					called(t, p)
					called(t, p.With("keepalive", "false"))
				})
			}
		}
	}
	called(t, served.With("model", "dom"))
}

// at returns a service's URL with another path.
func at(tb testing.TB, address, path string) string {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	u.Path = path
	return u.String()
}

// TestGSOAPServerFaults calls where the service made by gSOAP answers with a fault, and looks
// at all parts of it.
func TestGSOAPServerFaults(t *testing.T) {
	t.Parallel()
	served := soap.Echo{}.Info().Defaults().With(kernels.Addr, at(t, peer(t, gsoapServer), "/fault"))
	for _, model := range models {
		for _, version := range values(t, "version") {
			t.Run(model+" "+version, func(t *testing.T) {
				t.Parallel()
				err := open(t, served.With("model", model).With("version", version)).Do(t.Context(), 1)
				var failed *kernels.Failure
				var fault *envelope.Fault
				if !errors.As(err, &failed) || failed.Class != "fault" || !errors.As(err, &fault) {
					t.Fatalf("got %v, want a failure of class fault", err)
				}
				want := envelope.Fault{Code: "Client.Refused", String: "this path refuses every call", Detail: "by its name & nature"}
				if version == "1.1" {
					want.Code = "Refused" // which knows no subcode: gSOAP sends it as the code
				}
				if d := cmp.Diff(&want, fault); d != "" {
					t.Errorf("the fault's parts: %s", d)
				}
			})
		}
	}
}

// TestGSOAPServerAttachments sends attachments by MTOM to the service made by gSOAP.
func TestGSOAPServerAttachments(t *testing.T) {
	t.Parallel()
	served := soap.Attachment{}.Info().Defaults().With(kernels.Addr, peer(t, gsoapServer))
	for _, version := range values(t, "version") {
		for _, size := range []string{"1B", "10KB", "3MB"} {
			t.Run(version+" "+size, func(t *testing.T) {
				t.Parallel()
				trial := attach(t, served.With("version", version).With("size", size))
				if err := trial.Do(t.Context(), 2); err != nil {
					t.Fatal(err)
				}
				checked(t, trial)
			})
		}
	}
}

// checked lets a trial check its answers.
func checked(tb testing.TB, trial kernels.Trial) {
	tb.Helper()
	c, ok := trial.(kernels.Checker)
	if !ok {
		tb.Fatal("the trial has no check")
	}
	if err := c.Check(); err != nil {
		tb.Fatal(err)
	}
}

// What the peers' clients send, as they print what they got back.
const (
	markupText = `<a href=\x22x\x22>&amp;]]>'`
	blanksText = ` \x09\x0d\x0a\x0d \xc5\xbdlu\xc5\xa5ou\xc4\x8dk\xc3\xbd \xe9\xa6\xac \xf0\x9f\x90\x8e `

	beanA = ` -2147483648 4.9406564584124654e-324 0
 first "` + markupText + `"
 last nil
 city ""
`
	beanB = ` 2147483647 -1.7976931348623157e+308 1
 first nil
 last "` + blanksText + `"
 city "Brno"
`
	beanC = ` 0 -0 1
 first ""
 last ""
 city nil
`
	gotBeans = "a" + beanA + "b" + beanB + "c" + beanC + "d nil\n" +
		"item \"one\"\nitem nil\nitem \"\"\nitem \"" + blanksText + "\"\n"
	gotText     = "text \"" + markupText + blanksText + "\"\n"
	gotDocument = `number "SN-1"
sent "2024-02-29"
from "Novak"
in nil
to nil
parcel "` + markupText + `"
 weight "12.45"
 item "pallet"
  pieces 12
  tariff "847130"
  amount "-0.125"
 item ""
  pieces -2147483648
  tariff nil
  amount "999999999999999.999"
parcel nil
 weight "0"
 item nil
  pieces 0
  tariff nil
  amount nil
parcel "` + blanksText + `"
 weight "7"
`
	gotRecords = "record" + beanA + "record" + beanB + "record nil\nrecord" + beanC
)

// place is where in a request something was found, which only the model stream knows.
var place = regexp.MustCompile(`, at byte \d+`)

// TestGSOAPClient has the client made by gSOAP call our service, keep its connection or not,
// and read faults.
func TestGSOAPClient(t *testing.T) {
	t.Parallel()
	program := peer(t, gsoapClient)
	wrongAction := ` subcode nil
 reason "the action \x22urn:benchd:echo#echoBeans\x22 does not belong to the operation in the body, which has \x22urn:benchd:echo#echoText\x22"
 detail nil
`
	mandatory := ` subcode nil
 reason "the header block \x22token\x22 has to be understood and is not"
 detail nil
`
	rows := []struct{ version, what, want string }{
		{"1.1", "beans", gotBeans},
		{"1.2", "beans", gotBeans},
		{"1.1", "text", gotText},
		{"1.2", "text", gotText},
		{"1.1", "records", gotRecords},
		{"1.2", "records", gotRecords},
		{"1.1", "document", gotDocument},
		{"1.2", "document", gotDocument},
		{"1.1", "action", "fault 1.1 500\n code \"SOAP-ENV:Client\"\n" + wrongAction},
		{"1.2", "action", "fault 1.2 400\n code \"SOAP-ENV:Sender\"\n" + wrongAction},
		{"1.1", "header", "fault 1.1 500\n code \"SOAP-ENV:MustUnderstand\"\n" + mandatory},
		{"1.2", "header", "fault 1.2 500\n code \"SOAP-ENV:MustUnderstand\"\n" + mandatory + " not understood \"b:token\"\n"},
	}
	for _, model := range models {
		served := serve(t, model)
		for _, row := range rows {
			for keepalive, connections := range map[string]int32{"1": 1, "0": 3} {
				t.Run(fmt.Sprint(model, " ", row.version, " ", row.what, " on ", connections), func(t *testing.T) {
					t.Parallel()
					r := relayTo(t, served)
					got := place.ReplaceAllString(runPeer(t, program, r.addr, row.version, keepalive, "3", row.what), "")
					if d := cmp.Diff(strings.Repeat(row.want, 3), got); d != "" {
						t.Error(d)
					}
					if n := r.count.Load(); n != connections {
						t.Errorf("the client made %d connections for 3 calls, want %d", n, connections)
					}
				})
			}
		}
	}
}

// TestGSOAPClientAttachments has the client made by gSOAP send attachments by MTOM to our
// service.
func TestGSOAPClientAttachments(t *testing.T) {
	t.Parallel()
	program := peer(t, gsoapClient)
	served := serveAttachments(t)
	for _, version := range values(t, "version") {
		for _, size := range []int{0, 1, 100_000, 3_000_000} {
			content := make([]byte, size)
			for i := range content {
				content[i] = byte(i*31 + i/256) // as the client makes it
			}
			want := fmt.Sprintf("stored %d %08[2]x of %08[2]x\n", size, crc32.ChecksumIEEE(content))
			t.Run(fmt.Sprint(version, " ", size), func(t *testing.T) {
				t.Parallel()
				got := runPeer(t, program, served[kernels.Addr], version, "1", "2", strconv.Itoa(size))
				if got != want+want {
					t.Errorf("got %q, want %q twice", got, want)
				}
			})
		}
	}
}
