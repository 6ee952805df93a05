package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchd/kernels"
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

// measure measures an order, fork by fork, and says how it went.
func (w *Worker) measure(ctx context.Context, o bench.Order, attempt int) bench.TrialResult {
	a := &assembly{order: o, cores: w.Limits.Threads, result: bench.TrialResult{
		ID: o.Trial, Host: w.Name, Kernel: o.Case.Kernel, Params: o.Case.Params, Attempt: attempt,
		State: bench.Failed, Metrics: []bench.Score{}, Forks: []bench.Fork{},
		Validity: bench.Validity{Reasons: []string{}},
	}}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(errStopped) })()
	go w.watchCancel(work, o.Trial, stop)

	a.fail(w.forks(work, a))
	a.finish()
	return a.result
}

// forks measures all forks of the trial under the host's lock.
func (w *Worker) forks(ctx context.Context, a *assembly) error {
	if reason, yes, err := w.Queue.Canceled(ctx, a.order.Trial); err == nil && yes {
		return canceledError{reason}
	}
	if err := w.admit(ctx, a); err != nil {
		return err
	}
	if err := w.Queue.Send(ctx, w.report(a.order, a.result.Attempt, bench.Started)); err != nil {
		w.Logger.Warn("tell that a trial begins", "trial", a.order.Trial, "error", err)
	}
	show := w.showPhases(ctx, a.order)
	defer show.stop()
	lock, err := child.Acquire(ctx, w.Lock, func() { show.now(bench.Phase{Name: "wait", Forks: a.order.Plan.Forks}) })
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	// The limit counts from here: waiting for the lock is not the trial's own time.
	ctx, cancel := context.WithTimeoutCause(ctx, a.order.Plan.Limit.Std(), errLimit)
	defer cancel()
	for n := range a.order.Plan.Forks {
		if err := w.fork(ctx, a, n, lock, show); err != nil {
			return err
		}
	}
	return nil
}

// admit refuses what this host does not measure, and reads the host anew for the result.
func (w *Worker) admit(ctx context.Context, a *assembly) error {
	info, ok := w.Catalog.Info(a.order.Case.Kernel)
	if !ok {
		return &child.Failure{Code: "unknown_kernel", Message: fmt.Sprintf("the worker on host %s (%s) has no kernel %q", w.Name, w.Version, a.order.Case.Kernel)}
	}
	a.info = info
	if err := w.Catalog.Check(a.order.Case, a.order.Plan, w.Limits); err != nil {
		return &child.Failure{Code: "beyond_limits", Message: fmt.Sprintf("host %s: %v", w.Name, err)}
	}
	if err := w.look(ctx); err != nil {
		if e := bench.AsError(err); e != nil {
			return &child.Failure{Code: e.Code, Message: e.Message}
		}
		w.Logger.Warn("read the host", "error", err)
	}
	return nil
}

// serverStart is how long a server child may take to listen.
const serverStart = 20 * time.Second

// grace is how long a child that was asked to end may take.
const grace = 5 * time.Second

// fork measures one fork: a server child where the kernel has a server, and a client child.
func (w *Worker) fork(ctx context.Context, a *assembly, n int, lock *child.Lock, show *phases) error {
	a.fork = n
	job := child.Job{Role: child.Client, Kernel: a.order.Case.Kernel, Params: a.order.Case.Params, Plan: a.order.Plan, Memory: w.Memory}
	show.now(bench.Phase{Name: "open", Fork: n + 1, Forks: a.order.Plan.Forks, Percent: a.percent(n, 0)})
	kernel, _ := w.Catalog.Kernel(job.Kernel)
	if _, ok := kernel.(kernels.Server); !ok {
		return w.client(ctx, a, job, lock, show)
	}
	server, addr, err := w.server(ctx, job, lock)
	if err != nil {
		return err
	}
	defer server.Kill()
	job.ServerPID = server.PID()
	job.Params = job.Params.With(kernels.Addr, addr)
	if err := w.client(ctx, a, job, lock, show); err != nil {
		return err
	}
	peak := child.PeakRSS(server.PID())
	server.Stop(grace)
	usage := server.Usage(peak)
	a.records[n].Fork.Server = &usage
	return nil
}

// server starts the server child and waits until it listens.
func (w *Worker) server(ctx context.Context, job child.Job, lock *child.Lock) (*child.Process, string, error) {
	job.Role = child.Server
	p, err := w.starter.Start(ctx, job, lock)
	if err != nil {
		return nil, "", err
	}
	late, cancel := context.WithTimeoutCause(ctx, serverStart, &child.Failure{
		Code: "server_failed", Message: fmt.Sprintf("the server of %s did not listen within %s", job.Kernel, bench.Duration(serverStart)),
	})
	defer cancel()
	e, ok, err := p.Await(late, func(e child.Event) bool { return e.Ready != "" || e.Failure != nil })
	if err == nil && ok && e.Failure == nil {
		return p, e.Ready, nil
	}
	p.Kill()
	switch {
	case err != nil:
		return nil, "", err
	case ok:
		return nil, "", e.Failure
	default:
		return nil, "", p.Died()
	}
}

// client runs the measuring child to its end and keeps its record.
func (w *Worker) client(ctx context.Context, a *assembly, job child.Job, lock *child.Lock, show *phases) error {
	p, err := w.starter.Start(ctx, job, lock)
	if err != nil {
		return err
	}
	e, ok, err := p.Await(ctx, func(e child.Event) bool {
		if e.Progress != nil {
			a.progress(e.Progress)
			show.now(a.phase())
		}
		return e.Record != nil || e.Failure != nil
	})
	if err != nil {
		p.Kill()
		return err
	}
	p.Stop(grace)
	switch {
	case !ok:
		w.Logger.Error("a child died", "trial", a.order.Trial, "kernel", job.Kernel, "stderr", p.Stderr())
		return p.Died()
	case e.Failure != nil:
		return e.Failure
	}
	e.Record.Fork.Usage = p.Usage(e.PeakRSS)
	a.records = append(a.records, *e.Record)
	return nil
}

// watchCancel looks for the trial's cancellation every second and whenever the host is told
// to look, and stops the work.
func (w *Worker) watchCancel(ctx context.Context, trial string, stop context.CancelCauseFunc) {
	tick := time.NewTicker(cancelEvery)
	defer tick.Stop()
	wake := w.Queue.CancelWakeups(ctx, w.Name)
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
		reason, yes, err := w.Queue.Canceled(ctx, trial)
		if err == nil && yes {
			stop(canceledError{reason})
			return
		}
	}
}
