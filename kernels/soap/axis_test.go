package soap_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// Axis 1.4 does not carry every text, though it would be right to:
//
//   - A letter beyond U+FFFF is written as two references, one for each of its surrogates,
//     which XML forbids (its encoder for UTF-8 knows Java's chars only). A reader has to refuse
//     the answer, and ours does.
//   - A carriage return is written as it is and not as a reference, so that a reader makes a
//     line feed of it (XML 1.0, section 2.11).
//
// So the calls here are without the first, and the tests say what becomes of the second. The
// checks of a trial have both, but not where the service is a named one.

// TestAxisServer calls the service made by Axis, as the named service that it is.
func TestAxisServer(t *testing.T) {
	t.Parallel()
	served := soap.Echo{}.Info().Defaults().With(kernels.Addr, peer(t, axisServer)).With("server", "axis")
	for _, model := range models {
		for _, payload := range values(t, "payload") {
			for _, keepalive := range []string{"true", "false"} {
				t.Run(model+" "+payload+" "+keepalive, func(t *testing.T) {
					t.Parallel()
					trial := open(t, served.With("model", model).With("payload", payload).With("keepalive", keepalive))
					checked(t, trial)
					if err := trial.Do(t.Context(), 5); err != nil {
						t.Fatal(err)
					}
				})
			}
		}
	}
}

// TestAxisServerHard sends the service made by Axis beans that are hard to carry.
func TestAxisServerHard(t *testing.T) {
	t.Parallel()
	address := peer(t, axisServer)
	blanks := envelope.String{Value: " \t\n Žluťoučký 馬 "}
	sent := envelope.Message{Shape: envelope.ShapeBeans, Bundle: envelope.Bundle{
		A:     envelope.Bean{ID: -1 << 31, FirstName: envelope.String{Value: `<a href="x">&amp;]]>'`}, Balance: 5e-324},
		B:     envelope.Bean{ID: 1<<31 - 1, LastName: blanks, City: envelope.String{Nil: true}, Balance: -1.7976931348623157e308, Active: true},
		C:     envelope.Bean{FirstName: envelope.String{Nil: true}},
		D:     envelope.Bean{Nil: true},
		Items: []envelope.String{{Value: "one"}, {Nil: true}, {}, blanks},
	}}
	for _, model := range models {
		codec := newCodec(t, envelope.Model(model))
		got := post(t, address, strings.NewReader(string(codec.Append(nil, &sent))), "Content-Type", textXML, "SOAPAction", action)
		var m envelope.Message
		if err := codec.Decode(got.body, &m); err != nil || !m.Answer || got.status != http.StatusOK {
			t.Fatalf("%s: status %d, %v: %s", model, got.status, err, got.body)
		}
		if d := cmp.Diff(sent.Bundle, m.Bundle); d != "" {
			t.Errorf("%s: %s", model, d)
		}
	}
}

// TestAxisServerFault calls a service that Axis has not.
func TestAxisServerFault(t *testing.T) {
	t.Parallel()
	address := at(t, peer(t, axisServer), "/axis/services/Other")
	for _, model := range models {
		err := open(t, soap.Echo{}.Info().Defaults().With("model", model).With(kernels.Addr, address)).Do(t.Context(), 1)
		var failed *kernels.Failure
		var fault *envelope.Fault
		if !errors.As(err, &failed) || failed.Class != "fault" || !errors.As(err, &fault) {
			t.Fatalf("%s: got %v, want a failure of class fault", model, err)
		}
		if fault.Code != "Server.NoService" || !strings.HasSuffix(fault.String, "targetService is Other") || !strings.Contains(fault.Detail, "AxisServer") {
			t.Errorf("%s: the fault's parts are %#v", model, fault)
		}
	}
}

// TestAxisClient has the client made by Axis call our service, and read a fault.
func TestAxisClient(t *testing.T) {
	t.Parallel()
	program := peer(t, axisClient)
	// Java writes numbers its own way.
	beans := strings.NewReplacer(
		"4.9406564584124654e-324", "4.9E-324", "1.7976931348623157e+308", "1.7976931348623157E308", " -0 ", " -0.0 ",
		blanksText, strings.NewReplacer(`\x0d`, "", `\x0a\x0d`, `\x0a\x0a`, `\xf0\x9f\x90\x8e `, "").Replace(blanksText),
	).Replace(gotBeans)
	fault := `fault
 code "http://schemas.xmlsoap.org/soap/envelope/#MustUnderstand"
 reason "the header block \x22token\x22 has to be understood and is not"
`
	for _, model := range models {
		served := serve(t, model)
		for _, row := range []struct {
			what []string
			want string
		}{{nil, beans}, {[]string{"header"}, fault}} {
			t.Run(model+" "+strings.Join(row.what, ""), func(t *testing.T) {
				t.Parallel()
				got := runPeer(t, program, append([]string{served[kernels.Addr], "2"}, row.what...)...)
				if d := cmp.Diff(strings.Repeat(row.want, 2), place.ReplaceAllString(got, "")); d != "" {
					t.Error(d)
				}
			})
		}
	}
}
