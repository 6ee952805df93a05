package stats

import (
	"slices"

	"benchd/kernels"
	"benchd/worker/bench"
)

// Composites gives the composite figures of a run: for each host and each set of parameters,
// the arithmetic mean over the scores of all kernels that name the same composite. One whose
// kernels were not all measured is left out, and so is one of ramps, whose scores are each of a
// number of lanes of its own. The interval is the one of the run's plan.
func Composites(families []kernels.Family, interval bench.Interval, trials []bench.TrialResult) []bench.Composite {
	out := []bench.Composite{}
	for _, name := range compositeNames(families) {
		members := members(families, name)
		var groups []group
		for _, t := range trials {
			if t.Score != nil && t.Series == nil && t.State == bench.Succeeded && slices.Contains(members, t.Kernel) {
				groups = join(groups, t)
			}
		}
		for _, g := range groups {
			if len(g.trials) == len(members) {
				out = append(out, g.composite(name, interval, members))
			}
		}
	}
	return out
}

// A group is the trials of one host with equal parameters, one for each kernel.
type group struct {
	host, params string
	trials       []bench.TrialResult
}

// join adds a trial to its group. A kernel that is there already, as in a merged result,
// is not counted twice.
func join(groups []group, t bench.TrialResult) []group {
	for i, g := range groups {
		if g.host != t.Host || g.params != t.Params.String() {
			continue
		}
		if !slices.ContainsFunc(g.trials, func(o bench.TrialResult) bool { return o.Kernel == t.Kernel }) {
			groups[i].trials = append(groups[i].trials, t)
		}
		return groups
	}
	return append(groups, group{t.Host, t.Params.String(), []bench.TrialResult{t}})
}

func (g group) composite(name string, interval bench.Interval, members []string) bench.Composite {
	first := g.trials[0]
	samples := make([][][]float64, len(g.trials))
	for i, t := range g.trials {
		samples[i] = t.Samples()
	}
	f := Mean(interval, samples, first.Score.Confidence)
	return bench.Composite{
		Name: name, Host: g.host, Params: first.Params, Members: members,
		Score: bench.Score{
			Metric: first.Score.Metric, Unit: first.Score.Unit, Better: first.Score.Better,
			Value: f.Value, Low: f.Low, High: f.High, Confidence: first.Score.Confidence, N: f.N, Reason: f.Reason, Note: f.Note,
		},
	}
}

func compositeNames(families []kernels.Family) []string {
	var names []string
	for _, f := range families {
		for _, k := range f.Kernels {
			if c := k.Info().Composite; c != "" && !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
	}
	return names
}

// members lists the kernels of a composite.
func members(families []kernels.Family, composite string) []string {
	var names []string
	for _, f := range families {
		for _, k := range f.Kernels {
			if i := k.Info(); i.Composite == composite {
				names = append(names, i.Name)
			}
		}
	}
	return names
}
