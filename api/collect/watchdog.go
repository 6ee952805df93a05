package collect

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"benchd/api/store"
	"benchd/worker/bench"
)

// activeTrials is the store's side of what is being measured.
type activeTrials interface {
	// Active gives the trials that are running or canceling.
	Active(ctx context.Context) ([]store.ActiveTrial, error)
	// EndTrial ends a trial that no report will end.
	EndTrial(ctx context.Context, trialID string, state bench.State, e *bench.TrialError) (ended bool, err error)
}

// The watchdog ends the trials that nobody measures any more. asynq never tells that a
// worker is gone; the heartbeats do.
//
// It judges only what hosts had the chance to say: never while Redis is away, and not until
// it has been back for as long as a heartbeat lasts.
type watchdog struct {
	trials  activeTrials
	signals signals
	link    *link
	logger  *slog.Logger
	times   Times

	passes   int
	suspects map[suspect]sighting
}

// A suspect is a trial's start together with what speaks against it.
type suspect struct {
	trial   string
	attempt int
	code    string
}

// A verdict is why a trial counts as lost, and for how long that has to be so.
type verdict struct {
	code, message string
	patience      time.Duration
}

func (w *watchdog) start(ctx context.Context, wg *sync.WaitGroup) {
	loop{name: "looking after running trials", pass: w.pass, tick: w.times.Tick, logger: w.logger}.start(ctx, wg)
}

func (w *watchdog) pass(ctx context.Context) error {
	if _, err := w.link.contact(ctx); err != nil {
		return err
	}
	// The trials come first: a heartbeat that is read before them may be older than a start.
	active, err := w.trials.Active(ctx)
	if err != nil {
		return err
	}
	beats, err := w.signals.Beats(ctx)
	if err != nil {
		return err
	}
	if w.link.settled() < w.times.BeatTTL {
		return nil
	}
	w.passes++
	live := byHost(beats)
	now := time.Now()
	for _, t := range active {
		beat, alive := live[t.Host]
		v := w.judge(t, beat, alive)
		if v == nil || lasting(w.suspects, suspect{t.Trial, t.Attempt, v.code}, w.passes, now) < v.patience {
			continue
		}
		if err := giveUp(ctx, w.trials, w.signals, w.logger, t, bench.TrialError{Code: v.code, Message: v.message}); err != nil {
			return err
		}
	}
	forget(w.suspects, w.passes)
	return nil
}

// judge says what speaks against a trial, or nil.
func (w *watchdog) judge(t store.ActiveTrial, beat bench.Beat, alive bool) *verdict {
	switch {
	case !alive:
		return &verdict{"host_gone", fmt.Sprintf("Host %s stopped sending heartbeats while this trial ran.", t.Host), 0}
	case keeps(beat, t.Trial):
		return nil // its result is on the way, also when the worker was restarted since
	case restarted(t, beat):
		return &verdict{"worker_restarted", fmt.Sprintf(restartedText, t.Host), w.times.Restarted}
	case !mentions(beat, t.Trial):
		return &verdict{"trial_dropped", fmt.Sprintf("The worker on host %s no longer measures this trial and has no result of it.", t.Host), w.times.Silent}
	default:
		return nil
	}
}

const restartedText = "The worker on host %s was restarted while this trial ran."

// restarted says whether a host's heartbeat comes from another worker process than the one
// that started the trial.
func restarted(t store.ActiveTrial, beat bench.Beat) bool {
	return t.Instance != "" && beat.Instance != "" && beat.Instance != t.Instance
}

// giveUp ends a trial as lost, or as canceled when its cancellation was asked, and tells a
// worker that still measures it to stop.
func giveUp(ctx context.Context, trials activeTrials, s signals, log *slog.Logger, t store.ActiveTrial, why bench.TrialError) error {
	state, e := bench.Lost, &why
	if t.CancelReason != "" {
		state, e = bench.Canceled, nil
	}
	ended, err := trials.EndTrial(ctx, t.Trial, state, e)
	if err != nil {
		return err
	}
	if ended {
		log.Warn("a trial was given up", "run", t.Run, "trial", t.Trial, "host", t.Host, "attempt", t.Attempt, "state", state, "why", why.Message)
	}
	return s.Cancel(ctx, t.Host, t.Trial, bench.CancelLost)
}
