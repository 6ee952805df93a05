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
	differs("confidence", had.Confidence, own.Confidence)
	return out
}

// which says which trials some of them are: " for size=1MB". One parameter is enough if the
// others have none of its values.
func (p *page) which(some []bench.TrialResult) string {
	rest := slices.DeleteFunc(slices.Clone(p.trials), func(t bench.TrialResult) bool {
		return slices.ContainsFunc(some, func(s bench.TrialResult) bool { return s.ID == t.ID })
	})
	if len(rest) == 0 {
		return ""
	}
	for _, name := range labelParams() {
		here, there := valuesOf(some, name), valuesOf(rest, name)
		if len(here) > 0 && !slices.ContainsFunc(here, func(v string) bool { return slices.Contains(there, v) }) {
			return fmt.Sprintf(" for %s=%s", name, strings.Join(here, ","))
		}
	}
	return fmt.Sprintf(" for %d of %d trials", len(some), len(p.trials))
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
func labelParams() []string {
	return []string{"encoding", "broker", "persistent", "sync", "qos", "model", "size", "clients", "server"}
}
