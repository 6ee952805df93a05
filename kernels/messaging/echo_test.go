package messaging_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/messaging/erldist"
)

func TestEchoConformance(t *testing.T) {
	kerneltest.Run(t, kernel(t, "messaging.echo"), kerneltest.Also(kernels.Params{"clients": "8"}))
}

// openEcho opens lanes of messaging.echo at one node.
func openEcho(t *testing.T, addr string, n int) []kernels.Trial {
	t.Helper()
	k := kernel(t, "messaging.echo")
	var trials []kernels.Trial
	for range n {
		trial, err := k.Open(t.Context(), with(k, kernels.Params{kernels.Addr: addr}))
		if err != nil {
			t.Fatal(err)
		}
		trials = append(trials, trial)
		t.Cleanup(func() {
			if err := trial.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return trials
}

// serveEcho runs the counterpart of messaging.echo until the test ends.
func serveEcho(t *testing.T) (addr string) {
	t.Helper()
	k := kernel(t, "messaging.echo")
	ctx, cancel := context.WithCancel(context.Background())
	addrs, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- k.(kernels.Server).Serve(ctx, k.Info().Defaults(), func(a string) { addrs <- a })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	})
	select {
	case addr = <-addrs:
	case <-time.After(patience):
		t.Fatal("Serve does not get ready")
	}
	return addr
}

// A connection that is cut fails one operation of each lane at most, and comes back as one
// for all of them.
func TestEchoComesBack(t *testing.T) {
	t.Parallel()
	addr := serveEcho(t)
	wire := newProxy(t, addr)
	trials := openEcho(t, wire.via(addr), 3)
	for round := range 3 {
		for _, trial := range trials {
			do(t, trial, 10)
		}
		wire.cut()
		for _, trial := range trials {
			if err := trial.Do(t.Context(), 1<<30); class(err) != "reset" {
				t.Fatalf("Do returned %v; want a Failure of class reset", err)
			}
			do(t, trial, 1)
		}
		if n := wire.accepted(); n != round+2 {
			t.Fatalf("after %d cuts there were %d connections", round+1, n)
		}
	}
}

// An answer that comes too late is not taken for the next.
func TestEchoLate(t *testing.T) {
	t.Parallel()
	addr := serveEcho(t)
	wire := newProxy(t, addr)
	trial := openEcho(t, wire.via(addr), 1)[0]
	do(t, trial, 1)
	wire.hold()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := trial.Do(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Do on a stalled wire returned %v; want the context's error", err)
	}
	wire.release()
	do(t, trial, 10)
}

func TestEchoMismatch(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, kernels.Params{"broker": "erlang"}) // its echo does not know a pid alone
	trial := openEcho(t, addr, 1)[0]
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := trial.Do(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Do returned %v; want the context's error", err)
	}
	odd := oddNode(t)
	trial = openEcho(t, odd, 1)[0]
	if err := trial.Do(t.Context(), 1); class(err) != "mismatch" {
		t.Errorf("Do returned %v; want a Failure of class mismatch", err)
	}
}

func TestEchoRefuses(t *testing.T) {
	t.Parallel()
	k := kernel(t, "messaging.echo")
	for _, row := range []struct{ name, addr, want string }{
		{"no address", "", "no address of a node"},
		{"no URL", "127.0.0.1:1", "is a URL"},
		{"no cookie", "erlang://127.0.0.1:1/a@b", "has no cookie"},
		{"no node", "erlang://:c@127.0.0.1:1", "no name of a node"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := k.Open(t.Context(), with(k, kernels.Params{kernels.Addr: row.addr}))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Open returned %v; want %q", err, row.want)
			}
		})
	}
}

// oddNode runs a node whose process odd answers everything with 1, and returns its address.
func oddNode(t *testing.T) string {
	t.Helper()
	n, err := erldist.Start(t.Context(), erldist.Config{Name: "odd@127.0.0.1", Cookie: "c", Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() }) // the test's end tells what is left
	_, err = n.Handle("odd", func() erldist.Handler { return answerOne })
	if err != nil {
		t.Fatal(err)
	}
	return "erlang://:c@127.0.0.1:" + strconv.Itoa(n.Port()) + "/odd@127.0.0.1/odd?epmd=false"
}

// answerOne answers a pid, and a tuple that begins with one, with 1.
func answerOne(p *erldist.Peer, message []byte) {
	r, err := erldist.NewReader(message)
	if err != nil {
		return
	}
	if _, _, err := r.Pid(); err == nil {
		r, _ = erldist.NewReader(message)
	} else if _, err := r.Tuple(); err != nil {
		return
	}
	if _, pid, err := r.Pid(); err == nil {
		_ = p.Send(pid, []byte{131, 97, 1}, nil) // who is gone needs no answer
	}
}
