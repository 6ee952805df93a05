package soap_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// FuzzClient answers a call with bytes: the call succeeds or fails as calls do, and ends.
func FuzzClient(f *testing.F) {
	good := reply(200, echoed(f))
	for _, seed := range []string{
		"", good, good[:200], chunked(echoed(f)), reply(500, fault(f)), "HTTP/1.1 100 Continue\r\n\r\n" + good,
		"HTTP/1.0 200 OK\r\n\r\n" + echoed(f), "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n<",
	} {
		f.Add([]byte(seed))
	}
	next := make(chan []byte, 1)
	addr := script(f, func(conn net.Conn) { answerOnce(conn, next) })
	f.Fuzz(func(t *testing.T, answer []byte) {
		trial, err := soap.Echo{}.Open(t.Context(), echoDefaults().With(kernels.Addr, addr))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = trial.Close() }()
		next <- answer
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var failed *kernels.Failure
		if err := trial.Do(ctx, 1); err != nil && !errors.As(err, &failed) {
			t.Fatalf("got %v, want a failure of the call", err)
		}
	})
}

// answerOnce answers one request with the next bytes, whatever they are.
func answerOnce(conn net.Conn, next <-chan []byte) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	_, _ = conn.Write(<-next) // the client may have had enough
}
