package export

import (
	"fmt"
	"slices"
	"strings"

	"benchd/worker/bench"
)

// departures notes what of the trials' plans is not the suite's, and of which trials that is
// said where it is not of all.
func (p *page) departures() {
	of := make(map[string][]bench.TrialResult)
	var order []string
	for _, t := range p.trials {
		for _, d := range p.departuresOf(t) {
			if _, known := of[d]; !known {
				order = append(order, d)
			}
			of[d] = append(of[d], t)
		}
	}
	for i, d := range order {
		order[i] += p.which(of[d])
	}
	if len(order) > 0 {
		p.note("The rules are not the suite's: %s.", strings.Join(order, ", "))
	}
}

// departuresOf says what of a trial's plan is not the suite's.
func (p *page) departuresOf(t bench.TrialResult) (out []string) {
	own := bench.Spec{Suite: p.suite.Name, Plan: p.suite.Plan}.PlanOf(t.Case())
	had := p.result.Spec.PlanOf(t.Case())
	differs := func(what string, had, own any) {
		if had != own {
			out = append(out, fmt.Sprintf("%s %v instead of %v", what, had, own))
		}
	}
	differs("forks", had.Forks, own.Forks)
	differs("slices", had.Slices, own.Slices)
	differs("operations", had.Operations, own.Operations)
	if had.Operations == 0 {
		differs("slice", had.Slice, own.Slice)
	}
	differs("ramp", had.Ramp, own.Ramp)
	differs("warm-up", had.Warmup, own.Warmup)
	differs("interval", had.Interval, own.Interval)
	return out
}

// which says by what some of the trials differ from the others: " for size=1MB".
func (p *page) which(some []bench.TrialResult) string {
	if len(some) == len(p.trials) {
		return ""
	}
	var words []string
	for _, name := range labelParams() {
		all, here := valuesOf(p.trials, name), valuesOf(some, name)
		if len(here) > 0 && len(here) < len(all) {
			words = append(words, name+"="+strings.Join(here, ","))
		}
	}
	if len(words) == 0 {
		return fmt.Sprintf(" for %d of %d trials", len(some), len(p.trials))
	}
	return " for " + strings.Join(words, " ")
}

// valuesOf lists the values of a parameter, each once.
func valuesOf(trials []bench.TrialResult, name string) (out []string) {
	for _, t := range trials {
		if v, ok := t.Params[name]; ok && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// labelParams are the parameters that tell the trials of a suite apart.
func labelParams() []string { return []string{"encoding", "model", "size", "clients", "server"} }
