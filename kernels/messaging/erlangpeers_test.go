package messaging_test

import (
	"testing"

	"benchd/kernels"
	"benchd/kernels/messaging/erldist/erltest"
)

// TestErlangServices has lanes ask the echo of a node of another implementation, as a named
// service: with every content and size, over one connection and over many.
func TestErlangServices(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		make func(tb testing.TB) erltest.Stack
	}{
		{"OTP", func(tb testing.TB) erltest.Stack {
			tb.Helper()
			return erltest.OTP(tb, service(tb, "BENCHD_TEST_OTP"))
		}},
		{"jinterface", func(tb testing.TB) erltest.Stack {
			tb.Helper()
			return erltest.JInterface(tb, service(tb, "BENCHD_TEST_JINTERFACE"))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			mapper := erltest.Mapper(t)
			row.make(t).Serve(t, mapper, "them@127.0.0.1")
			addr := "erlang://:" + erltest.Cookie + "@" + mapper + "/them@127.0.0.1"
			p := kernels.Params{"broker": "erlang", kernels.Addr: addr}
			if got := attend(t, p); got != addr {
				t.Errorf("the service is at %s, and Serve tells %s", addr, got)
			}
			lanes(t, 4, 100, p)
			lanes(t, 4, 100, p.With("connections", "shared").With("content", "raw"))
			lanes(t, 2, 5, p.With("size", "1MB").With("content", "raw"))
			for _, trial := range openEcho(t, addr, 4) {
				do(t, trial, 100)
			}
		})
	}
}

// attend runs the counterpart beside a named service until the test ends.
func attend(t *testing.T, p kernels.Params) string {
	t.Helper()
	addr, _ := serve(t, p)
	return addr
}
