package kerneltest

import (
	"context"
	"net"
	"testing"
)

// Talk listens on the loopback and hands one connection after another to a function, until the
// test ends: it is whatever may stand at an address instead of what is expected there. What the
// function has not closed by then is closed.
func Talk(tb testing.TB, talk func(net.Conn)) (hostPort string) {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			talk(c)
			stop()
			_ = c.Close()
		}
	}()
	tb.Cleanup(func() {
		cancel()
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}
