package messaging_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/messaging"
)

// oneWay are the one-way kernels.
func oneWay() []string { return []string{"messaging.publish", "messaging.consume"} }

func TestOneWayConformance(t *testing.T) {
	for _, name := range oneWay() {
		t.Run(name, func(t *testing.T) {
			kerneltest.Run(t, kernel(t, name), kerneltest.Operations(100),
				kerneltest.Skip(func(p kernels.Params) bool {
					return messaging.Refused(p) || !embeds(p.Word("broker")) || p.Word("broker") == "stomp" || p.Word("qos") != "0"
				}),
				kerneltest.Also(kernels.Params{"persistent": "true", "sync": "true"}),
				kerneltest.Also(kernels.Params{"window": "64", "clients": "3"}))
		})
	}
}

// TestOneWay sends through every broker in one direction, with several lanes, and has all of
// it counted at the other end.
func TestOneWay(t *testing.T) {
	t.Parallel()
	for _, broker := range targets(t) {
		if !messaging.HasQueues(broker.broker) {
			continue
		}
		for _, name := range oneWay() {
			windows := []string{"2", "100"}
			if broker.way["sync"] == "true" {
				windows = windows[1:] // a sender waits for each message whatever the window
			}
			for _, window := range windows {
				t.Run(broker.name()+"/"+name+" window "+window, func(t *testing.T) {
					t.Parallel()
					throughput(t, name, broker, kernels.Params{"window": window, "clients": "2"})
				})
			}
		}
	}
}

// throughput runs lanes of a one-way kernel for long enough that the consumer is asked.
func throughput(t *testing.T, name string, broker target, changed kernels.Params) {
	t.Helper()
	p := broker.params(changed)
	addr, _ := serveKernel(t, name, p)
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i := range errs {
		trial := open(t, name, p.With(kernels.Addr, addr))
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			errs[i] = trial.Do(ctx, 1100)
			if c, ok := trial.(kernels.Checker); ok && errs[i] == nil {
				errs[i] = c.Check()
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// TestOneWayOverALoss shows that a lane goes on after its connection was cut.
func TestOneWayOverALoss(t *testing.T) {
	t.Parallel()
	for _, name := range oneWay() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, _ := serveKernel(t, name, nil)
			wire := newProxy(t, addr)
			trial := open(t, name, kernels.Params{kernels.Addr: wire.via(addr)})
			for range 3 {
				do(t, trial, 200)
				wire.cut()
				if err := trial.Do(t.Context(), 1<<30); class(err) != "reset" {
					t.Fatalf("Do returned %v; want a Failure of class reset", err)
				}
			}
			do(t, trial, 2000)
			if c, ok := trial.(kernels.Checker); ok {
				if err := c.Check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOneWayRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range oneWay() {
		k := kernel(t, name)
		for _, row := range []struct {
			name    string
			changed kernels.Params
			want    string
		}{
			{"no address", nil, "no address of a broker"},
			{"no queues", kernels.Params{"broker": "tcp", kernels.Addr: "tcp://127.0.0.1:1"}, "has no queues"},
			{"no queue in the address", kernels.Params{kernels.Addr: "nats://127.0.0.1:1"}, "names no queue"},
		} {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				if _, err := k.Open(t.Context(), with(k, row.changed)); err == nil || !strings.Contains(err.Error(), row.want) {
					t.Errorf("Open returned %v; want %q", err, row.want)
				}
			})
		}
	}
}

// TestLedger shows that a ledger finds out of any sequence what is missing, what came twice
// and what came late.
func TestLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOf(rapid.Uint64Range(1, 40)).Draw(t, "numbers")
		ledger := messaging.NewLedger()
		seen, highest := map[uint64]bool{}, uint64(0)
		var late, twice uint64
		for _, n := range numbers {
			want := ""
			switch {
			case seen[n]:
				want = "duplicate"
				twice++
			case n < highest:
				want = "reordered"
				late++
			case n > highest+1:
				want = "lost"
			}
			if got := ledger.Note(n); got != want {
				t.Fatalf("%d of %v is %q; want %q", n, numbers, got, want)
			}
			seen[n] = true
			highest = max(highest, n)
		}
		received, duplicate, reordered, lost := ledger.Tally()
		if received != uint64(len(seen)) || duplicate != twice || reordered != late || lost != highest-uint64(len(seen)) {
			t.Fatalf("%v: %d received, %d twice, %d late, %d lost", numbers, received, duplicate, reordered, lost)
		}
	})
}
