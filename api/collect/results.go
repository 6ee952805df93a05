package collect

import (
	"context"
	"log/slog"

	"benchd/worker/bench"
)

// A recorder is the store's side of reports.
type recorder interface {
	// RecordStarted notes a start; one that does not fit changes nothing.
	RecordStarted(ctx context.Context, r bench.Report) error
	// RecordFinished ends a trial; false when the report was refused.
	RecordFinished(ctx context.Context, r bench.Report) (accepted bool, err error)
}

// reports is the queue of results.
type reports interface {
	Collect(ctx context.Context, handle func(context.Context, bench.Report) error) error
}

// results writes what workers report. A report that the store refuses, because the trial has
// ended or a later attempt is known, is logged and counts as handled: the worker shall not
// send it for ever.
type results struct {
	trials  recorder
	reports reports
	logger  *slog.Logger
}

func (r *results) run(ctx context.Context) error { return r.reports.Collect(ctx, r.handle) }

func (r *results) handle(ctx context.Context, rep bench.Report) error {
	log := r.logger.With("run", rep.Run, "trial", rep.Trial, "attempt", rep.Attempt, "host", rep.Host)
	var err error
	accepted := true
	if rep.Kind == bench.Started {
		err = r.trials.RecordStarted(ctx, rep)
	} else {
		accepted, err = r.trials.RecordFinished(ctx, rep)
	}
	// A trial that nobody knows and a report that cannot be right stay so.
	if e := bench.AsError(err); e != nil && (e.Kind == bench.NotFound || e.Kind == bench.Invalid) {
		log.Warn("a report was refused and is dropped", "kind", rep.Kind, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	if !accepted {
		log.Info("a result was refused: the trial has ended, or a later attempt is known")
	}
	return nil
}
