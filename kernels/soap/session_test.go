package soap_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// talk sends raw bytes to the service, in pieces if there are several, says that there are
// no more, and returns the answers as "status" or "status close", up to the end.
func talk(tb testing.TB, addr string, pieces ...string) (said []string) {
	tb.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		tb.Fatal(err)
	}
	for _, p := range pieces {
		if _, err := io.WriteString(conn, p); err != nil {
			break // the service may have had enough
		}
	}
	if half, ok := conn.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	in := bufio.NewReader(conn)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
				said = append(said, err.Error())
			}
			return said
		}
		said = append(said, saying(tb, resp))
	}
}

// saying puts an answer into words, after reading its body.
func saying(tb testing.TB, resp *http.Response) string {
	tb.Helper()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		tb.Errorf("the body of an answer: %v", err)
	}
	_ = resp.Body.Close() // it is at its end
	switch {
	case resp.Close:
		return fmt.Sprint(resp.StatusCode, " close")
	case resp.Header.Get("Connection") != "":
		return fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Connection"))
	}
	return fmt.Sprint(resp.StatusCode)
}

// TestSession speaks HTTP as clients of many kinds do, some of them badly.
func TestSession(t *testing.T) {
	t.Parallel()
	addrs := map[string]string{"1": hostOf(serve(t, "stream")), "2": hostOf(serveEcho(t, echoDefaults().With("clients", "2")))}
	body := beans(t)
	fields := "Content-Type: text/xml\r\nSOAPAction: \"\"\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	head := "POST /echo HTTP/1.1\r\nHost: x\r\n" + fields
	plain := head + length + "\r\n" + body
	old := "POST /echo HTTP/1.0\r\n" + fields + length
	half := len(body) / 2
	inChunks := fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x;a=b\r\n%s\r\n0\r\nX: y\r\n\r\n",
		head, half, body[:half], len(body)-half, body[half:])
	rows := []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"nothing", []string{""}, nil},
		{"one call", []string{plain}, []string{"200"}},
		{"calls without waiting", []string{plain + plain + inChunks + plain}, []string{"200", "200", "200", "200"}},
		{"byte by byte", strings.Split(plain, ""), []string{"200"}},
		{"Connection: close", []string{strings.Replace(plain, "Host", "Connection: close\r\nHost", 1) + plain}, []string{"200 close"}},
		{"HTTP/1.0", []string{old + "\r\n" + body + plain}, []string{"200 close"}},
		{"HTTP/1.0, kept", []string{old + "Connection: Keep-Alive\r\n\r\n" + body + plain}, []string{"200 keep-alive", "200"}},
		{"a promised body", []string{head + length + "Expect: 100-continue\r\n\r\n" + body + plain}, []string{"100", "200", "200"}},
		{"a promised body too large", []string{head + "Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n"}, []string{"413 close"}},
		{"a whole URL", []string{strings.Replace(plain, "/echo", "http://x:1/echo", 1)}, []string{"200"}},
		{"GET", []string{"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n" + plain}, []string{"405", "200"}},
		{"HEAD", []string{"HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n" + plain}, []string{"405", "200"}},
		{"a body where none belongs", []string{"GET /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab" + plain}, []string{"405 close"}},
		{"the wrong type", []string{strings.Replace(plain, "text/xml", "text/html", 1) + plain}, []string{"415 close"}},
		{"a fault keeps the connection", []string{head + "Content-Length: 1\r\n\r\n<" + plain}, []string{"500", "200"}},
		{"no Host", []string{strings.Replace(plain, "Host: x\r\n", "", 1)}, []string{"400 close"}},
		{"not HTTP", []string{"hello\r\n\r\n"}, []string{"400 close"}},
		{"a field without a colon", []string{"POST /echo HTTP/1.1\r\nHost\r\n\r\n"}, []string{"400 close"}},
		{"two lengths", []string{head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n<>"}, []string{"400 close"}},
		{"no length that is one", []string{head + "Content-Length: -1\r\n\r\n"}, []string{"400 close"}},
		{"a transfer coding unknown", []string{head + "Transfer-Encoding: gzip\r\n\r\n"}, []string{"400 close"}},
		{"a bad chunk", []string{head + "Transfer-Encoding: chunked\r\n\r\nx\r\n"}, []string{"400 close"}},
		{"a long field", []string{"POST /echo HTTP/1.1\r\nX: " + strings.Repeat("y", 64<<10) + "\r\n\r\n"}, []string{"431 close"}},
		{"many fields", []string{"POST /echo HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 64<<10)}, []string{"431 close"}},
		{"half a head", []string{plain[:50]}, nil},
		{"half a body", []string{plain[:len(plain)-5]}, []string{"400 close"}},
		{"half a chunk", []string{inChunks[:len(inChunks)-50]}, []string{"400 close"}},
	}
	for _, row := range rows {
		eachWay(t, row.name, func(t *testing.T, p kernels.Params) {
			if got := talk(t, addrs[p["clients"]], row.pieces...); !slices.Equal(got, row.want) {
				t.Errorf("the service said %q, want %q", got, row.want)
			}
		})
	}
}

// TestSingleCalls looks at what a client sends that makes a connection for each call.
func TestSingleCalls(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	addr := script(t, func(conn net.Conn) {
		connections.Add(1)
		in := bufio.NewReader(conn)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil || !r.Close {
				return // a client that does not say so is not served
			}
			if _, err := io.WriteString(conn, reply(200, echoed(t))); err != nil {
				return
			}
		}
	})
	p := echoDefaults().With("keepalive", "false").With(kernels.Addr, addr)
	trial := open(t, p)
	if err := trial.Do(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if n := connections.Load(); n != 5 {
		t.Errorf("5 calls took %d connections", n)
	}
}

// FuzzService sends bytes to the service: what it says is HTTP, and it ends.
func FuzzService(f *testing.F) {
	head := "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\n"
	m := envelope.Message{Shape: envelope.ShapeText, Text: envelope.String{Value: "x"}}
	body := string(newCodec(f, envelope.Stream).Append(nil, &m))
	for _, seed := range []string{
		"", "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", head + "\r\n",
		fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body),
		fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", head, len(body), body),
		head + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\n<",
	} {
		f.Add([]byte(seed))
	}
	addr := hostOf(serve(f, "stream"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		for _, said := range talk(t, addr, string(sent)) {
			if status := strings.Fields(said)[0]; len(status) != 3 {
				t.Errorf("the service said %q", said)
			}
		}
	})
}
