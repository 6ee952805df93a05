package worker

import (
	"slices"

	"benchd/worker/bench"
	"benchd/worker/stats"
	"benchd/worker/stats/steady"
)

// steadiness sums up the classes of the forks, and the work until they were steady.
func (a *assembly) steadiness() {
	s := &a.result.Steady
	if a.order.Plan.Ramp > 0 {
		s.Reason = "the load was changed on purpose, step by step"
		return
	}
	classes := make([]*bench.Steady, len(a.records))
	for i, r := range a.records {
		classes[i] = r.Fork.Steady
	}
	if s.Class, s.Reason = steady.Over(classes...); s.Class == nil {
		return
	}
	if !a.order.Plan.Warmup.Auto() {
		s.Reason = "the plan's warm-up is of a fixed time; \"auto\" tells the work until steady"
		return
	}
	if slices.ContainsFunc(classes, func(c *bench.Steady) bool { return *c == bench.NeverSteady }) {
		s.Reason = "a fork never was steady"
		return
	}
	var count, operations []float64
	for _, r := range a.records {
		count = append(count, float64(r.Fork.Warmup.Slices))
		operations = append(operations, float64(r.Fork.Warmup.Operations))
	}
	s.Slices, s.Operations = new(stats.Middle(count)), new(stats.Middle(operations))
}

// judgeSteadiness tells when the series of a trial had no one level.
func (a *assembly) judgeSteadiness() {
	if a.result.Steady.Class == nil {
		return
	}
	switch *a.result.Steady.Class {
	case bench.NeverSteady:
		a.doubt("not_steady", "the rate changed until the end of the measuring: there is no steady part, and all slices count")
	case bench.SlowedDown:
		a.doubt("slowed_down", "the rate fell while it was measured: what counts is the slower part at the end")
	case bench.Inconsistent:
		if !a.unsteady() { // some forks were flat and some warmed up, which is left out
			return
		}
		a.doubt("inconsistent", "the forks differ in whether and how they became steady (%s)", a.classList())
	case bench.Flat, bench.WarmedUp:
	}
}

// unsteady tells whether any fork slowed down or never was steady.
func (a *assembly) unsteady() bool {
	return slices.ContainsFunc(a.result.Forks, func(f bench.Fork) bool { return *f.Steady == bench.SlowedDown || *f.Steady == bench.NeverSteady })
}

func (a *assembly) classList() string {
	text := ""
	for i, f := range a.result.Forks {
		if i > 0 {
			text += ", "
		}
		text += string(*f.Steady)
	}
	return text
}
