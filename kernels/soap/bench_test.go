package soap_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

var models = []string{"stream", "dom"}

// serve runs the service for a test and returns the kernel's parameters with its address.
func serve(tb testing.TB, model string) kernels.Params {
	tb.Helper()
	return serveEcho(tb, soap.Echo{}.Info().Defaults().With("model", model))
}

// serveEcho does so with given parameters.
func serveEcho(tb testing.TB, p kernels.Params) kernels.Params {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- soap.Echo{}.Serve(ctx, p, func(a string) { addr <- a }) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return p.With(kernels.Addr, <-addr)
}

// open opens a trial for a test.
func open(tb testing.TB, p kernels.Params) kernels.Trial {
	tb.Helper()
	trial, err := soap.Echo{}.Open(context.Background(), p)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := trial.Close(); err != nil {
			tb.Error(err)
		}
	})
	return trial
}

// hostOf returns the host and port of the service.
func hostOf(p kernels.Params) string {
	return strings.TrimSuffix(strings.TrimPrefix(p[kernels.Addr], "http://"), soap.Path)
}

// BenchmarkCall is a whole call, with service and client in this one process.
func BenchmarkCall(b *testing.B) {
	for _, model := range models {
		b.Run(model, func(b *testing.B) {
			trial := open(b, serve(b, model))
			b.ReportAllocs()
			for b.Loop() {
				if err := trial.Do(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "call/s")
		})
	}
}

// BenchmarkService is the service alone: the client writes a ready-made request and
// allocates nothing.
func BenchmarkService(b *testing.B) {
	for _, model := range models {
		b.Run(model, func(b *testing.B) {
			p := serve(b, model)
			conn, err := net.Dial("tcp", hostOf(p))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			request := rawRequest(b)
			in := bufio.NewReader(conn)
			length := answerLength(b, conn, in, request)
			answer := make([]byte, length)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(in, answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// rawRequest is a request as it goes over the wire.
func rawRequest(tb testing.TB) []byte {
	tb.Helper()
	c, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
	if err != nil {
		tb.Fatal(err)
	}
	m := envelope.Beans(1)
	body := c.Append(nil, &m)
	return fmt.Appendf(nil, "POST /echo HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\nContent-Type: text/xml; charset=utf-8\r\n"+
		"SOAPAction: \"%s\"\r\nContent-Length: %d\r\n\r\n%s", m.Shape.Action(), len(body), body)
}

// answerLength makes one call and tells how long the whole answer is. All are as long.
func answerLength(tb testing.TB, conn net.Conn, in *bufio.Reader, request []byte) int {
	tb.Helper()
	if _, err := conn.Write(request); err != nil {
		tb.Fatal(err)
	}
	total, length := 0, 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			tb.Fatal(err)
		}
		total += len(line)
		if line == "\r\n" {
			break
		}
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	if _, err := in.Discard(length); err != nil {
		tb.Fatal(err)
	}
	return total + length
}

// BenchmarkClient is the client alone: the service sends a ready-made answer and allocates
// nothing.
func BenchmarkClient(b *testing.B) {
	for _, model := range models {
		b.Run(model, func(b *testing.B) {
			p := soap.Echo{}.Info().Defaults().With("model", model).With(kernels.Addr, canned(b))
			trial := open(b, p)
			b.ReportAllocs()
			for b.Loop() {
				if err := trial.Do(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// canned starts a service that sends the right answer to whatever it is sent.
func canned(b *testing.B) string {
	b.Helper()
	c, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	m := envelope.Beans(1)
	m.Answer = true
	body := c.Append(nil, &m)
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=utf-8\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	return script(b, func(conn net.Conn) {
		in := make([]byte, 64<<10)
		for {
			if _, err := conn.Read(in); err != nil {
				return
			}
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	})
}

// script starts a server that does something with each connection, one after another, and
// returns its address.
func script(tb testing.TB, with func(net.Conn)) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			with(conn)
			_ = conn.Close()
		}
	}()
	tb.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}
