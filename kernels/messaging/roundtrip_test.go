package messaging_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/messaging"
)

// patience is how long a test waits for what must come; nothing is that slow.
const patience = 30 * time.Second

func TestRoundtripConformance(t *testing.T) {
	kerneltest.Run(t, kernel(t, "messaging.roundtrip"),
		kerneltest.Skip(func(p kernels.Params) bool {
			return messaging.Refused(p) || !embeds(p.Word("broker")) || p.Word("broker") == "stomp"
		}),
		kerneltest.Also(kernels.Params{"content": "raw", "size": "1MB"}),
		kerneltest.Also(kernels.Params{"persistent": "true", "sync": "true"}),
		kerneltest.Also(kernels.Params{"connections": "shared", "clients": "4"}),
		kerneltest.Also(kernels.Params{"content": "raw", "size": "10KB"}),
		kerneltest.Also(kernels.Params{"content": "raw", "clients": "8"}))
}

// TestBrokers is what every broker promises, whatever its protocol.
func TestBrokers(t *testing.T) {
	t.Parallel()
	for _, broker := range targets(t) {
		for _, row := range []struct {
			name string
			test func(t *testing.T, broker target)
			at   func(target) bool
		}{
			{"each lane gets its own replies in order", ordered, everywhere},
			{"many large messages at once", large, everywhere},
			// Of brokers outside TestBrokerKilled has some of its own to end.
			{"the server is gone in the middle", gone, target.inside},
			{"the connection is cut and comes back", cut, target.byAddress},
			{"a reply that comes too late is not taken for the next", late, target.byAddress},
			{"a server that accepts and says nothing", silent, everywhere},
			{"an ended context opens nothing", ended, everywhere},
			{"lanes share a connection", sharing, target.queues},
			{"nothing is left at the broker", traceless, target.outlives},
		} {
			if !row.at(broker) {
				continue
			}
			t.Run(broker.name()+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				row.test(t, broker)
			})
		}
	}
}

// scheme is how the addresses of a broker begin.
func scheme(broker string) string {
	switch broker {
	case "amqp091":
		return "amqp://"
	case "redis-streams":
		return "redis://"
	default:
		return broker + "://"
	}
}

// addressOf is the address of a trial's queue at a broker.
func addressOf(broker, hostPort string) string {
	if broker == "erlang" {
		return "erlang://:cookie@" + hostPort + "/node@127.0.0.1"
	}
	return scheme(broker) + hostPort + "#queue=q"
}

// lanes opens n lanes at addr and runs operations on all of them at once.
func lanes(t *testing.T, n, operations int, changed kernels.Params) {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		trial := open(t, "messaging.roundtrip", changed)
		all.Go(func() { errs[i] = trial.Do(t.Context(), operations) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// Every raw request has a number in it and is compared with its reply, so a swapped,
// repeated or lost reply is an error of Do.
func ordered(t *testing.T, broker target) {
	t.Helper()
	p := broker.params(kernels.Params{"content": "raw", "clients": "8"})
	addr, _ := serve(t, p)
	lanes(t, 8, 300, p.With(kernels.Addr, addr))
}

func large(t *testing.T, broker target) {
	t.Helper()
	p := broker.params(kernels.Params{"content": "raw", "size": "1MB", "clients": "8"})
	addr, _ := serve(t, p)
	lanes(t, 8, 5, p.With(kernels.Addr, addr))
}

// class returns the class of the Failure in err, or nothing.
func class(err error) string {
	var f *kernels.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return ""
}

func gone(t *testing.T, broker target) {
	t.Helper()
	addr, stop := serve(t, broker.params(nil))
	trial := open(t, "messaging.roundtrip", broker.params(kernels.Params{kernels.Addr: addr}))
	do(t, trial, 1)
	failed := make(chan error, 1)
	go func() { failed <- trial.Do(t.Context(), 1<<30) }()
	stop()
	select {
	case err := <-failed:
		// The service leaves just before its broker does, so a request may be told that
		// nobody is there any more.
		if c := class(err); c != "reset" && c != "refused" {
			t.Errorf("Do returned %v; want a Failure of class reset or refused", err)
		}
	case <-time.After(patience):
		t.Fatal("Do hangs though the server is gone")
	}
	// With nothing to connect to, attempts fail, and they are spaced: the first comes at
	// once, the next after 25 ms, and each pause is twice the one before.
	begun := time.Now()
	for range 6 {
		if err := trial.Do(t.Context(), 1); err == nil {
			t.Error("Do succeeded though the server is gone")
		}
	}
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("six attempts to connect took %s: they are not spaced", took)
	}
}

func cut(t *testing.T, broker target) {
	t.Helper()
	addr, _ := serve(t, broker.params(nil))
	wire := newProxy(t, addr)
	trial := open(t, "messaging.roundtrip", broker.params(kernels.Params{kernels.Addr: wire.via(addr)}))
	for range 3 {
		do(t, trial, 2)
		wire.cut()
		if err := trial.Do(t.Context(), 1<<30); class(err) != "reset" {
			t.Fatalf("Do returned %v; want a Failure of class reset", err)
		}
	}
	do(t, trial, 2)
	want := 4
	if broker.broker == "amqp10" {
		want = 8 // RabbitMQ's reply queue is made over a connection of its own
	}
	if n := wire.accepted(); n != want {
		t.Errorf("the lane connected %d times over three cuts; want %d", n, want)
	}
}

func late(t *testing.T, broker target) {
	t.Helper()
	p := broker.params(kernels.Params{"content": "raw"})
	addr, _ := serve(t, p)
	wire := newProxy(t, addr)
	trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, wire.via(addr)))
	do(t, trial, 1)
	wire.hold()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := trial.Do(ctx, 1)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Do on a stalled wire returned %v; want the context's error", err)
		}
	}
	wire.release()
	do(t, trial, 10)
}

func silent(t *testing.T, broker target) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	k := kernel(t, "messaging.roundtrip")
	begun := time.Now()
	if _, err := k.Open(ctx, with(k, broker.params(kernels.Params{kernels.Addr: addressOf(broker.broker, l.Addr().String())}))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open returned %v; want the context's error", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("Open took %s under a context of 50 ms", took)
	}
}

func ended(t *testing.T, broker target) {
	t.Helper()
	addr, _ := serve(t, broker.params(nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := kernel(t, "messaging.roundtrip")
	if _, err := k.Open(ctx, with(k, broker.params(kernels.Params{kernels.Addr: addr}))); !errors.Is(err, context.Canceled) {
		t.Errorf("Open returned %v; want the context's error", err)
	}
}

// sharing runs lanes over one connection, and cuts that under all of them.
func sharing(t *testing.T, broker target) {
	t.Helper()
	p := broker.params(kernels.Params{"content": "raw", "clients": "4", "connections": "shared"})
	addr, _ := serve(t, p)
	wire := newProxy(t, addr)
	k := kernel(t, "messaging.roundtrip")
	var trials []kernels.Trial
	for range 4 {
		trial, err := k.Open(t.Context(), with(k, p.With(kernels.Addr, wire.via(addr))))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := trial.Close(); err != nil {
				t.Error(err)
			}
		})
		trials = append(trials, trial)
	}
	together := func() {
		t.Helper()
		errs := make([]error, len(trials))
		var all sync.WaitGroup
		for i, trial := range trials {
			all.Go(func() { errs[i] = trial.Do(t.Context(), 50) })
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	together()
	if !broker.byAddress() {
		return
	}
	wire.cut()
	for _, trial := range trials {
		if err := trial.Do(t.Context(), 1<<20); class(err) != "reset" {
			t.Fatalf("Do returned %v; want a Failure of class reset", err)
		}
	}
	together()
}

// traceless looks after a trial for what it made at the broker.
func traceless(t *testing.T, broker target) {
	t.Helper()
	p := broker.params(nil)
	if p[kernels.Addr] == "" {
		p[kernels.Addr], _ = bareRedis(t)
	}
	addr, stop := serve(t, p)
	trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, addr))
	do(t, trial, 3)
	stop()
	if err := trial.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := messaging.Left(t.Context(), addr, p)
	for deadline := time.Now().Add(patience); err == nil && left != "" && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		left, err = messaging.Left(t.Context(), addr, p) // a queue goes a moment after its last reader
	}
	if err != nil || left != "" {
		t.Errorf("at the broker is left: %s; error %v", left, err)
	}
}

// TestRoundtripHasNoPlateau would fail on the 40 ms of a delayed acknowledgement, which is
// what a message meets that is written in pieces while Nagle's algorithm is on.
func TestRoundtripHasNoPlateau(t *testing.T) {
	t.Parallel()
	for _, broker := range targets(t) {
		for _, size := range []string{"1KB", "10KB"} {
			t.Run(broker.name()+" "+size, func(t *testing.T) {
				t.Parallel()
				p := broker.params(kernels.Params{"content": "raw", "size": size})
				addr, _ := serve(t, p)
				trial := open(t, "messaging.roundtrip", p.With(kernels.Addr, addr))
				quickest := time.Hour
				for range 50 {
					begun := time.Now()
					do(t, trial, 1)
					quickest = min(quickest, time.Since(begun))
				}
				if quickest > 20*time.Millisecond {
					t.Errorf("the quickest of 50 round trips took %s", quickest)
				}
			})
		}
	}
}

func TestRoundtripRefuses(t *testing.T) {
	t.Parallel()
	k := kernel(t, "messaging.roundtrip")
	for _, row := range []struct {
		name    string
		changed kernels.Params
		want    string
	}{
		{"no address", nil, "no address of a broker was given"},
		{"unknown broker", kernels.Params{"broker": "pigeon", kernels.Addr: "nats://127.0.0.1:1"}, `no broker "pigeon"`},
		{"unknown content", kernels.Params{"content": "tea", kernels.Addr: "nats://127.0.0.1:1#queue=q"}, `no content "tea"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := with(k, row.changed)
			if _, err := k.Open(t.Context(), p); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Open returned %v; want %q", err, row.want)
			}
			if row.changed == nil {
				return // a server has no need of an address
			}
			err := k.(kernels.Server).Serve(t.Context(), p, func(string) { t.Error("Serve called ready") })
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Serve returned %v; want %q", err, row.want)
			}
		})
	}
}
