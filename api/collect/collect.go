// Package collect keeps the store and the queue in step. It carries queued trials to the
// hosts and reports back, ends trials whose host died, and mends what Redis lost.
//
// The store is the truth. Every step may be repeated, may be done by several processes at
// once, and may be cut off in the middle: the next pass looks at both sides again and does
// what is still to be done.
package collect

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"benchd/api/store"
	"benchd/worker/bench"
	"benchd/worker/queue"
)

// A Config is what a Collector needs beside the store and the queue.
type Config struct {
	Logger *slog.Logger
	// Fits says why a host with these limits cannot measure a case, or nil when it can. It
	// is asked when any host will do; without it every host fits.
	Fits func(c bench.Case, plan bench.Plan, limits bench.Limits) error
	// Needs lists the named services that a case needs; without it no case needs any.
	Needs func(c bench.Case) []bench.Need
	// Times are the intervals and the patience; what is zero gets its default.
	Times Times
}

// A Collector is the loops between one store and one Redis.
type Collector struct {
	store      *store.Store
	results    *results
	dispatcher *dispatcher
	canceler   *canceler
	components []component
}

// A component is one loop. It ends with its context.
type component interface {
	start(ctx context.Context, wg *sync.WaitGroup)
}

// New makes a Collector. It starts nothing; Run does.
func New(s *store.Store, q *queue.Queue, c Config) *Collector {
	t := c.Times.withDefaults()
	log := c.Logger.With("part", "collect")
	l := newLink(q, t.BeatTTL/4)
	d := &dispatcher{
		trials: s, signals: q, orders: q, hosts: s, link: l, logger: log, times: t,
		assigner: &assigner{runs: s, backlog: s, fits: c.Fits, needs: c.Needs, logger: log}, needs: c.Needs,
		wake: make(chan struct{}, 1), reasons: make(map[string]map[string]string),
	}
	k := &canceler{trials: s, signals: q, orders: q, link: l, logger: log, times: t, wake: make(chan struct{}, 1), told: make(map[string]told)}
	return &Collector{
		store: s, results: &results{trials: s, reports: q, logger: log}, dispatcher: d, canceler: k,
		components: []component{
			d, k,
			&hostKeeper{hosts: s, signals: q, logger: log, times: t, saved: make(map[string]bench.Host)},
			&watchdog{trials: s, signals: q, link: l, logger: log, times: t, suspects: make(map[suspect]sighting)},
			&reconciler{trials: s, dispatches: s, epochs: s, orders: q, signals: q, link: l, logger: log, times: t, missing: make(map[order]sighting)},
			&overdue{runs: s, cancel: k.poke, logger: log, times: t},
		},
	}
}

// Run keeps collecting until ctx ends, and returns when every loop has. Redis or the store
// being away is no reason to end: it is logged, and tried again.
func (c *Collector) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for _, part := range c.components {
		part.start(ctx, &wg)
	}
	err := c.results.run(ctx)
	stop()
	wg.Wait()
	return err
}

// Wake tells that there is something new to dispatch or to cancel: a run was posted or its
// cancellation was asked for. Without it, a loop finds out within a second.
func (c *Collector) Wake() {
	poke(c.dispatcher.wake)
	c.canceler.poke()
}

// Cancel asks for the end of a run and tells the hosts. To repeat it changes nothing; a run
// that has ended is a Conflict, final_state, as store.CancelRun gives it.
func (c *Collector) Cancel(ctx context.Context, runID string, reason bench.CancelReason) (bench.Run, error) {
	run, err := c.store.CancelRun(ctx, runID, reason)
	if err != nil {
		return run, fmt.Errorf("cancel: %w", err)
	}
	c.canceler.poke()
	return run, nil
}
