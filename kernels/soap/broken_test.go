package soap_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

func echoDefaults() kernels.Params { return soap.Echo{}.Info().Defaults() }

// A line is a connection on which calls are made one after another.
type line struct {
	conn net.Conn
	in   *bufio.Reader
}

func newLine(tb testing.TB, addr string) *line {
	tb.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	return &line{conn, bufio.NewReader(conn)}
}

// call sends a body and returns the answer's status and body.
func (l *line) call(tb testing.TB, body []byte) (status int, answer []byte) {
	tb.Helper()
	if err := l.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		tb.Fatal(err)
	}
	head := fmt.Sprintf("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\nContent-Length: %d\r\n\r\n", len(body))
	if _, err := l.conn.Write(append([]byte(head), body...)); err != nil {
		tb.Fatal(err)
	}
	return l.answer(tb)
}

// answer reads an answer.
func (l *line) answer(tb testing.TB) (status int, body []byte) {
	tb.Helper()
	resp, err := http.ReadResponse(l.in, nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(resp.Body); err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, body
}

// broken calls f with a document cut at every byte and with every byte changed in two ways,
// one of which is to what begins markup.
func broken(doc string, f func(what string, broken []byte)) {
	for n := range len(doc) {
		f(fmt.Sprint("the first ", n, " bytes"), []byte(doc[:n]))
		for _, b := range []byte{doc[n] ^ 1, '<'} {
			changed := []byte(doc)
			changed[n] = b
			f(fmt.Sprintf("byte %d as %q", n, b), changed)
		}
	}
}

// TestServiceBroken sends a request broken at every byte: the service answers with a fault,
// or with the very content that was sent where the change made another good request.
func TestServiceBroken(t *testing.T) {
	t.Parallel()
	doc := beans(t)
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			l := newLine(t, hostOf(serve(t, model)))
			codec := newCodec(t, envelope.Stream)
			var sent, got envelope.Message
			good := 0
			broken(doc, func(what string, request []byte) {
				status, answer := l.call(t, request)
				ok := codec.Decode(request, &sent) == nil && !sent.Answer
				err := codec.Decode(answer, &got)
				var fault *envelope.Fault
				switch {
				case ok && (status != http.StatusOK || err != nil || !got.Answer || !got.Equal(&sent)):
					t.Fatalf("%s: got %d, %v, want what was sent", what, status, err)
				case !ok && (status != http.StatusInternalServerError || !errors.As(err, &fault)):
					t.Fatalf("%s: got %d, %v, want a fault", what, status, err)
				case ok:
					good++
				}
			})
			if good == 0 || good > len(doc) {
				t.Errorf("%d broken requests of %d bytes were good", good, len(doc))
			}
		})
	}
}

// TestClientBroken answers with an answer broken at every byte: the call fails, or the
// change meant nothing, as one in a namespace that is not used.
func TestClientBroken(t *testing.T) {
	t.Parallel()
	doc := echoed(t)
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			next := make(chan []byte, 1)
			addr := script(t, func(conn net.Conn) { answerAll(conn, next) })
			trial := open(t, echoDefaults().With("model", model).With(kernels.Addr, addr))
			codec := newCodec(t, envelope.DOM)
			sent := envelope.Beans(1)
			broken(doc, func(what string, answer []byte) {
				next <- answer
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				var got envelope.Message
				right := codec.Decode(answer, &got) == nil && got.Answer && got.Equal(&sent)
				err := trial.Do(ctx, 1)
				var failed *kernels.Failure
				if (err == nil) != right || err != nil && (!errors.As(err, &failed) || failed.Class != "malformed" && failed.Class != "mismatch") {
					t.Fatalf("%s: got %v, and the answer is right: %v", what, err, right)
				}
			})
		})
	}
}

// answerAll answers each request with the next body.
func answerAll(conn net.Conn, next <-chan []byte) {
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if _, err := io.WriteString(conn, reply(200, string(<-next))); err != nil {
			return
		}
	}
}

// TestServiceCostly sends what costs a careless service memory or time.
func TestServiceCostly(t *testing.T) {
	t.Parallel()
	var attributes bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&attributes, " a%d='x'", i)
	}
	good := beans(t)
	rows := []struct{ name, body, reason string }{
		{"10,000 attributes", strings.Replace(good, "<b:a>", "<b:a"+attributes.String()+">", 1), "attributes"},
		{"100,000 nested elements", strings.Replace(good, "<soap:Body>", "<soap:Header>"+strings.Repeat("<b:a>", 100_000), 1), "deep"},
		{"a billion laughs", `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>` + good, "document type"},
		{"an external entity", `<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + good, "document type"},
	}
	for _, model := range models {
		l := newLine(t, hostOf(serve(t, model)))
		for _, row := range rows {
			status, answer := l.call(t, []byte(row.body))
			var m envelope.Message
			var fault *envelope.Fault
			if err := newCodec(t, envelope.Stream).Decode(answer, &m); !errors.As(err, &fault) || status != 500 || !strings.Contains(fault.String, row.reason) {
				t.Errorf("%s, %s: got %d, %v, want a fault with %q", model, row.name, status, err, row.reason)
			}
		}
	}
}
