package erldist_test

import (
	"io"
	"net"
	"testing"
	"time"

	"benchd/kernels/messaging/erldist"
	"benchd/kernels/messaging/erldist/erltest"
)

// FuzzFrames: whatever a node sends after the handshake, our node lives, and answers the
// next one.
func FuzzFrames(f *testing.F) {
	c := listener("us@127.0.0.1")
	c.Cookie = cookie
	n, err := erldist.Start(f.Context(), c)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = n.Close() }) // the fuzzing has ended
	if err := handleEcho(n); err != nil {
		f.Fatal(err)
	}
	f.Add(frame())
	f.Add(frame(112, 131, 104, 3, 97, 2, 119, 0, 88, 119, 1, 'a', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 131, 106))
	f.Add(frame(112, 131, 104, 4, 97, 6, 97, 0, 119, 0, 119, 4, 'e', 'c', 'h', 'o', 131, 106))
	f.Add(frame(112, 131, 104, 4, 97, 19, 88, 119, 1, 'a', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 119, 4, 'e', 'c', 'h', 'o', 97, 1))
	f.Fuzz(func(t *testing.T, sent []byte) {
		c := greet(t, n, "them@127.0.0.1")
		_, _ = c.Write(sent) // the node may have hung up
		_ = c.Close()
	})
}

// FuzzMapper: whatever a port mapper is asked, it answers or hangs up, and goes on.
func FuzzMapper(f *testing.F) {
	addr := erltest.Mapper(f)
	f.Add([]byte("\x00\x01n"))
	f.Add([]byte("\x00\x02za"))
	f.Add([]byte("\x00\x0e\x78\x00\x01\x4d\x00\x00\x06\x00\x05\x00\x01a\x00\x00"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }() // it is the end
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(sent)              // it may have hung up
		_ = c.(*net.TCPConn).CloseWrite() // as above
		_, _ = io.Copy(io.Discard, c)     // as above
		if err := names(t.Context(), addr); err != nil {
			t.Fatal(err)
		}
	})
}
