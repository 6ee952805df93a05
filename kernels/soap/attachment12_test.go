package soap_test

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"

	"github.com/beevik/etree"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// Messages in parts by SOAP 1.2.
const (
	xop12Type = `multipart/related; boundary="b"; type="application/xop+xml"; start="<r>"; start-info="application/soap+xml"; action="urn:benchd:attachment#store"`
	swa12Type = `multipart/related; boundary=b; type="application/soap+xml"; start="<r>"`
	xop12Head = "Content-Type: application/xop+xml; charset=UTF-8; type=\"application/soap+xml\"\r\nContent-ID: <r>\r\n"
	xml12Head = "Content-Type: application/soap+xml; charset=utf-8\r\nContent-ID: <r>\r\n"
)

// by12 makes an envelope one of SOAP 1.2.
func by12(text string) string { return strings.ReplaceAll(text, envelope.SOAP11, envelope.SOAP12) }

func TestAttachmentAnswers12(t *testing.T) {
	url := serveAttachments(t)[kernels.Addr]
	inner := `application/soap+xml; action=\"urn:benchd:attachment#store\"`
	for _, row := range []struct{ name, kind, head, envelope string }{
		{"mtom", xop12Type, xop12Head, xopStore},
		{"without an action", strings.Split(xop12Type, "; action")[0], xop12Head, xopStore},
		{"the action in the start-info", strings.Replace(strings.Split(xop12Type, "; action")[0], "application/soap+xml", inner, 1), xop12Head, xopStore},
		{"the action in the type of the root", xop12Type, strings.Replace(xop12Head, "application/soap+xml", inner, 1), xopStore},
		{"swa", swa12Type, xml12Head, swaStore},
		{"swa with an action", swa12Type + `; action="urn:benchd:attachment#store"`, xml12Head, swaStore},
		{"in capitals", strings.Replace(swa12Type, "application/soap+xml", "Application/SOAP+XML", 1), xml12Head, swaStore},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := post(t, url, strings.NewReader(inParts(row.head, by12(row.envelope), dataHead, "x")), "Content-Type", row.kind)
			want := fmt.Sprintf(`%s" xmlns:a="urn:benchd:attachment"><soap:Body><a:storeResponse><a:length>1</a:length><a:checksum>%d<`, envelope.SOAP12, crc32.ChecksumIEEE([]byte("x")))
			if got.status != 200 || got.header.Get("Content-Type") != soapXML || !strings.Contains(string(got.body), want) {
				t.Errorf("%d %q %s, want %s", got.status, got.header.Get("Content-Type"), got.body, want)
			}
		})
	}
}

func TestAttachmentRefused12(t *testing.T) {
	url := serveAttachments(t)[kernels.Addr]
	in := func(head, envelope string) string { return inParts(head, envelope, dataHead, "x") }
	good := by12(swaStore)
	header := func(block string) string {
		return strings.Replace(good, "<e:Body>", "<e:Header>"+block+"</e:Header><e:Body>", 1)
	}
	for _, row := range []struct {
		name, kind, body string
		status           int
		code, reason     string
	}{
		{"an envelope of SOAP 1.1", swa12Type, in(xml12Head, swaStore), 500, "VersionMismatch", "namespace"},
		{"a root of SOAP 1.1", swa12Type, in(xmlHead, good), 400, "Client", "root part"},
		{"XOP of SOAP 1.1", xop12Type, in(xopHead, by12(xopStore)), 400, "Client", "that of SOAP 1.2"},
		{"another action", swa12Type + `; action="urn:x"`, in(xml12Head, good), 400, "Client", "does not belong"},
		{"an element behind the body", swa12Type, in(xml12Head, strings.Replace(good, "</e:Body>", `</e:Body><x xmlns="urn:x"/>`, 1)), 400, "Client", "behind the body"},
		{"a block to understand", swa12Type, in(xml12Head, header(`<x xmlns="urn:x" e:mustUnderstand="true"/>`)), 500, "MustUnderstand", "understood"},
		{"a block for the last receiver", swa12Type, in(xml12Head, header(`<x xmlns="urn:x" e:mustUnderstand="1" e:role="http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"/>`)), 500, "MustUnderstand", "understood"},
		{"a long message", swa12Type, in(xml12Head, good+strings.Repeat(" ", 100<<10)), 400, "Client", "longer than"},
		{"cut", swa12Type, in(xml12Head, good)[:300], 400, "Client", "ends before"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := post(t, url, strings.NewReader(row.body), "Content-Type", row.kind).isFaultOf(t, row.status, envelope.V12)
			if f.Code != row.code || !strings.Contains(f.String, row.reason) {
				t.Errorf("got %v, want code %s and %q", f, row.code, row.reason)
			}
		})
	}
	for name, block := range map[string]string{
		"a block to pass over":            `<x xmlns="urn:x" e:mustUnderstand="false"><y/></x>`,
		"a block for somebody else":       `<x xmlns="urn:x" e:mustUnderstand="1" e:role="urn:others"/>`,
		"a block with SOAP 1.1's wish":    `<x xmlns="urn:x" xmlns:o="http://schemas.xmlsoap.org/soap/envelope/" o:mustUnderstand="1"/>`,
		"a block that is as an operation": `<store xmlns="urn:benchd:attachment"/>`,
	} {
		if got := post(t, url, strings.NewReader(in(xml12Head, header(block))), "Content-Type", swa12Type); got.status != 200 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// TestServices has both services on one port, whichever kernel it is for, and each described.
func TestServices(t *testing.T) {
	for _, k := range soap.Family().Kernels {
		server, ok := k.(kernels.Server)
		if !ok {
			t.Fatalf("%s is no server", k.Info().Name)
		}
		for _, scheme := range []string{"http", "https"} {
			p := start(t, server, k.Info().Defaults().With("tls", fmt.Sprint(scheme == "https")))
			_, fragment, _ := strings.Cut(p[kernels.Addr], "#")
			for path, of := range map[string]kernels.Kernel{soap.Path: soap.Echo{}, soap.AttachmentPath: soap.Attachment{}} {
				at := scheme + "://" + hostOf(p) + path
				for _, version := range []string{"1.1", "1.2"} {
					to := of.Info().Defaults().With(kernels.Addr, at+"#"+fragment).With("version", version)
					if err := openTrial(t, of, to).Do(t.Context(), 2); err != nil {
						t.Errorf("%s: %v", at, err)
					}
				}
				if scheme == "http" {
					addressed(t, at, string(send(t, http.MethodGet, at+"?wsdl", http.NoBody).body))
				}
			}
		}
	}
}

// addressed checks that a description gives this address for both versions of SOAP.
func addressed(t *testing.T, at, wsdl string) {
	t.Helper()
	doc := etree.NewDocument()
	if err := doc.ReadFromString(wsdl); err != nil {
		t.Fatal(err)
	}
	found := doc.FindElements("//wsdl:port/*")
	for _, a := range found {
		if got := a.SelectAttrValue("location", ""); got != at {
			t.Errorf("the address is %s, not %s", got, at)
		}
	}
	if len(found) != 2 {
		t.Errorf("there are %d addresses, not 2", len(found))
	}
}
