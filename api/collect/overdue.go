package collect

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"benchd/worker/bench"
)

// A runEnder is the store's side of timeouts.
type runEnder interface {
	// Overdue gives the runs whose timeout has passed.
	Overdue(ctx context.Context, now time.Time) ([]string, error)
	// CancelRun asks for the end of a run.
	CancelRun(ctx context.Context, id string, reason bench.CancelReason) (bench.Run, error)
}

// overdue ends the runs whose timeout has passed.
type overdue struct {
	runs   runEnder
	cancel func() // wakes the canceler
	logger *slog.Logger
	times  Times
}

func (o *overdue) start(ctx context.Context, wg *sync.WaitGroup) {
	loop{name: "ending overdue runs", pass: o.pass, tick: o.times.Tick, logger: o.logger}.start(ctx, wg)
}

func (o *overdue) pass(ctx context.Context) error {
	ids, err := o.runs.Overdue(ctx, time.Now())
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err := o.runs.CancelRun(ctx, id, bench.CancelTimeout)
		if e := bench.AsError(err); e != nil && e.Kind == bench.Conflict {
			continue // it ended by itself meanwhile
		}
		if err != nil {
			return fmt.Errorf("end overdue run %s: %w", id, err)
		}
		o.logger.Info("a run's timeout passed", "run", id)
		o.cancel()
	}
	return nil
}
