package worker

import (
	"context"
	"time"

	"benchd/worker/bench"
)

// showEvery is the least time between two phases told to Redis.
const showEvery = 200 * time.Millisecond

// phases tells how far a trial is, from a goroutine of its own so that a slow Redis never
// holds up the reading of a child. Only the newest phase matters.
type phases struct {
	newest chan trialPhase
	cancel context.CancelFunc
	done   chan struct{}
}

// A trialPhase is what a trial does now.
type trialPhase struct {
	trial string
	phase bench.Phase
}

func (w *Worker) showPhases(ctx context.Context) *phases {
	ctx, cancel := context.WithCancel(ctx)
	s := &phases{newest: make(chan trialPhase, 1), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for {
			select {
			case p := <-s.newest:
				// Progress is a courtesy: when Redis is away nobody can look at it anyway.
				_ = w.Queue.SetPhase(ctx, p.trial, p.phase)
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(showEvery):
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// now tells the present phase. One goroutine calls it.
func (s *phases) now(trial string, p bench.Phase) {
	select {
	case <-s.newest:
	default:
	}
	s.newest <- trialPhase{trial, p}
}

func (s *phases) stop() {
	s.cancel()
	<-s.done
}
