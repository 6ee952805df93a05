package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/child"
	"benchd/worker/measure"
)

// An assembly is a trial's result in the making.
type assembly struct {
	order   bench.Order
	info    kernels.Info
	cores   int      // logical CPUs of the host
	service *service // that the case names; nil for the kernel's own server, and for none
	result  bench.TrialResult
	records []measure.Record
	last    child.Progress // of the fork at work
	doing   child.Doing    // what it does

	began  time.Time     // when the trial's first turn began
	turned time.Time     // when its last turn began
	spent  time.Duration // in the turns before
}

func newAssembly(host string, cores int, o bench.Order, attempt int) *assembly {
	return &assembly{
		order: o, cores: cores, began: time.Now().UTC(),
		result: bench.TrialResult{
			ID: o.Trial, Host: host, Kernel: o.Case.Kernel, Params: o.Case.Params, Repeat: o.Repeat, Attempt: attempt,
			State: bench.Failed, Metrics: []bench.Score{}, Forks: []bench.Fork{},
			Placement: bench.Placement{Pin: o.Plan.Pin, Awake: o.Plan.Awake},
			Validity:  bench.Validity{Reasons: []string{}},
		},
	}
}

// begin and rest are the two ends of a turn, in which one fork is measured.
func (a *assembly) begin() {
	a.turned = time.Now()
	a.last, a.doing = child.Progress{}, child.Doing{}
	if len(a.records) == 0 {
		a.began = a.turned.UTC()
	}
}

func (a *assembly) rest() { a.spent += time.Since(a.turned) }

// progress notes a slice done.
func (a *assembly) progress(p *child.Progress) {
	a.last = *p
	a.doing.What = measure.SliceOf(p.Phase, p.Slice+1, p.Slices)
}

// forks is the number of forks, as far as it is known: a target may need more.
func (a *assembly) forks() int { return max(a.order.Plan.Forks, len(a.records)+1) }

// phase tells what the trial does now.
func (a *assembly) phase() bench.Phase {
	plan := a.order.Plan
	warm := plan.WarmupSlices()
	measured := plan.Steps(bench.LanesOf(a.info, a.order.Case.Params)) * plan.MeasuredSlices()
	done := a.last.Slice
	if a.last.Phase == "measure" {
		done += warm
	}
	return bench.Phase{
		Name: a.last.Phase, Fork: len(a.records) + 1, Forks: a.forks(), Slice: a.last.Slice, Slices: a.last.Slices,
		Percent: a.percent(float64(done) / float64(warm+measured)), Value: new(a.last.Sample),
	}
}

// percent is how far the trial is after its forks so far and a part of the next.
func (a *assembly) percent(part float64) float64 {
	return float64(int(1000*(float64(len(a.records))+part)/float64(a.forks()))) / 10
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
		code, message = "timed_out", a.late()
		a.result.Failures = a.failed()
	case errors.As(err, &failure):
		code, message = failure.Code, failure.Message
		if a.result.Failures = failure.Failures; failure.Failures == nil {
			a.result.Failures = a.failed()
		}
	default:
		message = err.Error()
	}
	a.result.State = state
	a.result.Error = &bench.TrialError{Code: code, Message: message}
}

// late says of a trial that its limit ended what it was at, and what was counted until then.
func (a *assembly) late() string {
	return a.with(a.unended(fmt.Sprintf("took longer than its limit of %s; %d of %d forks were done, and in the next %s did not end",
		a.order.Plan.Limit, len(a.records), a.forks(), a.at())))
}

// at names what the fork at work does.
func (a *assembly) at() string { return cmp.Or(a.doing.What, "the start of its processes") }

// unended adds to what did not end how many operations had failed before.
func (a *assembly) unended(text string) string {
	if f := a.failed(); f != nil {
		text += fmt.Sprintf("; until then %d operations had failed (%s); the first: %s", f.Count, classes(f), f.Sample)
	}
	return text
}

// failed counts the operations of the fork at work that had failed when it last told; nil for
// none.
func (a *assembly) failed() *bench.Failures {
	if a.doing.Failures == nil {
		return nil
	}
	f := *a.doing.Failures
	f.Sample = a.hide(f.Sample)
	return &f
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
	last := a.result.Failures // of a fork without a record
	if len(a.records) == 0 {
		a.result.Steady.Reason = "no fork was measured to its end"
		return
	}
	failures := make([]*bench.Failures, len(a.records))
	for i, r := range a.records {
		a.result.Forks = append(a.result.Forks, r.Fork)
		failures[i] = r.Fork.Failures
	}
	a.result.Settings = a.records[0].Settings
	a.result.Failures = measure.AddFailures(append(failures, last))
	a.ramp()
	a.score()
	a.latencies()
	a.steadiness()
	a.judge()
}

// doubt adds a reason not to believe the figures.
func (a *assembly) doubt(code, format string, args ...any) {
	a.result.Validity.Reasons = append(a.result.Validity.Reasons, code+": "+fmt.Sprintf(format, args...))
}
