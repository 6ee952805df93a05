package references

import (
	"fmt"
	"math"
	"slices"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/stats"
)

// throughput is the metric of a score that Stand is asked about.
const throughput = "throughput"

// Stand tells where the throughput of a kernel, or of a composite by its name, would stand
// among the published figures: in the first table that has figures which mean the same, and
// nil where there is none. The value is in the unit given.
func (s *Set) Stand(kernel string, params kernels.Params, unit string, value float64) *bench.Standing {
	all := s.Standings(kernel, params, throughput, unit, value)
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// Standings tells where a figure would stand in each table that has figures which mean the
// same: comparable ones of the kernel, metric and unit whose every parameter is among those
// given. A value that is no positive number stands nowhere, and neither does one that was
// measured at a rate, which tells the rate and no speed.
func (s *Set) Standings(kernel string, params kernels.Params, metric, unit string, value float64) []bench.Standing {
	if !(value > 0) || math.IsInf(value, 1) || paced(params) {
		return nil
	}
	var out []bench.Standing
	for _, t := range s.tables {
		var figures []bench.Reference
		for _, r := range s.refs {
			if r.Table == t.Name && r.Comparable && r.Value != nil && r.Kernel == kernel &&
				r.Metric == metric && r.Unit == unit && shares(r.Params, params) {
				figures = append(figures, r)
			}
		}
		if len(figures) > 0 {
			out = append(out, stand(t, figures, value))
		}
	}
	return out
}

// paced tells whether operations were begun at a rate, rather than one after another.
func paced(p kernels.Params) bool { return p["rate"] != "" && p["rate"] != "0" }

// stand works out the place of a value among figures of one table and metric.
func stand(t bench.ReferenceTable, figures []bench.Reference, value float64) bench.Standing {
	higher := figures[0].Better == "higher"
	values := make([]float64, len(figures))
	for i, r := range figures {
		values[i] = *r.Value
	}
	slices.Sort(values) // the fastest first, whichever way that is
	if higher {
		slices.Reverse(values)
	}
	st := bench.Standing{
		Table: t.Name, Source: t.Source, Metric: figures[0].Metric, Unit: figures[0].Unit, Better: figures[0].Better,
		Count: len(values), Rank: 1, Fastest: values[0], Median: stats.Middle(values), Slowest: values[len(values)-1],
	}
	for _, v := range values {
		if higher && v > value || !higher && v < value {
			st.Rank++
		}
	}
	st.RatioToFastest, st.RatioToMedian = ratio(value, st.Fastest, higher), ratio(value, st.Median, higher)
	st.Text = sentence(st, t)
	return st
}

// ratio tells how many times as fast a value is as another: above 1 is faster.
func ratio(value, other float64, higher bool) float64 {
	if higher {
		return value / other
	}
	return other / value
}

// sentence says the ratio to the fastest, and the place and the ratio to the median where the
// value is not ahead of all.
func sentence(st bench.Standing, t bench.ReferenceTable) string {
	figures := fmt.Sprintf("%d figures", st.Count)
	if st.Count == 1 {
		figures = "1 figure"
	}
	text := fmt.Sprintf("%s x the fastest of %s (%s; %s)", short(st.RatioToFastest), figures, t.Title, t.Source)
	if st.Rank == 1 || st.Count == 1 {
		return text
	}
	return fmt.Sprintf("%s, place %d of %d, %s x the median", text, st.Rank, st.Count+1, short(st.RatioToMedian))
}

// short writes a ratio with two significant digits, or all before the point.
func short(f float64) string {
	if f == 0 || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return fmt.Sprintf("%.*f", max(0, 1-int(math.Floor(math.Log10(f)))), f)
}
