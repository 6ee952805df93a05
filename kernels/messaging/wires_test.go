package messaging_test

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/messaging"
)

// TestWires is what the queues of every broker promise below the round trips.
func TestWires(t *testing.T) {
	t.Parallel()
	for _, broker := range targets(t) {
		if !messaging.HasQueues(broker.broker) {
			continue
		}
		for _, row := range []struct {
			name string
			test func(t *testing.T, q messaging.Queue)
			at   func(target) bool
		}{
			{"messages come once and in their order", inOrder, everywhere},
			{"a slow reader loses nothing", slowReader, everywhere},
			{"replies find their requests when they are mixed up", mixedUp, everywhere},
			{"what a reader that died had not acknowledged comes again", redelivered, target.redelivers},
		} {
			if !row.at(broker) {
				continue
			}
			t.Run(broker.name()+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				row.test(t, queueAt(t, broker))
			})
		}
	}
}

// queueAt makes a queue at a target until the test ends.
func queueAt(t *testing.T, g target) messaging.Queue {
	t.Helper()
	p := with(kernel(t, "messaging.roundtrip"), g.params(kernels.Params{"clients": "4"}))
	addr := g.addr
	if addr == "" && strings.HasPrefix(g.broker, "redis") {
		addr, _ = bareRedis(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	q, err := messaging.NewQueue(ctx, addr, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Remove)
	return q
}

// connect makes a wire until the test ends.
func connect(t *testing.T, q messaging.Queue, name string) messaging.Wire {
	t.Helper()
	w, err := q.Connect(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() }) // a test may have closed or cut it
	return w
}

// numbered is a message with a number in it.
func numbered(n uint64, size int) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, size), n)[:size]
}

// bounded is a context for what must not take long.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// receive takes one message.
func receive(t *testing.T, w messaging.Wire) messaging.Parcel {
	t.Helper()
	p, err := w.Receive(bounded(t))
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return p
}

func inOrder(t *testing.T, q messaging.Queue) {
	t.Helper()
	service, client := connect(t, q, "service"), connect(t, q, "")
	const n = 200
	for i := range uint64(n) {
		if err := client.Send(bounded(t), messaging.Parcel{Number: i + 1, Body: numbered(i+1, 64), OneWay: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Confirm(bounded(t)); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(n) {
		if got := binary.BigEndian.Uint64(receive(t, service).Body); got != i+1 {
			t.Fatalf("message %d came, due was %d", got, i+1)
		}
	}
}

func slowReader(t *testing.T, q messaging.Queue) {
	t.Helper()
	service, client := connect(t, q, "service"), connect(t, q, "")
	const n, size = 1000, 10 << 10
	sent := make(chan error, 1)
	go func() {
		for i := range uint64(n) {
			if err := client.Send(bounded(t), messaging.Parcel{Number: i + 1, Body: numbered(i+1, size), OneWay: true}); err != nil {
				sent <- err
				return
			}
		}
		sent <- client.Confirm(bounded(t))
	}()
	time.Sleep(300 * time.Millisecond) // the reader is busy with something else
	for i := range uint64(n) {
		p := receive(t, service)
		if got := binary.BigEndian.Uint64(p.Body); got != i+1 || len(p.Body) != size {
			t.Fatalf("message %d of %d bytes came, due was %d of %d", got, len(p.Body), i+1, size)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

func mixedUp(t *testing.T, q messaging.Queue) {
	t.Helper()
	service, client, other := connect(t, q, "service"), connect(t, q, ""), connect(t, q, "")
	const n = 20
	var requests []messaging.Parcel
	for i := range uint64(n) {
		from, number := client, i+1
		if i%2 == 1 {
			from, number = other, i+101
		}
		if err := from.Send(bounded(t), messaging.Parcel{Number: number, Body: numbered(number, 32)}); err != nil {
			t.Fatal(err)
		}
		if err := from.Confirm(bounded(t)); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, receive(t, service))
	}
	slices.Reverse(requests)
	for _, r := range requests {
		if err := service.Send(bounded(t), messaging.Parcel{To: r.Reply, Number: r.Number, Body: r.Body}); err != nil {
			t.Fatal(err)
		}
	}
	if err := service.Confirm(bounded(t)); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(n / 2) {
		for _, got := range []struct {
			wire messaging.Wire
			due  uint64
		}{{client, n - 1 - 2*i}, {other, n - 1 - 2*i + 101}} {
			p := receive(t, got.wire)
			if p.Number != got.due || binary.BigEndian.Uint64(p.Body) != got.due {
				t.Fatalf("reply %d with message %d came, due was %d", p.Number, binary.BigEndian.Uint64(p.Body), got.due)
			}
		}
	}
}

// redelivered cuts the connection of a reader that has not acknowledged: another one, or the
// same when it is back, gets every message.
func redelivered(t *testing.T, q messaging.Queue) {
	t.Helper()
	wire := newProxy(t, q.Addr())
	far := q.Via(wire.via(q.Addr()))
	dying, living, client := connect(t, far, "dying"), connect(t, q, "living"), connect(t, q, "")
	const n = 8
	missing := map[uint64]bool{}
	for i := range uint64(n) {
		missing[i+1] = true
		if err := client.Send(bounded(t), messaging.Parcel{Number: i + 1, Body: numbered(i+1, 32), OneWay: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Confirm(bounded(t)); err != nil {
		t.Fatal(err)
	}
	receive(t, dying)
	wire.cut()
	_ = dying.Close() // it has nobody to say good-bye to
	back := connect(t, q, "dying")
	came := make(chan uint64)
	ctx, cancel := context.WithCancel(bounded(t))
	var all sync.WaitGroup
	defer all.Wait() // a wire is closed when nobody waits at it
	defer cancel()
	for _, w := range []messaging.Wire{living, back} {
		all.Go(func() {
			for {
				p, err := w.Receive(ctx)
				if err != nil {
					return
				}
				select {
				case came <- binary.BigEndian.Uint64(p.Body):
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for len(missing) > 0 {
		select {
		case number := <-came:
			delete(missing, number)
		case <-ctx.Done():
			t.Fatalf("%d of %d messages did not come again: %v", len(missing), n, missing)
		}
	}
}
