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
	maxBytes = 8 << 20
)

// newCodec makes a codec for a test.
func newCodec(t testing.TB, model envelope.Model) *envelope.Codec {
	t.Helper()
	c, err := envelope.NewCodec(model, envelope.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// beans is the envelope of a request.
func beans(t testing.TB) string {
	t.Helper()
	m := envelope.Beans(1)
	return string(newCodec(t, envelope.Stream).Append(nil, &m))
}

// post sends a request with the given headers and returns the answer with its body read.
func post(t testing.TB, url string, body io.Reader, headers ...string) (*http.Response, []byte) {
	t.Helper()
	return send(t, http.MethodPost, url, body, headers...)
}

func send(t testing.TB, method, url string, body io.Reader, headers ...string) (*http.Response, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, got
}

func TestServiceAnswers(t *testing.T) {
	t.Parallel()
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
				resp, body := post(t, url, row.body(), row.headers...)
				var m envelope.Message
				if err := newCodec(t, envelope.Stream).Decode(body, &m); err != nil {
					t.Fatalf("status %s, body %s: %v", resp.Status, body, err)
				}
				sent := envelope.Beans(1)
				if !m.Answer || !m.Equal(&sent) {
					t.Errorf("the answer is not what was sent: %s", body)
				}
				if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != textXML {
					t.Errorf("got %s with %q", resp.Status, resp.Header.Get("Content-Type"))
				}
			})
		}
	}
}

func TestServiceRefuses(t *testing.T) {
	t.Parallel()
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
		{"SOAP 1.2's type", "application/soap+xml", action, good, 415, "Client", "must be text/xml"},
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
				resp, body := post(t, url, strings.NewReader(row.body), headers...)
				if resp.StatusCode != row.status || resp.Header.Get("Content-Type") != textXML {
					t.Errorf("got %s with %q, want %d with %q", resp.Status, resp.Header.Get("Content-Type"), row.status, textXML)
				}
				var m envelope.Message
				var f *envelope.Fault
				if err := newCodec(t, envelope.DOM).Decode(body, &m); !errors.As(err, &f) {
					t.Fatalf("got %v, want a fault: %s", err, body)
				}
				if f.Code != row.code || !strings.Contains(f.String, row.reason) {
					t.Errorf("got %v, want code %s and %q", f, row.code, row.reason)
				}
			})
		}
	}
}

// fault is the envelope of a fault.
func fault(t testing.TB) string {
	t.Helper()
	return string(newCodec(t, envelope.Stream).AppendFault(nil, &envelope.Fault{Code: envelope.CodeServer, String: "It is raining."}))
}

func TestServiceMethods(t *testing.T) {
	t.Parallel()
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
			resp, _ := send(t, row.method, row.url, http.NoBody)
			if resp.StatusCode != row.status {
				t.Errorf("got %s, want %d", resp.Status, row.status)
			}
			if row.status == 405 && resp.Header.Get("Allow") != http.MethodPost {
				t.Errorf("Allow is %q, want POST", resp.Header.Get("Allow"))
			}
		})
	}
}

// TestServiceLies says that the body has two gigabytes, and sends one that never ends.
func TestServiceLies(t *testing.T) {
	t.Parallel()
	head := "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\n"
	rows := []struct{ name, head, more string }{
		{"two gigabytes", head + "Content-Length: 2147483648\r\n\r\n<", ""},
		{"without end", head + "Transfer-Encoding: chunked\r\n\r\n", "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"},
	}
	for _, model := range models {
		addr := hostOf(serve(t, model))
		for _, row := range rows {
			t.Run(model+"/"+row.name, func(t *testing.T) {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				if _, err := io.WriteString(conn, row.head); err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				wg.Go(func() {
					for row.more != "" {
						if _, err := io.WriteString(conn, row.more); err != nil {
							return // the service has had enough
						}
					}
				})
				answer := make([]byte, 64)
				n, err := io.ReadAtLeast(conn, answer, len("HTTP/1.1 413"))
				if err != nil || !bytes.Contains(answer[:n], []byte(" 413 ")) {
					t.Errorf("got %q, %v, want status 413", answer[:n], err)
				}
				_ = conn.Close()
				wg.Wait()
			})
		}
	}
}

// TestServiceTruncated sends every beginning of a request over one connection. Each is
// answered with a fault, and the last, which is whole, with an answer.
func TestServiceTruncated(t *testing.T) {
	t.Parallel()
	request := beans(t)
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			url := serve(t, model)[kernels.Addr]
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for n := 0; n <= len(request); n += 11 {
				r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(request[:n]))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", textXML)
				r.Header.Set("SOAPAction", action)
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.Copy(io.Discard, resp.Body)
				if err = errors.Join(err, resp.Body.Close()); err != nil {
					t.Fatal(err)
				}
				if n < len(request) && resp.StatusCode != 500 {
					t.Fatalf("the first %d bytes: got %s, want a fault", n, resp.Status)
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
