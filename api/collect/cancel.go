package collect

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"benchd/api/store"
	"benchd/worker/bench"
)

// orderKeeper is the queue's side of orders that are out.
type orderKeeper interface {
	// TakeBack makes sure that an order is never started; false when it was.
	TakeBack(ctx context.Context, o bench.Order) (bool, error)
	// Remove takes an order out of its queue; false when a worker has it or it is gone.
	Remove(ctx context.Context, o bench.Order) (bool, error)
}

// The canceler carries out what the store says about cancellations: it tells the hosts, and
// takes back the orders that no host has started. A trial that was started ends by its
// worker's report, when its process is gone, or by the watchdog.
type canceler struct {
	trials  activeTrials
	signals signals
	orders  orderKeeper
	link    *link
	logger  *slog.Logger
	times   Times
	wake    chan struct{}

	told map[string]told // trials whose hosts were told
}

// told is when a host was told, and in which life of Redis.
type told struct {
	at    time.Time
	epoch string
}

func (c *canceler) start(ctx context.Context, wg *sync.WaitGroup) {
	loop{name: "canceling", pass: c.pass, tick: c.times.Tick, gap: c.times.Gap, wake: c.wake, logger: c.logger}.start(ctx, wg)
}

func (c *canceler) poke() { poke(c.wake) }

func (c *canceler) pass(ctx context.Context) error {
	epoch, err := c.link.contact(ctx)
	if err != nil {
		return err
	}
	active, err := c.trials.Active(ctx)
	if err != nil {
		return err
	}
	still := make(map[string]told)
	// The last one first: when the trial that runs is stopped, none must be left to take.
	for _, t := range slices.Backward(active) {
		if t.State != bench.Canceling {
			continue
		}
		before := c.told[t.Trial]
		if before.epoch != epoch || time.Since(before.at) > c.times.Reconcile {
			if err := c.signals.Cancel(ctx, t.Host, t.Trial, t.CancelReason); err != nil {
				return err
			}
			before = told{time.Now(), epoch}
		}
		still[t.Trial] = before
		if err := c.takeBack(ctx, t); err != nil {
			return err
		}
	}
	c.told = still
	return nil
}

// takeBack ends a trial that no worker has started.
func (c *canceler) takeBack(ctx context.Context, t store.ActiveTrial) error {
	if !t.StartedAt.IsZero() {
		return nil
	}
	ok, err := c.orders.TakeBack(ctx, t.Order())
	if err != nil || !ok {
		return err // started: its worker was told, and will report
	}
	if _, err := c.orders.Remove(ctx, t.Order()); err != nil {
		return err
	}
	_, err = c.trials.EndTrial(ctx, t.Trial, bench.Canceled, nil)
	return err
}
