package worker

import (
	"context"
	"errors"
	"fmt"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/child"
	"benchd/worker/measure"
)

// An assembly is a trial's result in the making.
type assembly struct {
	order   bench.Order
	info    kernels.Info
	cores   int // logical CPUs of the host
	result  bench.TrialResult
	records []measure.Record
	fork    int            // the one at work, counted from 0
	last    child.Progress // of that fork
}

// progress notes a slice done.
func (a *assembly) progress(p *child.Progress) { a.last = *p }

// phase tells what the trial does now.
func (a *assembly) phase() bench.Phase {
	plan := a.order.Plan
	warm := plan.WarmupSlices()
	done := a.last.Slice
	if a.last.Phase == "measure" {
		done += warm
	}
	return bench.Phase{
		Name: a.last.Phase, Fork: a.fork + 1, Forks: plan.Forks, Slice: a.last.Slice, Slices: a.last.Slices,
		Percent: a.percent(a.fork, float64(done)/float64(warm+plan.Slices)), Value: new(a.last.Sample),
	}
}

// percent is how far the trial is after n forks and a part of the next.
func (a *assembly) percent(n int, part float64) float64 {
	return float64(int(1000*(float64(n)+part)/float64(a.order.Plan.Forks))) / 10
}

// fail sets the trial's state by how its measuring ended.
func (a *assembly) fail(err error) {
	var canceled canceledError
	var failure *child.Failure
	state, code, message := bench.Failed, "internal", ""
	switch {
	case err == nil:
		a.result.State = bench.Succeeded
		return
	case errors.As(err, &canceled):
		state, code, message = canceledState(canceled.reason)
	case errors.Is(err, errStopped):
		state, code, message = bench.Lost, "worker_stopped", fmt.Sprintf("the worker on host %s was stopped while it measured", a.result.Host)
	case errors.Is(err, errLimit), errors.Is(err, context.DeadlineExceeded):
		code = "timed_out"
		message = fmt.Sprintf("took longer than its limit of %s; %d of %d forks were done, and %d of %d slices of the %s of the next",
			a.order.Plan.Limit, len(a.records), a.order.Plan.Forks, a.last.Slice, a.last.Slices, a.phaseName())
	case errors.As(err, &failure):
		code, message = failure.Code, failure.Message
	default:
		message = err.Error()
	}
	a.result.State = state
	a.result.Error = &bench.TrialError{Code: code, Message: message}
}

func (a *assembly) phaseName() string {
	if a.last.Phase == "" {
		return "opening"
	}
	return a.last.Phase
}

// canceledState is how a trial ends that was asked to stop.
func canceledState(reason bench.CancelReason) (bench.State, string, string) {
	switch reason {
	case bench.CancelTimeout:
		return bench.Failed, "run_timed_out", "the run's timeout passed while it measured"
	case bench.CancelLost:
		return bench.Lost, "given_up", "the service had given it up as lost"
	default:
		return bench.Canceled, "canceled", "canceled on request"
	}
}

// finish works out the figures of all forks that were done.
func (a *assembly) finish() {
	if len(a.records) == 0 {
		return
	}
	failures := make([]*bench.Failures, len(a.records))
	for i, r := range a.records {
		a.result.Forks = append(a.result.Forks, r.Fork)
		failures[i] = r.Fork.Failures
	}
	a.result.Failures = measure.AddFailures(failures)
	a.score()
	latency, err := mergeLatency(a.records)
	if err != nil {
		a.doubt("latency_unreadable", "%v", err)
	}
	a.result.Latency = latency
	a.judge()
}

// doubt adds a reason not to believe the figures.
func (a *assembly) doubt(code, format string, args ...any) {
	a.result.Validity.Reasons = append(a.result.Validity.Reasons, code+": "+fmt.Sprintf(format, args...))
}
