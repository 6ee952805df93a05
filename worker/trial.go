package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/child"
	"benchd/worker/host"
)

// serverStart is how long a server child may take to listen.
const serverStart = 20 * time.Second

// grace is how long a child that was asked to end may take.
const grace = 5 * time.Second

// fork measures the next fork of a trial: a server child where the kernel has a server that
// is not outside, and a client child, watching meanwhile what else the host does.
func (s *shift) fork(ctx context.Context, a *assembly) error {
	job := child.Job{
		Role: child.Client, Kernel: a.order.Case.Kernel, Params: a.order.Case.Params, Plan: a.order.Plan,
		Memory: s.Memory, SpinnerPID: s.spinnerPID(), CPUs: a.result.Placement.Client,
	}
	s.show.now(a.order.Trial, bench.Phase{Name: "open", Fork: len(a.records) + 1, Forks: a.forks(), Percent: a.percent(0)})
	kernel, _ := s.Catalog.Kernel(job.Kernel)
	if a.service != nil {
		job.Params = job.Params.With(kernels.Addr, a.service.addr)
	}
	if a.elsewhere() {
		job.Service = a.service.name
		return s.client(ctx, a, job)
	}
	if _, ok := kernel.(kernels.Server); !ok {
		return s.client(ctx, a, job)
	}
	server, addr, err := s.server(ctx, job, a.result.Placement.Server)
	if err != nil {
		return err
	}
	defer server.Kill()
	job.ServerPID = server.PID()
	job.Params = job.Params.With(kernels.Addr, addr)
	survives, cancel := outlive(ctx, server)
	defer cancel()
	if err := a.bereave(s.client(survives, a, job), server); err != nil {
		return err
	}
	peak := child.PeakRSS(server.PID())
	server.Stop(grace)
	a.records[len(a.records)-1].Fork.Server = new(server.Usage(peak))
	return nil
}

// reapTime is how long the end of a server child may take to be seen, when its client already
// has.
const reapTime = 300 * time.Millisecond

// outliveTime is how long a client may outlive its server. One whose calls fail says in that
// time by itself what became of them; one that waits for messages would wait for those that
// can not come any more, each as long as it has patience.
const outliveTime = 2 * time.Second

// errBereft ends a client that outlived its server.
var errBereft = errors.New("the server of the trial ended")

// outlive gives a context that ends soon after a server does. The caller cancels it.
func outlive(ctx context.Context, server *child.Process) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-server.Done():
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(outliveTime):
			cancel(errBereft)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// bereave says of a fork whose own server ended before it that it did: as the reason why the
// client failed, with what that says, or as a doubt about what it measured nevertheless.
func (a *assembly) bereave(err error, server *child.Process) error {
	if err == nil {
		if server.Ended() {
			a.doubt("server_died", "the server of %s ended while fork %d was measured: %s", a.order.Case.Kernel, len(a.records), a.hide(server.Ending()))
		}
		return nil
	}
	var failure *child.Failure
	switch {
	case errors.Is(err, errBereft):
		err = errors.New(a.unended(fmt.Sprintf("%s did not end within %s", a.at(), bench.Duration(outliveTime))))
	case !errors.As(err, &failure) && !errors.Is(err, errLimit), !server.EndsWithin(reapTime):
		return err
	}
	died := &child.Failure{Code: "server_died", Message: fmt.Sprintf("the server of %s ended: %s; then %v", a.order.Case.Kernel, server.Ending(), err)}
	if failure != nil {
		died.Failures = failure.Failures
	}
	return died
}

// server starts the server child and waits until it listens.
func (s *shift) server(ctx context.Context, job child.Job, cpus []int) (*child.Process, string, error) {
	job.Role, job.CPUs = child.Server, cpus
	p, err := s.starter.Start(ctx, job, s.lock)
	if err != nil {
		return nil, "", err
	}
	late := &child.Failure{Code: "server_failed", Message: fmt.Sprintf("the server of %s did not listen within %s", job.Kernel, bench.Duration(serverStart))}
	addr, err := ready(ctx, p, late)
	if err != nil {
		return nil, "", err
	}
	return p, addr, nil
}

// ready waits until a child tells that it is, and ends it when it does not.
func ready(ctx context.Context, p *child.Process, late *child.Failure) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, serverStart, late)
	defer cancel()
	e, ok, err := p.Await(ctx, func(e child.Event) bool { return e.Ready != "" || e.Failure != nil })
	if err == nil && ok && e.Failure == nil {
		return e.Ready, nil
	}
	p.Kill()
	switch {
	case err != nil:
		return "", err
	case ok:
		return "", e.Failure
	default:
		return "", p.Died()
	}
}

// alive leaves out the processes that there are none of.
func alive(pids ...int) []int { return slices.DeleteFunc(pids, func(pid int) bool { return pid == 0 }) }

// client runs the measuring child to its end and keeps its record.
func (s *shift) client(ctx context.Context, a *assembly, job child.Job) error {
	p, err := s.starter.Start(ctx, job, s.lock)
	if err != nil {
		return err
	}
	watch := host.NewWatch(host.WatchOptions{Awake: a.order.Plan.Awake})
	watch.Start(ctx, func() []int { return alive(p.PID(), job.ServerPID, job.SpinnerPID) })
	e, ok, err := p.Await(ctx, func(e child.Event) bool {
		switch {
		case e.Doing != nil:
			a.doing = *e.Doing
		case e.Progress != nil:
			a.progress(e.Progress)
			s.show.now(a.order.Trial, a.phase())
		}
		return e.Record != nil || e.Failure != nil
	})
	noise := watch.Stop()
	if err != nil {
		p.Kill()
		return err
	}
	p.Stop(grace)
	switch {
	case !ok:
		s.Logger.Error("a child died", "trial", a.order.Trial, "kernel", job.Kernel, "stderr", a.hide(p.Stderr()))
		return p.Died()
	case e.Failure != nil:
		return e.Failure
	}
	e.Record.Fork.Usage = p.Usage(e.PeakRSS)
	e.Record.Fork.Noise = &noise
	if f := e.Record.Fork.Failures; f != nil {
		f.Sample = a.hide(f.Sample)
	}
	a.records = append(a.records, *e.Record)
	a.doing = child.Doing{} // its failures are the record's
	if why := e.Record.Unchecked; why != "" {
		a.doubt("unchecked", "whether the answers of fork %d were right to its end is not known: %s", len(a.records), a.hide(why))
	}
	return nil
}
