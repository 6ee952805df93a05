package messaging_test

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"benchd/kernels"
	"benchd/kernels/messaging/erldist"
)

// nodeOf asks the port mapper in the address of an Erlang node for the node's own.
func nodeOf(tb testing.TB, u *url.URL) string {
	tb.Helper()
	name, _, _ := strings.Cut(strings.Trim(u.Path, "/"), "@")
	e, err := erldist.Lookup(tb.Context(), u.Host, name)
	if err != nil {
		tb.Fatal(err)
	}
	return net.JoinHostPort(u.Hostname(), strconv.Itoa(e.Port))
}

func TestErlangRefuses(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, kernels.Params{"broker": "erlang"})
	u, err := url.Parse(addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, addr, want string }{
		{"no cookie", "erlang://127.0.0.1:1/a@b", "has no cookie"},
		{"no node", "erlang://:secret@127.0.0.1:1", "names no node"},
		{"half a name", "erlang://:secret@127.0.0.1:1/a", "no name of a node"},
		{"a node that is not there", "erlang://:secret@" + u.Host + "/a@127.0.0.1", "knows no such node"},
		{"another cookie", "erlang://:secret@" + u.Host + u.Path, "different cookies"},
		{"another node of the same port", "erlang://:secret@" + nodeOf(t, u) + "/a@127.0.0.1?epmd=false", "calls itself"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			k := kernel(t, "messaging.roundtrip")
			_, err := k.Open(t.Context(), with(k, kernels.Params{"broker": "erlang", kernels.Addr: row.addr}))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("Open returned %v; want %q", err, row.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the cookie: %v", err)
			}
		})
	}
}

// TestErlangLanesShareANode: lanes that share a connection are mailboxes of one node, which
// is gone with the last of them.
func TestErlangLanesShareANode(t *testing.T) {
	t.Parallel()
	p := kernels.Params{"broker": "erlang", "content": "raw", "connections": "shared", "clients": "8"}
	addr, _ := serve(t, p)
	wire := newProxy(t, addr)
	k := kernel(t, "messaging.roundtrip")
	for round := range 2 {
		var trials []kernels.Trial
		for range 8 {
			trial, err := k.Open(t.Context(), with(k, p.With(kernels.Addr, wire.via(addr))))
			if err != nil {
				t.Fatal(err)
			}
			trials = append(trials, trial)
		}
		var all sync.WaitGroup
		for _, trial := range trials {
			all.Go(func() {
				if err := trial.Do(t.Context(), 200); err != nil {
					t.Error(err)
				}
				_ = trial.Close() // the test's end tells what is left
			})
		}
		all.Wait()
		if n := wire.accepted(); n != round+1 {
			t.Errorf("in %d rounds 8 lanes made %d connections", round+1, n)
		}
	}
}

// A process that answers something else is told of.
func TestErlangOtherProcess(t *testing.T) {
	t.Parallel()
	trial := open(t, "messaging.roundtrip", kernels.Params{"broker": "erlang", kernels.Addr: oddNode(t)})
	if err := trial.Do(t.Context(), 1); class(err) != "malformed" {
		t.Errorf("Do returned %v; want a Failure of class malformed", err)
	}
}
