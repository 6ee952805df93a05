package soap_test

import (
	"net/http"
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// recent is the envelope of a request in SOAP 1.2.
func recent(tb testing.TB) string {
	tb.Helper()
	m := envelope.Beans(1)
	c := newCodec(tb, envelope.Stream)
	c.Use(envelope.V12)
	return string(c.Append(nil, &m))
}

func TestServiceAnswers12(t *testing.T) {
	request := recent(t)
	rows := []struct{ name, contentType string }{
		{"as the client sends it", soapXML + `; action="urn:benchd:echo#echoBeans"`},
		{"without an action", soapXML},
		{"without a charset", "application/soap+xml"},
		{"an empty action", `application/soap+xml; action=""`},
		{"another order", `Application/SOAP+XML;action="urn:benchd:echo#echoBeans";charset="UTF-8"`},
	}
	for _, model := range models {
		url := serve(t, model)[kernels.Addr]
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) {
				got := post(t, url, strings.NewReader(request), "Content-Type", row.contentType)
				if got.status != http.StatusOK || got.header.Get("Content-Type") != soapXML {
					t.Errorf("got %d with %q", got.status, got.header.Get("Content-Type"))
				}
				var m envelope.Message
				c := newCodec(t, envelope.Stream)
				c.Use(envelope.V12)
				sent := envelope.Beans(1)
				if err := c.Decode(got.body, &m); err != nil || !m.Answer || !m.Equal(&sent) {
					t.Errorf("the answer is not what was sent: %v: %s", err, got.body)
				}
			})
		}
	}
}

func TestServiceRefuses12(t *testing.T) {
	good := recent(t)
	mandatory := strings.Replace(good, "<soap:Body>", `<soap:Header><b:x soap:mustUnderstand="true"/></soap:Header><soap:Body>`, 1)
	rows := []struct {
		name, contentType, body string
		status                  int
		code, reason, header    string
	}{
		{"bad XML", soapXML, good[:len(good)-1], 400, "Client", "not closed", ""},
		{"encoding declared in the document", soapXML, strings.Replace(good, "UTF-8", "UTF-16", 1), 400, "Client", "only UTF-8", ""},
		{"charset", "application/soap+xml; charset=iso-8859-1", good, 400, "Client", "only UTF-8", ""},
		{"document type", soapXML, strings.Replace(good, "<soap:Env", "<!DOCTYPE a><soap:Env", 1), 400, "Client", "document type", ""},
		{"SOAP 1.1", soapXML, beans(t), 500, "VersionMismatch", "xmlsoap", `<u:SupportedEnvelope qname="u:Envelope"/>`},
		{"neither", soapXML, "<a/>", 400, "Client", "not a SOAP envelope", ""},
		{"mandatory header", soapXML, mandatory, 500, "MustUnderstand", "understood", `xmlns:n="urn:benchd:echo" qname="n:x"`},
		{"another action", soapXML + `; action="urn:x"`, good, 400, "Client", "does not belong", ""},
		{"a long document", soapXML, strings.Repeat(" ", maxBytes+1), 413, "Client", "longer than", ""},
	}
	for _, model := range models {
		url := serve(t, model)[kernels.Addr]
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) {
				got := post(t, url, strings.NewReader(row.body), "Content-Type", row.contentType)
				f := got.isFaultOf(t, row.status, envelope.V12)
				if f.Code != row.code || !strings.Contains(f.String, row.reason) || !strings.Contains(string(got.body), row.header) {
					t.Errorf("got %v, want code %s and %q, with %q in\n%s", f, row.code, row.reason, row.header, got.body)
				}
			})
		}
	}
}

// TestEchoOfEverything makes calls with every payload, size and version, and with new
// connections.
func TestEchoOfEverything(t *testing.T) {
	t.Parallel()
	for _, model := range models {
		served := serve(t, model)
		for _, payload := range []string{"beans", "text", "records", "document"} {
			for _, size := range []string{"2.2KB", "1KB", "10KB", "1MB"} {
				for _, version := range []string{"1.1", "1.2"} {
					p := served.With("payload", payload).With("size", size).With("version", version)
					called(t, p)
					if size != "1MB" {
						called(t, p.With("keepalive", "false"))
					}
				}
			}
		}
	}
}

// called makes three calls and a check.
func called(t *testing.T, p kernels.Params) {
	t.Helper()
	trial, err := soap.Echo{}.Open(t.Context(), p)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	if err := trial.Do(t.Context(), 3); err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	// The answer's names are 24 bytes longer, and the namespace of SOAP 1.2 is 2 bytes shorter.
	want := 2*p.Bytes("size") + 24
	if p.Word("version") == "1.2" {
		want -= 4
	}
	if c, ok := trial.(kernels.Counter); !ok || c.Count().Bytes != float64(want) {
		t.Errorf("%v: the envelopes of a call have not %d bytes", p, want)
	}
	if c, ok := trial.(kernels.Checker); !ok || c.Check() != nil {
		t.Fatalf("%v: the check fails: %v", p, c.Check())
	}
	if err := trial.Close(); err != nil {
		t.Fatalf("%v: %v", p, err)
	}
}
