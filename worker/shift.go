package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"benchd/worker/bench"
	"benchd/worker/child"
)

// Why a trial's context ended.
var (
	errLimit   = errors.New("the trial's limit passed")
	errStopped = errors.New("the worker was stopped")
)

// canceledError tells that somebody asked for the end of a trial.
type canceledError struct{ reason bench.CancelReason }

func (e canceledError) Error() string { return "canceled: " + string(e.reason) }

// A shift is the measuring of one order: of a trial, or of all trials of an interleaved run
// on this host, a fork of each in turn:
//
//	sequential    one shift each   A A A | B B B
//	interleaved   one shift        A B A B A B
//
// It holds the host's lock from its first fork to its last. Each trial ends with a report of
// its own as soon as its last fork is done or one has failed; what stops the whole shift, a
// cancellation or the end of the worker, ends all that are left.
type shift struct {
	*Worker
	lock    *child.Lock
	show    *phases
	spinner *child.Process           // keeps the CPUs awake; nil when the plan does not ask for it
	at      atomic.Pointer[assembly] // the trial at work
}

// measure measures trials of one plan and reports each.
func (w *Worker) measure(ctx context.Context, trials []*assembly) {
	s := &shift{Worker: w}
	s.at.Store(trials[0])
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(errStopped) })()
	go s.watchCancel(work, stop)

	left, err := s.run(work, trials)
	for _, a := range left {
		w.finish(a, err)
	}
}

// run measures the trials under the host's lock, and gives those that are not finished with
// the reason, which is theirs all.
func (s *shift) run(ctx context.Context, trials []*assembly) (left []*assembly, err error) {
	if reason, yes, err := s.Queue.Canceled(ctx, trials[0].order.Trial); err == nil && yes {
		return trials, canceledError{reason}
	}
	if trials = s.admitAll(ctx, trials); len(trials) == 0 {
		return nil, nil
	}
	first := trials[0]
	s.show = s.showPhases(ctx)
	defer s.show.stop()
	s.lock, err = child.Acquire(ctx, s.Lock, func() {
		s.show.now(first.order.Trial, bench.Phase{Name: "wait", Forks: first.forks()})
	})
	if err != nil {
		return trials, err
	}
	defer func() { _ = s.lock.Release() }()
	if first.order.Plan.Awake {
		if err := s.keepAwake(ctx); err != nil {
			return trials, err
		}
		defer s.spinner.Kill()
	}
	for len(trials) > 0 {
		trials = slices.DeleteFunc(trials, func(a *assembly) bool { return ctx.Err() == nil && !s.turn(ctx, a) })
		if ctx.Err() != nil {
			return trials, context.Cause(ctx)
		}
	}
	return nil, nil
}

// turn measures one fork of a trial, and tells whether it has a further one. A trial that has
// not is finished, unless the whole shift ends.
func (s *shift) turn(ctx context.Context, a *assembly) (more bool) {
	s.at.Store(a)
	s.setRunning(a)
	a.begin()
	defer a.rest()
	// The limit counts the trial's own time: neither waiting for the lock nor others' turns.
	limited, cancel := context.WithTimeoutCause(ctx, a.order.Plan.Limit.Std()-a.spent, errLimit)
	defer cancel()
	err := a.blame(s.fork(limited, a))
	if err == nil && s.spinner != nil && s.spinner.Ended() {
		err = &child.Failure{Code: "fell_asleep", Message: "the spinners that keep the CPUs awake ended while this trial was measured"}
	}
	if ctx.Err() != nil || err == nil && a.wantsMore() {
		return true
	}
	if errors.Is(err, errLimit) && a.cutShort() {
		err = nil
	}
	s.finish(a, err)
	return false
}

// keepAwake starts the child that keeps the CPUs from halting.
func (s *shift) keepAwake(ctx context.Context) error {
	p, err := s.starter.Start(ctx, child.Job{Role: child.Spinner}, s.lock)
	if err != nil {
		return err
	}
	if _, err := ready(ctx, p, &child.Failure{Code: "cannot_place", Message: "the spinners that keep the CPUs awake did not start"}); err != nil {
		return err
	}
	s.spinner = p
	return nil
}

func (s *shift) spinnerPID() int {
	if s.spinner == nil {
		return 0
	}
	return s.spinner.PID()
}

// admitAll reads the host anew for the results, finishes the trials that it does not
// measure, and tells that the others begin.
func (s *shift) admitAll(ctx context.Context, trials []*assembly) []*assembly {
	err := s.look(ctx)
	if e := bench.AsError(err); e != nil {
		err = &child.Failure{Code: e.Code, Message: e.Message}
	} else if err != nil {
		s.Logger.Warn("read the host", "error", err)
		err = nil
	}
	return slices.DeleteFunc(trials, func(a *assembly) bool {
		why := err
		if why == nil {
			why = s.admit(a)
		}
		if why != nil {
			s.finish(a, why)
			return true
		}
		if err := s.Queue.Send(ctx, s.report(a.order, a.result.Attempt, bench.Started)); err != nil {
			s.Logger.Warn("tell that a trial begins", "trial", a.order.Trial, "error", err)
		}
		return false
	})
}

// admit refuses what this host does not measure.
func (s *shift) admit(a *assembly) (err error) {
	o := a.order
	info, ok := s.Catalog.Info(o.Case.Kernel)
	if !ok {
		return &child.Failure{Code: "unknown_kernel", Message: fmt.Sprintf("the worker on host %s (%s) has no kernel %q", s.Name, s.Version, o.Case.Kernel)}
	}
	a.info = info
	if err := s.serve(a); err != nil {
		return err
	}
	if err := s.Catalog.Check(o.Case, o.Plan, s.Limits); err != nil {
		return &child.Failure{Code: "beyond_limits", Message: fmt.Sprintf("host %s: %v", s.Name, err)}
	}
	a.result.Placement, err = bench.ParsePlacement(o.Plan.Pin, o.Plan.Awake, s.Limits.CPUs)
	if err != nil {
		return &child.Failure{Code: "cannot_place", Message: fmt.Sprintf("host %s: pin %v", s.Name, err)}
	}
	if a.elsewhere() {
		a.result.Placement.Server = nil
	}
	return nil
}

// watchCancel looks for the cancellation of the trial at work every second and whenever the
// host is told to look, and stops the shift: a run is canceled as a whole.
func (s *shift) watchCancel(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(cancelEvery)
	defer tick.Stop()
	wake := s.Queue.CancelWakeups(ctx, s.Name)
	for {
		select {
		case <-tick.C:
		case _, ok := <-wake:
			if !ok {
				wake = nil
			}
		case <-ctx.Done():
			return
		}
		reason, yes, err := s.Queue.Canceled(ctx, s.at.Load().order.Trial)
		if err == nil && yes {
			stop(canceledError{reason})
			return
		}
	}
}
