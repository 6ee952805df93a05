package queue_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/queuetest"
)

// work runs Work in the background; stop ends it and waits.
func work(t *testing.T, q *queue.Queue, handle func(context.Context, bench.Order)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Work(ctx, "blue", handle) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("Work does not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

func enqueue(t *testing.T, q *queue.Queue, orders ...bench.Order) {
	t.Helper()
	for _, o := range orders {
		succeed(t, q.Enqueue(t.Context(), o))
	}
}

// A log of trials that several goroutines write.
type log struct {
	mu   sync.Mutex
	list []string
}

func (l *log) add(s string) { l.mu.Lock(); defer l.mu.Unlock(); l.list = append(l.list, s) }
func (l *log) get() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func TestWorkTakesOrdersOneByOneInOrder(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			enqueue(t, q, order("a", 1), order("b", 1), order("c", 1), order("d", 1))
			var seen log
			var busy, overlaps atomic.Int32
			work(t, q, func(_ context.Context, o bench.Order) {
				if busy.Add(1) > 1 {
					overlaps.Add(1)
				}
				time.Sleep(20 * time.Millisecond)
				seen.add(o.Trial)
				busy.Add(-1)
			})
			within(t, 10*time.Second, "not all were handled", func() bool { return len(seen.get()) == 4 })
			if got := seen.get(); !slices.Equal(got, []string{"a", "b", "c", "d"}) || overlaps.Load() > 0 {
				t.Errorf("handled %v with %d overlaps", got, overlaps.Load())
			}
			within(t, 5*time.Second, "tasks stay in Redis", func() bool {
				return must(q.Depth(t.Context()))(t)["run.blue"] == queue.Depth{}
			})
		})
	}
}

func TestAHandlerThatIgnoresItsContextHoldsTheSlot(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			enqueue(t, q, order("stubborn", 1), order("next", 1))
			release := make(chan struct{})
			var seen log
			work(t, q, func(ctx context.Context, o bench.Order) {
				seen.add(o.Trial)
				if o.Trial == "stubborn" {
					<-release
				}
				if ctx.Err() != nil {
					seen.add("the context of " + o.Trial + " ended")
				}
			})
			within(t, 5*time.Second, "not started", func() bool { return len(seen.get()) == 1 })
			// asynq's own cancellation frees its slot at once. It must not reach the handler, and
			// the next order must wait.
			r.Do(t, "PUBLISH", "asynq:cancel", "stubborn.1")
			time.Sleep(time.Second)
			if got := seen.get(); len(got) != 1 {
				t.Fatalf("a second order was handled beside the first: %v", got)
			}
			close(release)
			within(t, 5*time.Second, "the next one never came", func() bool { return len(seen.get()) == 2 })
			if got := seen.get(); got[1] != "next" {
				t.Errorf("handled %v", got)
			}
		})
	}
}

func TestWorkEndsWithoutQueueingAgain(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			enqueue(t, q, order("a", 1), order("b", 1))
			started, ended := make(chan struct{}), make(chan struct{})
			stop := work(t, q, func(ctx context.Context, o bench.Order) {
				if o.Trial != "a" {
					t.Errorf("handled %s while ending", o.Trial)
					return
				}
				close(started)
				<-ctx.Done()
				time.Sleep(300 * time.Millisecond) // the child is being reaped
				close(ended)
			})
			<-started
			stop()
			select {
			case <-ended:
			default:
				t.Fatal("Work returned before the handler did")
			}
			if must(q.Queued(t.Context(), order("a", 1)))(t) {
				t.Error("the order that was handled is in Redis again")
			}
			if !must(q.Queued(t.Context(), order("b", 1)))(t) {
				t.Error("the order that was not handled has left its queue")
			}
			var seen log
			work(t, q, func(_ context.Context, o bench.Order) { seen.add(o.Trial) })
			within(t, 5*time.Second, "the rest is not handled after a restart", func() bool { return len(seen.get()) == 1 })
			if got := seen.get(); got[0] != "b" {
				t.Errorf("handled %v after the restart", got)
			}
		})
	}
}

func TestWorkSurvivesAPanic(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			enqueue(t, q, order("bad", 1), order("good", 1))
			var seen log
			work(t, q, func(_ context.Context, o bench.Order) {
				seen.add(o.Trial)
				if o.Trial == "bad" {
					panic("boom")
				}
			})
			within(t, 5*time.Second, "the worker died of it", func() bool { return slices.Equal(seen.get(), []string{"bad", "good"}) })
			if must(q.Queued(t.Context(), order("bad", 1)))(t) {
				t.Error("the order that panicked would run again")
			}
		})
	}
}

func TestWorkDropsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			enqueue(t, q, order("broken", 1), order("good", 1))
			// The message of asynq is a protocol buffer; field 2 is the payload.
			r.Do(t, "HSET", "asynq:{run.blue}:t:broken.1", "msg",
				"\x0a\x05order\x12\x01{\x1a\x08broken.1\x22\x08run.blue\x40\x3c")
			var seen log
			work(t, q, func(_ context.Context, o bench.Order) { seen.add(o.Trial) })
			within(t, 5*time.Second, "not handled", func() bool { return len(seen.get()) == 1 })
			if got := seen.get(); got[0] != "good" {
				t.Errorf("handled %v", got)
			}
			within(t, 5*time.Second, "the broken one stays", func() bool { return !must(q.Queued(t.Context(), order("broken", 1)))(t) })
		})
	}
}

func TestALostLeaseLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			enqueue(t, q, order("a", 1), order("b", 1))
			release := make(chan struct{})
			var seen log
			work(t, q, func(_ context.Context, o bench.Order) {
				seen.add(o.Trial)
				<-release
			})
			within(t, 5*time.Second, "not started", func() bool { return len(seen.get()) == 1 })
			r.Do(t, "DEL", "asynq:{run.blue}:lease")
			close(release)
			within(t, 5*time.Second, "the next one never came", func() bool { return slices.Equal(seen.get(), []string{"a", "b"}) })
			within(t, 5*time.Second, "a task stays", func() bool {
				return must(q.Depth(t.Context()))(t)["run.blue"] == queue.Depth{} && !must(q.Queued(t.Context(), order("a", 1)))(t)
			})
		})
	}
}

// TestWorkWhenRedisGoesAway kills the server under a worker that waits and one that works.
func TestWorkWhenRedisGoesAway(t *testing.T) {
	t.Parallel()
	r := queuetest.Own(t, os.Getenv)
	q := open(t, r)
	ctx := t.Context()
	enqueue(t, q, order("before", 1))
	started, release := make(chan struct{}), make(chan struct{})
	var seen log
	work(t, q, func(_ context.Context, o bench.Order) {
		if o.Trial == "before" {
			close(started)
			<-release
		}
		seen.add(o.Trial)
	})
	wake := q.CancelWakeups(ctx, "blue")
	<-started
	r.Stop()
	if err := q.Ping(ctx); err == nil {
		t.Fatal("Redis answers although it was killed")
	}
	time.Sleep(time.Second)
	r.Start(t)
	within(t, 20*time.Second, "Redis is not found again", func() bool { return q.Ping(ctx) == nil })
	close(release)
	for i := range 3 {
		enqueue(t, q, order(fmt.Sprint("after", i), 1))
	}
	within(t, 20*time.Second, "no order is taken after Redis came back", func() bool { return len(seen.get()) == 4 })
	within(t, 20*time.Second, "no wake-up comes after Redis came back", func() bool {
		succeed(t, q.Cancel(ctx, "blue", "t", bench.CancelAsked))
		select {
		case <-wake:
			return true
		default:
			return false
		}
	})
}
