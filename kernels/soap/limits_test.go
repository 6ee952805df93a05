package soap_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// limited runs services with limits for a test and returns their host:port, and what ends
// them.
func limited(tb testing.TB, limits soap.Limits) (addr string, stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan soap.Addresses, 1)
	ended := make(chan error, 1)
	go func() {
		s := soap.Services{Model: envelope.Stream, Limits: limits}
		ended <- s.Serve(ctx, func(at soap.Addresses) { ready <- at })
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	tb.Cleanup(stop)
	at := <-ready
	return strings.TrimSuffix(strings.TrimPrefix(at.Echo, "http://"), soap.Path), stop
}

// records is an envelope of about so many bytes.
func records(tb testing.TB, size int) []byte {
	tb.Helper()
	m, err := envelope.Records(size, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return newCodec(tb, envelope.Stream).Append(nil, &m)
}

// stall sends a request but for its last bytes, and no more.
func stall(tb testing.TB, addr string, body []byte) net.Conn {
	tb.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	head := fmt.Sprintf("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\nContent-Length: %d\r\n\r\n", len(body))
	go func() { // which may wait for a service that does not read
		_, _ = conn.Write(append([]byte(head), body[:len(body)-100]...))
	}()
	return conn
}

// heap returns the bytes of the heap in use.
func heap() int64 {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return int64(now.HeapInuse)
}

// TestStalledCalls has many clients send most of a large call and no more: the service holds
// few of them at a time, ends each, and serves good calls, small and large, meanwhile and
// after.
func TestStalledCalls(t *testing.T) {
	t.Parallel()
	body, small := records(t, 4<<20), []byte(beans(t))
	addr, _ := limited(t, soap.Limits{Memory: 32 << 20, Stall: 500 * time.Millisecond, Wait: time.Minute})
	var stalled []net.Conn
	for range 12 {
		stalled = append(stalled, stall(t, addr, body))
	}
	if status, _ := newLine(t, addr).call(t, small); status != http.StatusOK {
		t.Errorf("a small call among stalled ones is answered with %d", status)
	}
	if status, _ := newLine(t, addr).call(t, body); status != http.StatusOK {
		t.Errorf("a large call behind stalled ones is answered with %d", status)
	}
	for _, conn := range stalled {
		if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("a stalled call: %v", err)
		}
		if resp.StatusCode != http.StatusRequestTimeout || !resp.Close {
			t.Errorf("a stalled call is answered with %d, kept: %v", resp.StatusCode, !resp.Close)
		}
		_ = resp.Body.Close() // nothing of it is needed
	}
}

// TestMemoryIsBounded looks at the heap of the service while large calls stall. Not beside
// other tests, which have a heap too.
func TestMemoryIsBounded(t *testing.T) {
	body := records(t, 4<<20)
	addr, _ := limited(t, soap.Limits{Memory: 48 << 20, Stall: time.Minute, Wait: time.Minute})
	head := fmt.Sprintf("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\nContent-Length: %d\r\n\r\n", len(body))
	runtime.GC()
	before := heap()
	for range 40 {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, head) // nothing is copied on this side
		_, _ = conn.Write(body[:len(body)-100])
	}
	runtime.GC()
	grown := heap() - before
	t.Logf("40 stalled calls of 4 MB hold %d bytes", grown)
	if grown > 48<<20 {
		t.Errorf("40 stalled calls of 4 MB hold %d bytes, more than the 48 MB that they may", grown)
	}
	if status, _ := newLine(t, addr).call(t, []byte(beans(t))); status != http.StatusOK {
		t.Errorf("a small call among stalled ones is answered with %d", status)
	}
}

// TestBusy asks for more memory than there will be.
func TestBusy(t *testing.T) {
	t.Parallel()
	body := records(t, 1<<20)
	addr, stop := limited(t, soap.Limits{Memory: 4 << 20, Stall: time.Minute, Wait: 100 * time.Millisecond})
	for range 2 { // each takes half of it
		stall(t, addr, body)
	}
	l := newLine(t, addr)
	if status, _ := l.call(t, []byte(beans(t))); status != http.StatusOK {
		t.Errorf("a small call is answered with %d", status)
	}
	time.Sleep(200 * time.Millisecond) // the stalled calls have come
	conn := stall(t, addr, body)
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("got status %d and Retry-After %q, want 503 and a time", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	answer, err := io.ReadAll(resp.Body)
	var m envelope.Message
	var fault *envelope.Fault
	if err != nil || !errors.As(newCodec(t, envelope.Stream).Decode(answer, &m), &fault) || fault.Code != envelope.CodeServer {
		t.Errorf("got %q, %v, want a fault of the server", answer, err)
	}
	begun := time.Now()
	stop()
	if d := time.Since(begun); d > 10*time.Second {
		t.Errorf("the service took %v to end", d)
	}
}

// TestMemoryIsShared makes more large calls at once than there is memory for: each waits for
// its turn and is answered.
func TestMemoryIsShared(t *testing.T) {
	t.Parallel()
	body := records(t, 300<<10)
	addr, _ := limited(t, soap.Limits{Memory: 2 << 20})
	var good atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		l := newLine(t, addr)
		all.Go(func() {
			for range 5 {
				if status, _ := l.call(t, body); status == http.StatusOK {
					good.Add(1)
				}
			}
		})
	}
	all.Wait()
	if good.Load() != 80 {
		t.Errorf("%d of 80 calls were answered", good.Load())
	}
}

// TestSlowIsNotStalled sends a large body slowly, in longer than a stall may last, with and
// without a length.
func TestSlowIsNotStalled(t *testing.T) {
	t.Parallel()
	body := string(records(t, 512<<10))
	addr, _ := limited(t, soap.Limits{Stall: time.Second})
	fields := "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nSOAPAction: \"\"\r\n"
	for _, row := range []struct{ name, head, before, after string }{
		{"with a length", fmt.Sprintf("%sContent-Length: %d\r\n\r\n", fields, len(body)), "", ""},
		{"in chunks", fields + "Transfer-Encoding: chunked\r\n\r\n", fmt.Sprintf("%x\r\n", len(body)), "\r\n0\r\n\r\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLine(t, addr)
			rest := row.head + row.before + body + row.after
			for len(rest) > 0 {
				n := min(len(rest), 64<<10)
				if _, err := io.WriteString(l.conn, rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
				time.Sleep(200 * time.Millisecond)
			}
			if status, _ := l.answer(t); status != http.StatusOK {
				t.Errorf("got %d", status)
			}
		})
	}
}

// TestConnectionsAreBounded opens more connections than there may be: the last one is served
// when another has ended.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	addr, _ := limited(t, soap.Limits{Connections: 2})
	body := []byte(beans(t))
	first, second, third := newLine(t, addr), newLine(t, addr), newLine(t, addr)
	for _, l := range []*line{first, second} {
		if status, _ := l.call(t, body); status != http.StatusOK {
			t.Fatalf("got %d", status)
		}
	}
	answered := make(chan int, 1)
	go func() {
		status, _ := third.call(t, body)
		answered <- status
	}()
	select {
	case <-answered:
		t.Error("the third connection was served beside two")
	case <-time.After(200 * time.Millisecond):
	}
	_ = first.conn.Close()
	if status := <-answered; status != http.StatusOK {
		t.Errorf("got %d", status)
	}
}

// A failing listener fails some times before it accepts.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) > 0 {
		err := &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", f.errs[0])}
		f.errs = f.errs[1:]
		return nil, err
	}
	return f.Listener.Accept()
}

// TestAcceptGoesOn has connections that cannot be accepted: what passes is waited out, and
// what does not ends the service.
func TestAcceptGoesOn(t *testing.T) {
	t.Parallel()
	listen := func(errs ...error) *failing {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return &failing{l, errs}
	}
	l := listen(syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS, syscall.ENOMEM)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- soap.ServeOn(ctx, l) }()
	if status, _ := newLine(t, l.Addr().String()).call(t, []byte(beans(t))); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
	if err := soap.ServeOn(t.Context(), listen(syscall.EINVAL)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want %v", err, syscall.EINVAL)
	}
}
