package worker

import (
	"context"
	"slices"
	"time"

	"benchd/worker/bench"
)

// beat tells that this worker is alive, every few seconds and at each change, until ctx
// ends. Redis may be away: then it tries again.
func (w *Worker) beat(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if err := w.Queue.Beat(ctx, w.sign(), beatTTL); err != nil && ctx.Err() == nil {
			w.Logger.Warn("send a heartbeat", "error", err)
		}
		select {
		case <-tick.C:
		case <-w.beatNow:
		case <-ctx.Done():
			return
		}
	}
}

// Announce sends a first sign of life, before Run, and tells what the host is.
func (w *Worker) Announce(ctx context.Context) (bench.Host, error) {
	b := w.sign()
	return b.AsHost(), w.Queue.Beat(ctx, b, beatTTL)
}

// sign makes a sign of life.
func (w *Worker) sign() bench.Beat {
	waiting := w.outbox.trials()
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if off := w.snapshot.Volatile.ClockOffset; off != nil {
		now = now.Add(-time.Duration(*off * float64(time.Second)))
	}
	return bench.Beat{
		Host: w.Name, Instance: w.instance, At: now.UTC(), Labels: w.Labels, Limits: w.Limits, Services: w.schemes,
		Version: w.Version, Running: w.running, Held: slices.Clone(w.held), Outbox: waiting, Snapshot: w.snapshot,
	}
}
