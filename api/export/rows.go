package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A row is one figure of a result: a trial's, which may have none, or a composite, which has
// no state, samples or validity.
type row struct {
	// name tells the row from all others of the result: the kernel and its parameters, the
	// host where there are several, and which repetition it is after the first.
	name   string
	host   string
	kernel string
	params kernels.Params // without those of the harness
	score  *bench.Score   // nil when nothing was measured
	trial  *bench.TrialResult
	step   *bench.Step // of a ramp, in the row of a step; nil otherwise
}

// composite tells whether the row is one.
func (r row) composite() bool { return r.trial == nil }

// rows lists the trials of a result, then its composites, in its own order.
func rows(r bench.Result) []row {
	out := make([]row, 0, len(r.Trials)+len(r.Composites))
	for i := range r.Trials {
		t := &r.Trials[i]
		out = append(out, row{host: t.Host, kernel: t.Kernel, params: shown(t.Params), score: t.Score, trial: t})
	}
	for i := range r.Composites {
		c := &r.Composites[i]
		out = append(out, row{host: c.Host, kernel: c.Name, params: shown(c.Params), score: &c.Score})
	}
	// One host is left out of the names, so that results of two hosts can be compared.
	several := len(hostNames(r)) > 1
	seen := make(map[string]int)
	for i := range out {
		out[i].name = unique(seen, out[i].describe(several))
	}
	return out
}

// describe names a row by what it is.
func (r row) describe(several bool) string {
	name := r.kernel
	if r.composite() {
		name += " (composite)"
	}
	if p := r.params.String(); p != "" {
		name += " " + p
	}
	if several {
		name += " on " + r.host
	}
	return oneLine(name)
}

// unique adds " (2)" to the second row of a name, and so on.
func unique(seen map[string]int, name string) string {
	for {
		seen[name]++
		n := seen[name]
		if n == 1 {
			return name
		}
		if again := fmt.Sprintf("%s (%d)", name, n); seen[again] == 0 {
			seen[again] = 1
			return again
		}
	}
}

// shown leaves out the parameters that the harness sets.
func shown(p kernels.Params) kernels.Params {
	q := make(kernels.Params, len(p))
	for name, v := range p {
		if !strings.HasPrefix(name, "_") {
			q[name] = v
		}
	}
	return q
}

// hostNames lists the hosts that the result has trials of, sorted.
func hostNames(r bench.Result) []string {
	seen := make(map[string]bool)
	for _, t := range r.Trials {
		seen[t.Host] = true
	}
	for _, c := range r.Composites {
		seen[c.Host] = true
	}
	return sortedKeys(seen)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sortedPercentiles lists the percentiles of a histogram that can be read, in order.
func sortedPercentiles(l *bench.Latency) []float64 {
	var out []float64
	for name := range l.Percentiles {
		p, err := strconv.ParseFloat(name, 64)
		if err == nil && p >= 0 && p <= 100 && strconv.FormatFloat(p, 'f', -1, 64) == name {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}
