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
	return start(tb, soap.Echo{}, p)
}

// start runs a kernel's service for a test and returns the parameters with its address.
func start(tb testing.TB, k kernels.Server, p kernels.Params) kernels.Params {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- k.Serve(ctx, p, func(a string) { addr <- a }) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return p.With(kernels.Addr, <-addr)
}

// open opens a trial of the echo kernel for a test.
func open(tb testing.TB, p kernels.Params) kernels.Trial {
	tb.Helper()
	return openTrial(tb, soap.Echo{}, p)
}

// openTrial opens a trial of a kernel for a test.
func openTrial(tb testing.TB, k kernels.Kernel, p kernels.Params) kernels.Trial {
	tb.Helper()
	trial, err := k.Open(context.Background(), p)
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
	_, rest, _ := strings.Cut(p[kernels.Addr], "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// eachCall runs a benchmark for both models with the beans and with 1 MB of records, in bytes
// of the envelopes there and back.
func eachCall(b *testing.B, f func(b *testing.B, p kernels.Params, m *envelope.Message)) {
	b.Helper()
	records, err := envelope.Records(1<<20, 1)
	if err != nil {
		b.Fatal(err)
	}
	four := envelope.Beans(1)
	for _, model := range models {
		p := echoDefaults().With("model", model)
		b.Run(model+"/beans", func(b *testing.B) {
			b.SetBytes(2 * envelope.BeansSize)
			f(b, p, &four)
		})
		b.Run(model+"/records-1MB", func(b *testing.B) {
			b.SetBytes(2 << 20)
			f(b, p.With("payload", "records").With("size", "1MB"), &records)
		})
	}
}

// calls makes calls for a benchmark.
func calls(b *testing.B, p kernels.Params) {
	b.Helper()
	trial := open(b, p)
	b.ReportAllocs()
	for b.Loop() {
		if err := trial.Do(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "call/s")
}

// BenchmarkCall is a whole call, with service and client in this one process.
func BenchmarkCall(b *testing.B) {
	eachCall(b, func(b *testing.B, p kernels.Params, _ *envelope.Message) {
		b.Helper()
		calls(b, serveEcho(b, p))
	})
}

// BenchmarkNewConnection is a whole call over a connection of its own.
func BenchmarkNewConnection(b *testing.B) {
	calls(b, serveEcho(b, echoDefaults().With("keepalive", "false")))
}

// BenchmarkTransport is a whole call by each way to carry it, among them a handshake for each
// call, which no session makes shorter.
func BenchmarkTransport(b *testing.B) {
	for _, row := range []struct {
		name string
		with kernels.Params
	}{
		{"plain", nil},
		{"tls", kernels.Params{"tls": "true"}},
		{"gzip", kernels.Params{"gzip": "true"}},
		{"tls-gzip", kernels.Params{"tls": "true", "gzip": "true"}},
		{"tls-new-connection", kernels.Params{"tls": "true", "keepalive": "false"}},
	} {
		b.Run(row.name, func(b *testing.B) {
			p := echoDefaults()
			for name, value := range row.with {
				p = p.With(name, value)
			}
			calls(b, serveEcho(b, p))
		})
	}
}

// BenchmarkService is the service alone: the client writes a ready-made request and
// allocates nothing.
func BenchmarkService(b *testing.B) {
	eachCall(b, func(b *testing.B, p kernels.Params, m *envelope.Message) {
		b.Helper()
		r := newRaw(b, hostOf(serveEcho(b, p)), m)
		b.ReportAllocs()
		for b.Loop() {
			r.call(b)
		}
	})
}

// A raw client sends one ready-made request and takes answers of one length.
type raw struct {
	conn            net.Conn
	request, answer []byte
}

// newRaw makes one that has called once, and so knows the length.
func newRaw(tb testing.TB, addr string, m *envelope.Message) *raw {
	tb.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	body := newCodec(tb, envelope.Stream).Append(nil, m)
	request := fmt.Appendf(nil, "POST /echo HTTP/1.1\r\nHost: x\r\nUser-Agent: test\r\nContent-Type: text/xml; charset=utf-8\r\n"+
		"SOAPAction: \"%s\"\r\nContent-Length: %d\r\n\r\n%s", m.Shape.Action(), len(body), body)
	if _, err := conn.Write(request); err != nil {
		tb.Fatal(err)
	}
	return &raw{conn, request, make([]byte, answerLength(tb, bufio.NewReader(conn)))}
}

// answerLength reads a whole answer and tells how long it is.
func answerLength(tb testing.TB, in *bufio.Reader) int {
	tb.Helper()
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

// call makes a call without allocating memory.
func (r *raw) call(tb testing.TB) {
	tb.Helper()
	if _, err := r.conn.Write(r.request); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.ReadFull(r.conn, r.answer); err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkClient is the client alone: the service sends a ready-made answer and allocates
// nothing.
func BenchmarkClient(b *testing.B) {
	eachCall(b, func(b *testing.B, p kernels.Params, m *envelope.Message) {
		b.Helper()
		calls(b, p.With(kernels.Addr, canned(b, m)))
	})
}

// canned starts a service that sends the right answer to the one request it is sent.
func canned(b *testing.B, m *envelope.Message) string {
	b.Helper()
	c := newCodec(b, envelope.Stream)
	length := len(c.Append(nil, m))
	right := *m
	right.Answer = true
	body := c.Append(nil, &right)
	answer := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/xml; charset=utf-8\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	return script(b, func(conn net.Conn) {
		in := bufio.NewReaderSize(conn, 64<<10)
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) > len("\r\n") {
				continue
			}
			if _, err := in.Discard(length); err != nil {
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
