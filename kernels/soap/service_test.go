package soap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

const (
	action   = `"urn:benchd:echo#echoBeans"`
	textXML  = "text/xml; charset=utf-8"
	soapXML  = "application/soap+xml; charset=utf-8"
	maxBytes = 8 << 20
)

// newCodec makes a codec for a test.
func newCodec(tb testing.TB, model envelope.Model) *envelope.Codec {
	tb.Helper()
	c, err := envelope.NewCodec(model, envelope.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// beans is the envelope of a request.
func beans(tb testing.TB) string {
	tb.Helper()
	m := envelope.Beans(1)
	return string(newCodec(tb, envelope.Stream).Append(nil, &m))
}

// An answer is what came back over HTTP.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// post sends a request with the given headers.
func post(tb testing.TB, url string, body io.Reader, headers ...string) answer {
	tb.Helper()
	return send(tb, http.MethodPost, url, body, headers...)
}

func send(tb testing.TB, method, url string, body io.Reader, headers ...string) answer {
	tb.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, got}
}

// isFault returns the fault in an answer that must have one.
func (a answer) isFault(tb testing.TB, status int) *envelope.Fault {
	tb.Helper()
	return a.isFaultOf(tb, status, envelope.V11)
}

// isFaultOf does so for a version of SOAP.
func (a answer) isFaultOf(tb testing.TB, status int, v envelope.Version) *envelope.Fault {
	tb.Helper()
	kind := textXML
	if v == envelope.V12 {
		kind = soapXML
	}
	if a.status != status || a.header.Get("Content-Type") != kind {
		tb.Errorf("got %d with %q, want %d with %q", a.status, a.header.Get("Content-Type"), status, kind)
	}
	var m envelope.Message
	var f *envelope.Fault
	codec := newCodec(tb, envelope.DOM)
	codec.Use(v)
	if err := codec.Decode(a.body, &m); !errors.As(err, &f) {
		tb.Fatalf("got %v, want a fault: %s", err, a.body)
	}
	return f
}

func TestServiceAnswers(t *testing.T) {
	request := beans(t)
	whole := func() io.Reader { return strings.NewReader(request) }
	pieces := func() io.Reader {
		return io.MultiReader(strings.NewReader(request[:99]), strings.NewReader(request[99:]))
	}
	rows := []struct {
		name    string
		body    func() io.Reader
		headers []string
	}{
		{"plain", whole, []string{"Content-Type", textXML, "SOAPAction", action}},
		{"chunked", pieces, []string{"Content-Type", textXML, "SOAPAction", action}},
		{"no charset", whole, []string{"Content-Type", "text/xml", "SOAPAction", action}},
		{"charset in capitals", whole, []string{"Content-Type", `TEXT/XML;charset="UTF-8"`, "SOAPAction", action}},
		{"action meant by the URI", whole, []string{"Content-Type", textXML, "SOAPAction", `""`}},
		{"action without quotes", whole, []string{"Content-Type", textXML, "SOAPAction", strings.Trim(action, `"`)}},
	}
	for _, model := range models {
		url := serve(t, model)[kernels.Addr]
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) {
				got := post(t, url, row.body(), row.headers...)
				var m envelope.Message
				if err := newCodec(t, envelope.Stream).Decode(got.body, &m); err != nil {
					t.Fatalf("status %d, body %s: %v", got.status, got.body, err)
				}
				sent := envelope.Beans(1)
				if !m.Answer || !m.Equal(&sent) {
					t.Errorf("the answer is not what was sent: %s", got.body)
				}
				if got.status != http.StatusOK || got.header.Get("Content-Type") != textXML {
					t.Errorf("got %d with %q", got.status, got.header.Get("Content-Type"))
				}
			})
		}
	}
}

func TestServiceRefuses(t *testing.T) {
	good := beans(t)
	soap12 := strings.Replace(good, "http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope", 1)
	mandatory := strings.Replace(good, "<soap:Body>", `<soap:Header><b:x soap:mustUnderstand="1"/></soap:Header><soap:Body>`, 1)
	answer := strings.NewReplacer("echoBeans>", "echoBeansResponse>", "b:in>", "b:return>").Replace(good)
	rows := []struct {
		name, contentType, action, body string
		status                          int
		code, reason                    string
	}{
		{"bad XML", textXML, action, good[:len(good)-1], 500, "Client", "not closed"},
		{"empty", textXML, action, "", 500, "Client", "no element"},
		{"DTD", textXML, action, `<!DOCTYPE a [<!ENTITY b "c">]>` + good, 500, "Client", "document type declaration"},
		{"encoding declared in the document", textXML, action, strings.Replace(good, "UTF-8", "ISO-8859-2", 1), 500, "Client", "only UTF-8"},
		{"SOAP 1.2", textXML, action, soap12, 500, "VersionMismatch", "soap-envelope"},
		{"mandatory header", textXML, action, mandatory, 500, "MustUnderstand", "understood"},
		{"an answer", textXML, action, answer, 500, "Client", "not a request"},
		{"a fault", textXML, action, fault(t), 500, "Client", "not a request"},
		{"another action", textXML, `"urn:benchd:echo#echoText"`, good, 500, "Client", "does not belong"},
		{"unknown action", textXML, `"urn:x"`, good, 500, "Client", "does not belong"},
		{"action without a value", textXML, "", good, 500, "Client", "does not belong"},
		{"no action", textXML, "-", good, 500, "Client", "one SOAPAction"},
		{"charset", "text/xml; charset=iso-8859-1", action, good, 500, "Client", "only UTF-8"},
		{"another type", "application/xml", action, good, 415, "Client", "must be text/xml"},
		{"no type", "", action, good, 415, "Client", "must be text/xml"},
		{"a long document", textXML, action, strings.Repeat(" ", maxBytes+1), 413, "Client", "longer than"},
	}
	for _, model := range models {
		url := serve(t, model)[kernels.Addr]
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) {
				headers := []string{"Content-Type", row.contentType, "SOAPAction", row.action}
				if row.action == "-" {
					headers = headers[:2]
				}
				f := post(t, url, strings.NewReader(row.body), headers...).isFault(t, row.status)
				if f.Code != row.code || !strings.Contains(f.String, row.reason) {
					t.Errorf("got %v, want code %s and %q", f, row.code, row.reason)
				}
			})
		}
	}
}

// fault is the envelope of a fault.
func fault(tb testing.TB) string {
	tb.Helper()
	return string(newCodec(tb, envelope.Stream).AppendFault(nil, &envelope.Fault{Code: envelope.CodeServer, String: "It is raining."}))
}

func TestServiceMethods(t *testing.T) {
	url := serve(t, "stream")[kernels.Addr]
	rows := []struct {
		name, method, url string
		status            int
	}{
		{"GET", http.MethodGet, url, 405},
		{"PUT", http.MethodPut, url, 405},
		{"DELETE", http.MethodDelete, url, 405},
		{"another path", http.MethodPost, strings.TrimSuffix(url, soap.Path) + "/other", 404},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got := send(t, row.method, row.url, http.NoBody)
			if got.status != row.status {
				t.Errorf("got %d, want %d", got.status, row.status)
			}
			if allow := got.header.Get("Allow"); row.status == 405 && allow != http.MethodPost {
				t.Errorf("Allow is %q, want POST", allow)
			}
		})
	}
}

// TestServiceLies says that the body has two gigabytes, and sends one that never ends.
func TestServiceLies(t *testing.T) {
	head := "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\n"
	rows := []struct{ name, head, more string }{
		{"two gigabytes", head + "Content-Length: 2147483648\r\n\r\n<", ""},
		{"without end", head + "Transfer-Encoding: chunked\r\n\r\n", "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"},
	}
	for _, model := range models {
		addr := hostOf(serve(t, model))
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) { lie(t, addr, row.head, row.more) })
		}
	}
}

// lie sends head and then more for ever, and expects to be refused.
func lie(t *testing.T, addr, head, more string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for more != "" {
			if _, err := io.WriteString(conn, more); err != nil {
				return // the service has had enough
			}
		}
	})
	got := make([]byte, 64)
	n, err := io.ReadAtLeast(conn, got, len("HTTP/1.1 413"))
	if err != nil || !bytes.Contains(got[:n], []byte(" 413 ")) {
		t.Errorf("got %q, %v, want status 413", got[:n], err)
	}
	_ = conn.Close()
	wg.Wait()
}

// TestServiceTruncated sends beginnings of a request. Each is answered with a fault.
func TestServiceTruncated(t *testing.T) {
	t.Parallel()
	request := beans(t)
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			url := serve(t, model)[kernels.Addr]
			for n := 0; n < len(request); n += 37 {
				got := post(t, url, strings.NewReader(request[:n]), "Content-Type", textXML, "SOAPAction", action)
				if f := got.isFault(t, http.StatusInternalServerError); f.Code != envelope.CodeClient {
					t.Fatalf("the first %d bytes: got %v, want code %s", n, f, envelope.CodeClient)
				}
			}
		})
	}
}

// TestServeEnds ends the service while clients hold connections: one idle, one unused.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	addr := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- soap.Echo{}.Serve(ctx, soap.Echo{}.Info().Defaults(), func(a string) { addr <- a })
	}()
	p := soap.Echo{}.Info().Defaults().With(kernels.Addr, <-addr)
	used := open(t, p)
	open(t, p)
	if err := used.Do(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the service had not ended after 30 s")
	}
	var failed *kernels.Failure
	if err := used.Do(context.Background(), 1); !errors.As(err, &failed) || failed.Class != "refused" {
		t.Errorf("a call of a service that has ended: got %v, want a failure of class refused", err)
	}
}

func TestUnknownModel(t *testing.T) {
	t.Parallel()
	p := soap.Echo{}.Info().Defaults().With("model", "sax")
	if err := (soap.Echo{}).Serve(context.Background(), p, func(string) {}); err == nil {
		t.Error("a service with an unknown model ran")
	}
	if _, err := (soap.Echo{}).Open(context.Background(), p); err == nil {
		t.Error("a client with an unknown model was opened")
	}
	for _, addr := range []string{"", "x", "https://127.0.0.1:1/", "http://127.0.0.1/", "http://%zz:1/"} {
		if _, err := (soap.Echo{}).Open(context.Background(), soap.Echo{}.Info().Defaults().With(kernels.Addr, addr)); err == nil {
			t.Errorf("a client of %q was opened", fmt.Sprint(addr))
		}
	}
}
