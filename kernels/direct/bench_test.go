package direct_test

import (
	"io"
	"net"
	"testing"

	"benchd/kernels/direct"
)

// BenchmarkRoundTrip sends two kilobytes there and back. On one CPU, or with both ends in one
// process, only the two ways can be compared, as
//
//	go test -bench . -cpu 3 ./kernels/direct
//
// does: each end that waits in the system call keeps a processor, and the runtime wants one
// more.
func BenchmarkRoundTrip(b *testing.B) {
	for _, way := range []struct {
		name string
		of   func(*net.TCPConn) (net.Conn, error)
	}{
		{"poller", func(c *net.TCPConn) (net.Conn, error) { return c, nil }},
		{"direct", direct.Take},
	} {
		b.Run(way.name, func(b *testing.B) {
			plain, other := dial(b)
			near, err := way.of(plain)
			if err != nil {
				b.Fatal(err)
			}
			far, err := way.of(other)
			if err != nil {
				b.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				buf := make([]byte, 2<<10)
				for {
					if _, err := io.ReadFull(far, buf); err != nil {
						return
					}
					if _, err := far.Write(buf); err != nil {
						return
					}
				}
			}()
			buf := make([]byte, 2<<10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := near.Write(buf); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(near, buf); err != nil {
					b.Fatal(err)
				}
			}
			_ = near.Close()
			<-ended
			_ = far.Close()
		})
	}
}
