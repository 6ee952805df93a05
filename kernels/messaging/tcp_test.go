package messaging_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"benchd/kernels"
)

// bareTCP is a service that a test makes: it greets and then answers each request with what
// answer returns, or closes the connection on nothing.
func bareTCP(t *testing.T, greeting []byte, answer func(request []byte) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write(greeting)
			talk(c, answer)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return "tcp://" + l.Addr().String()
}

// talk answers requests of 1 KB on a connection until it ends.
func talk(c net.Conn, answer func(request []byte) []byte) {
	request := make([]byte, 4+1024)
	for {
		for n := 0; n < len(request); {
			m, err := c.Read(request[n:])
			if err != nil {
				return
			}
			n += m
		}
		reply := answer(request)
		if _, err := c.Write(reply); err != nil || reply == nil {
			return
		}
	}
}

// framed puts a length before bytes.
func framed(length int, b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(length)), b...)
}

// TestTCPWrongReplies shows that a lane notices whatever a service may do wrong, and that
// it is well again afterwards.
func TestTCPWrongReplies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		reply func(frame []byte) []byte
		want  string
	}{
		{"as sent", func(f []byte) []byte { return f }, ""},
		{"one byte changed", func(f []byte) []byte { f[1000] ^= 1; return f }, "mismatch"},
		{"a byte less", func(f []byte) []byte { return framed(1023, f[5:]) }, "mismatch"},
		{"nothing", func([]byte) []byte { return framed(0, nil) }, "mismatch"},
		{"more than the frame", func(f []byte) []byte { return append(f[:len(f):len(f)], 1) }, "mismatch"},
		{"a length beyond all messages", func([]byte) []byte { return framed(1<<31, nil) }, "mismatch"},
		{"closed", func([]byte) []byte { return nil }, "reset"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var right atomic.Bool // a connection that waits in the system call orders nothing
			addr := bareTCP(t, framed(0, nil), func(f []byte) []byte {
				if right.Load() {
					return f
				}
				return row.reply(f)
			})
			trial := open(t, "messaging.roundtrip", kernels.Params{"broker": "tcp", "content": "raw", kernels.Addr: addr})
			if err := trial.Do(t.Context(), 1); class(err) != row.want {
				t.Errorf("Do returned %v; want a Failure of class %q", err, row.want)
			}
			right.Store(true)
			do(t, trial, 2)
		})
	}
}

func TestTCPWrongGreeting(t *testing.T) {
	t.Parallel()
	addr := bareTCP(t, []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), nil)
	k := kernel(t, "messaging.roundtrip")
	_, err := k.Open(t.Context(), with(k, kernels.Params{"broker": "tcp", kernels.Addr: addr}))
	if err == nil || !strings.Contains(err.Error(), "no frame") {
		t.Errorf("Open returned %v; want that what came is no frame", err)
	}
}

// A lane whose context ended between two calls goes on under the next one, on the same
// connection.
func TestTCPContextEndsBetweenCalls(t *testing.T) {
	t.Parallel()
	p := kernels.Params{"broker": "tcp", "content": "raw"}
	addr, _ := serve(t, p)
	wire := newProxy(t, addr)
	trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, wire.via(addr)))
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := trial.Do(ctx, 1); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := trial.Do(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Fatalf("Do returned %v under an ended context", err)
		}
	}
	do(t, trial, 1)
	if n := wire.accepted(); n != 1 {
		t.Errorf("the lane connected %d times, want once", n)
	}
}

// A round trip allocates nothing, on either side: both are in this process.
func TestTCPAllocatesNothing(t *testing.T) {
	for _, size := range []string{"1KB", "1MB"} {
		p := kernels.Params{"broker": "tcp", "content": "raw", "size": size}
		addr, _ := serve(t, p)
		trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, addr))
		do(t, trial, 10)
		if n := testing.AllocsPerRun(100, func() { do(t, trial, 1) }); n > 0 {
			t.Errorf("a round trip of %s makes %v allocations, want none", size, n)
		}
	}
}
