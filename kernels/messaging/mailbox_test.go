package messaging_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/messaging"
)

func TestMailboxConformance(t *testing.T) {
	kerneltest.Run(t, kernel(t, "messaging.mailbox"), kerneltest.Operations(5000),
		kerneltest.Also(kernels.Params{"size": "0B"}), kerneltest.Also(kernels.Params{"size": "1MB"}))
}

// TestMailboxIsAQueue compares a mailbox with a slice over any sequence of sends and
// receives, so that the ring wraps and grows at every place.
func TestMailboxIsAQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		box := messaging.NewMailbox()
		var want []uint64
		var next uint64
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "letters") {
					next++
					box.Send(next)
					want = append(want, next)
				}
			},
			"receive": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(1, 40).Draw(t, "letters")) {
					got, err := box.Receive(context.Background())
					if err != nil || got != want[0] {
						t.Fatalf("received %d, %v; want %d", got, err, want[0])
					}
					want = want[1:]
				}
			},
			"": func(t *rapid.T) {
				if box.Waiting() != len(want) {
					t.Fatalf("%d letters wait; want %d", box.Waiting(), len(want))
				}
			},
		})
	})
}

// TestMailboxWithManySendersAndReceivers shows that no letter is lost or doubled, and that
// what one sender sent comes in its order.
func TestMailboxWithManySendersAndReceivers(t *testing.T) {
	t.Parallel()
	const senders, receivers, each = 8, 4, 2000
	box := messaging.NewMailbox()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make([][]uint64, receivers)
	var sending, receiving, taken sync.WaitGroup
	taken.Add(senders * each)
	for r := range receivers {
		receiving.Go(func() {
			for {
				n, err := box.Receive(ctx)
				if err != nil {
					return
				}
				got[r] = append(got[r], n)
				taken.Done()
			}
		})
	}
	for s := range uint64(senders) {
		sending.Go(func() {
			for i := range uint64(each) {
				box.Send(s*each + i)
			}
		})
	}
	sending.Wait()
	taken.Wait()
	cancel()
	receiving.Wait()
	for r, list := range got {
		last := map[uint64]uint64{}
		for _, n := range list {
			if before, ok := last[n/each]; ok && n <= before {
				t.Fatalf("receiver %d got letter %d of sender %d after %d", r, n%each, n/each, before%each)
			}
			last[n/each] = n
		}
	}
	all := slices.Concat(got...)
	slices.Sort(all)
	if len(slices.Compact(all)) != senders*each {
		t.Fatalf("%d different letters arrived; want %d", len(slices.Compact(all)), senders*each)
	}
}

// TestMailboxReceiveBlocks shows that a receiver sleeps until a letter comes, and that one
// that gives up does not take another's wake-up along.
func TestMailboxReceiveBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := messaging.NewMailbox()
		impatient, giveUp := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { _, err := box.Receive(impatient); gone <- err }()
		came := make(chan uint64, 2)
		for range 2 {
			go func() {
				n, err := box.Receive(t.Context())
				if err == nil {
					came <- n
				}
			}()
		}
		synctest.Wait() // all three sleep now
		if len(came) != 0 {
			t.Fatal("a receiver returned from an empty mailbox")
		}
		giveUp()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Fatalf("the impatient receiver got %v; want the context's error", err)
		}
		box.Send(7)
		box.Send(8)
		if sum := <-came + <-came; sum != 15 {
			t.Fatalf("the receivers got %d in all; want 7 and 8", sum)
		}
	})
}

func TestMailboxAllocatesNothing(t *testing.T) {
	trial := open(t, "messaging.mailbox", nil)
	if n := testing.AllocsPerRun(10, func() { do(t, trial, 1000) }); n > 0 {
		t.Fatalf("1,000 operations make %.0f allocations; want none", n)
	}
}

func TestMailboxEndsWithItsContext(t *testing.T) {
	t.Parallel()
	trial := open(t, "messaging.mailbox", nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- trial.Do(ctx, 1<<40) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("Do returned %v; want the context's error", err)
	}
}
