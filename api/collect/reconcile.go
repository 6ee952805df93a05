package collect

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"benchd/api/store"
	"benchd/worker/bench"
	"benchd/worker/queue"
)

// dispatches is the store's side of orders that are out.
type dispatches interface {
	// Dispatched gives the orders that are out and not reported as started.
	Dispatched(ctx context.Context) ([]bench.Order, error)
	// Requeue takes the trials of these orders back, to be dispatched again with a higher attempt.
	Requeue(ctx context.Context, orders []bench.Order) error
}

// epochs is where the epoch of Redis is remembered whose loss was dealt with.
type epochs interface {
	Epoch(ctx context.Context) (string, error)
	SetEpoch(ctx context.Context, epoch string) error
}

// orderTaker is the queue's side of orders that may be lost.
type orderTaker interface {
	// Queued tells whether an order waits in the queue or is held by a worker.
	Queued(ctx context.Context, o bench.Order) (bool, error)
	// Started tells whether a worker has started the order.
	Started(ctx context.Context, o bench.Order) (bool, error)
	// TakeBack makes sure that an order is never started; false when it was.
	TakeBack(ctx context.Context, o bench.Order) (bool, error)
}

// An order is named by its trial and attempt.
type order struct {
	trial   string
	attempt int
}

// The reconciler compares the orders that the store has sent with those in Redis, and mends
// the difference: what was not started is queued again, what was started and is held by
// nobody is lost. It does so every few seconds, and at once when the epoch tells that Redis
// was emptied; then also the trials that ran are lost, after the time in which their results
// may still arrive.
type reconciler struct {
	trials     activeTrials
	dispatches dispatches
	epochs     epochs
	orders     orderTaker
	signals    signals
	link       *link
	logger     *slog.Logger
	times      Times

	passes  int
	missing map[order]sighting // orders that nobody holds
	next    time.Time          // when orders are compared again

	emptied string    // the new epoch, while the loss of the old one is being dealt with
	since   time.Time // when it was noticed
}

func (r *reconciler) start(ctx context.Context, wg *sync.WaitGroup) {
	loop{name: "comparing the store with the queue", pass: r.pass, tick: r.times.Tick, logger: r.logger}.start(ctx, wg)
}

func (r *reconciler) pass(ctx context.Context) error {
	epoch, err := r.link.contact(ctx)
	if err != nil {
		return err
	}
	known, err := r.epochs.Epoch(ctx)
	if err != nil {
		return err
	}
	if epoch != known && r.emptied != epoch {
		r.logger.Info("Redis is empty, since it is new or was emptied: what it lost is queued again", "epoch", epoch, "before", known)
		r.emptied, r.since = epoch, time.Now()
	}
	if epoch == known {
		r.emptied = ""
	}
	if r.emptied != "" || len(r.missing) > 0 || !time.Now().Before(r.next) {
		if err := r.compare(ctx); err != nil {
			return err
		}
		r.next = time.Now().Add(r.times.Reconcile)
	}
	if r.emptied == "" || time.Since(r.since) < r.times.Emptied {
		return nil
	}
	return r.giveUpOld(ctx)
}

// compare looks for the orders that are out.
func (r *reconciler) compare(ctx context.Context) error {
	orders, err := r.dispatches.Dispatched(ctx)
	if err != nil {
		return err
	}
	beats, err := r.signals.Beats(ctx)
	if err != nil {
		return err
	}
	r.passes++
	live := byHost(beats)
	var again []bench.Order
	for _, o := range orders {
		beat, alive := live[o.Host]
		if alive && mentions(beat, o.Trial) {
			continue // its Started report is late or was lost; its result will do
		}
		requeue, err := r.look(ctx, o, alive)
		if err != nil {
			return err
		}
		if requeue {
			again = append(again, o)
		}
	}
	forget(r.missing, r.passes)
	if len(again) == 0 {
		return nil
	}
	r.logger.Warn("orders are missing in Redis and are queued again", "trials", len(again))
	return r.dispatches.Requeue(ctx, again)
}

// look says whether an order shall be queued again: it was not started, is not in Redis, and
// was taken back, so that it cannot turn up and be started after all.
// One that was started, and that its host does not mention, is given up after a while: it is
// not measured a second time.
func (r *reconciler) look(ctx context.Context, o bench.Order, alive bool) (again bool, err error) {
	started, err := r.orders.Started(ctx, o)
	if err != nil {
		return false, err
	}
	if !started {
		queued, err := r.orders.Queued(ctx, o)
		if err != nil || queued {
			return false, err
		}
		away := lasting(r.missing, order{o.Trial, o.Attempt}, r.passes, time.Now())
		// A host that is not heard yet after Redis was emptied may be measuring it.
		if away < r.times.Settle || !alive && away < r.times.Emptied {
			return false, nil
		}
		return r.orders.TakeBack(ctx, o)
	}
	away := lasting(r.missing, order{o.Trial, o.Attempt}, r.passes, time.Now())
	if away < r.times.Silent || r.link.settled() < r.times.BeatTTL {
		return false, nil
	}
	t := store.ActiveTrial{Run: o.Run, Trial: o.Trial, Host: o.Host, Attempt: o.Attempt, State: bench.Queued}
	return false, giveUp(ctx, r.trials, r.signals, r.logger, t, bench.TrialError{
		Code: "trial_dropped", Message: fmt.Sprintf("The worker on host %s took this trial and was not heard of it again.", o.Host),
	})
}

// giveUpOld ends the trials that ran when Redis was emptied and whose results have not come.
// Their workers may measure on, but the numbers of their attempts are gone. Then the new
// epoch is remembered.
func (r *reconciler) giveUpOld(ctx context.Context) error {
	active, err := r.trials.Active(ctx)
	if err != nil {
		return err
	}
	beats, err := r.signals.Beats(ctx)
	if err != nil {
		return err
	}
	live := byHost(beats)
	began := queue.EpochTime(r.emptied)
	for _, t := range active {
		if t.StartedAt.IsZero() || !t.StartedAt.Before(began) || keeps(live[t.Host], t.Trial) {
			continue
		}
		why := bench.TrialError{Code: "redis_emptied", Message: "Redis lost its data while this trial ran."}
		if restarted(t, live[t.Host]) {
			why = bench.TrialError{Code: "worker_restarted", Message: fmt.Sprintf(restartedText, t.Host)}
		}
		if err := giveUp(ctx, r.trials, r.signals, r.logger, t, why); err != nil {
			return err
		}
	}
	if err := r.epochs.SetEpoch(ctx, r.emptied); err != nil {
		return err
	}
	r.emptied = ""
	return nil
}
