package bench

import (
	"fmt"
	"time"

	"benchd/kernels"
)

// Bounds of a plan's numbers, and of a request's repeats.
const (
	maxForks      = 100
	maxSlices     = 1000
	maxRepeat     = 100
	maxOperations = 10_000_000
	maxRamp       = 10_000
)

// Steps is the number of steps in which so many lanes begin: one without a ramp.
func (p Plan) Steps(lanes int) int {
	if p.Ramp <= 0 {
		return 1
	}
	return max(1, (lanes+p.Ramp-1)/p.Ramp)
}

// LanesAt is how many of so many lanes work in a step, counted from 1.
func (p Plan) LanesAt(step, lanes int) int {
	if p.Ramp <= 0 {
		return lanes
	}
	return min(step*p.Ramp, lanes)
}

// Timed tells whether the time that a trial takes follows from the plan alone: a slice of
// operations takes as long as they do, and the steps of a ramp are as many as the case's lanes
// make.
func (p Plan) Timed() bool { return p.Operations == 0 && p.Ramp == 0 }

// caseTime estimates what a trial with so many lanes takes; of slices of operations, whose
// time nobody knows before, what the rest of it takes.
func (p Plan) caseTime(lanes int) time.Duration {
	fork := time.Duration(max(0, p.Warmup)) + forkOverhead
	if p.Operations == 0 {
		fork += time.Duration(p.Steps(lanes)*p.MeasuredSlices()) * p.Slice.Std()
	}
	return time.Duration(p.Forks) * fork
}

// LanesOf is the number of lanes that a case of a kernel runs.
func LanesOf(info kernels.Info, p kernels.Params) int {
	if info.Lanes == "" {
		return 1
	}
	return max(1, p.Int(info.Lanes))
}

// rampPlan is what a plan with a ramp takes of the plan that its request left out: neither a
// target, which one figure would have to meet, nor the samples' own word on when they are warm,
// since they rise with the lanes.
func rampPlan(base Plan) Plan {
	base.TargetError = nil
	if base.Warmup.Auto() {
		base.Warmup = 0
	}
	return base
}

// checkRamp refuses what a ramp cannot be together with.
func (r *resolver) checkRamp(p Plan) {
	if p.Ramp <= 0 {
		return
	}
	if p.Warmup.Auto() {
		r.fail(node{ptr: "/plan/warmup"}, "ramp_warmup", "must be a time such as \"5s\" or \"0s\" with a ramp: samples that rise with the lanes cannot tell when they are warm")
	}
	if p.TargetError != nil {
		r.fail(node{ptr: "/plan/target_error"}, "ramp_target", "must be null with a ramp, which has a figure for each step and no one error to aim at")
	}
}

// checkCases checks each case against its plan, and stops at the first that does not fit: a
// matrix that is asked for too much says so once.
func (r *resolver) checkCases(plan func(Case) Plan) {
	for _, c := range r.cases {
		if len(r.errs) > 0 {
			return
		}
		info, _ := r.catalog.Info(c.Kernel)
		r.checkCase(c, info, plan(c))
	}
}

func (r *resolver) checkCase(c Case, info kernels.Info, p Plan) {
	rate := 0
	if info.Rate != "" {
		rate = c.Params.Int(info.Rate)
	}
	lanes := LanesOf(info, c.Params)
	switch took := p.caseTime(lanes); {
	case p.Operations > 0 && rate > 0:
		r.fail(node{ptr: "/plan/operations"}, "operations_at_rate", "%s has a %s of %d: how many operations a slice has follows from that and its time; leave one of the two out", clip(c.Key()), info.Rate, rate)
	case p.Ramp > 0 && rate > 0:
		r.fail(node{ptr: "/plan/ramp"}, "ramp_at_rate", "%s has a %s of %d, which more lanes do not raise; leave one of the two out", clip(c.Key()), info.Rate, rate)
	case p.Ramp > 0 && info.Lanes == "":
		r.fail(node{ptr: "/plan/ramp"}, "ramp_without_lanes", "%s has one lane, and a ramp begins lane after lane; leave it or the ramp out", info.Name)
	case took <= p.Limit.Std():
	case p.Ramp > 0:
		r.fail(node{ptr: "/plan/limit"}, "plan_over_limit", "%d forks of %s warm-up and %d steps of %s, each of %d slices of %s, take about %s, over the limit of %s; ask for less or raise the limit (at most %s)",
			p.Forks, p.Warmup, p.Steps(lanes), clip(c.Key()), p.MeasuredSlices(), p.Slice, roughly(took), p.Limit, r.limits.TrialTime)
	case p.Operations > 0:
		r.fail(node{ptr: "/plan/limit"}, "plan_over_limit", "%d forks of %s warm-up take about %s without any of their slices of operations, over the limit of %s; ask for less or raise the limit (at most %s)",
			p.Forks, p.Warmup, roughly(took), p.Limit, r.limits.TrialTime)
	default:
		r.fail(node{ptr: "/plan/limit"}, "plan_over_limit", "%d forks of %s warm-up and %d slices of %s take about %s, over the limit of %s; ask for less or raise the limit (at most %s)",
			p.Forks, p.Warmup, p.MeasuredSlices(), p.Slice, roughly(took), p.Limit, r.limits.TrialTime)
	}
}

// roughly writes a time for a person, to the second.
func roughly(d time.Duration) string { return fmt.Sprint(Duration(d.Round(time.Second))) }
