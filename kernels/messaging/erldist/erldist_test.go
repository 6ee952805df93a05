package erldist_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"

	"benchd/kernels/messaging/erldist"
)

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		if err := beServer(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// listen listens on a random port of the loopback.
func listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// epmd runs a port mapper until the test ends and returns its address.
func epmd(tb testing.TB) string {
	tb.Helper()
	l := listen(tb)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- erldist.ServeEPMD(ctx, l) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("the port mapper ended with %v", err)
		}
	})
	return l.Addr().String()
}
