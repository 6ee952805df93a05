package changes

import (
	"math"
	"slices"

	"benchd/worker/stats"
)

const (
	// beside is how many neighbours on either side a value is held against: of three, one may
	// itself be an outlier.
	beside = 3
	// far is how many standard deviations an outlier is from its neighbours, as in the filter
	// of Hampel (The Influence Curve and Its Role in Robust Estimation, JASA 69, 1974).
	far = 4
	// seldom is the least number of values that there are for each outlier. Where there are
	// more outliers they are the noise, and the search must see it: otherwise the second mode
	// of a series, four times in a row by chance, would pass for a new level.
	seldom = 14
)

// A window is the values of one look, as they are and without outliers.
type window struct{ raw, quiet []float64 }

// p gives the P of the t-test of the values from an index up to a cut and from there up to an
// end, without outliers but for those on the level of the other side: they show that this
// level is nothing new, as in a series of two modes.
func (w window) p(from, at, to int) float64 {
	before, after := stats.Middle(w.quiet[from:at]), stats.Middle(w.quiet[at:to])
	return tTest(w.side(from, at, after, before), w.side(at, to, before, after))
}

// side gives the values of one side, and of its outliers those that are nearer to the other
// side's level than half the change.
func (w window) side(from, to int, other, own float64) []float64 {
	out := slices.Clone(w.quiet[from:to])
	for i, v := range w.raw[from:to] {
		if math.Abs(v-other) < math.Abs(other-own)/2 {
			out[i] = v
		}
	}
	return out
}

// calm gives the values of a look with those few replaced that are on the level of neither
// their neighbours before nor those after: one of them would make the spread of its side so
// large that no t-test finds a change. Of three values in a row on a level of their own each
// is near the median of its neighbours on one side, and a step keeps all its values. A value
// in its place is the median of all neighbours on the nearer side.
func calm(values []float64) []float64 {
	limit := far * noise(values)
	if limit == 0 {
		return values
	}
	out, replaced := slices.Clone(values), 0
	for i, v := range values {
		if m := nearer(values, i); math.Abs(v-m) > limit {
			out[i] = m
			replaced++
		}
	}
	if replaced*seldom > len(values) {
		return values
	}
	return out
}

// nearer gives the median of the values before or after one, whichever it is nearer to. The
// second value of a window has one before it, which may be the other half of an outlier; the
// last but one has one after it, which may be the other half of a step.
func nearer(values []float64, i int) float64 {
	before, after := values[max(0, i-beside):i], values[i+1:min(len(values), i+1+beside)]
	if len(before) < 2 {
		before = after
	}
	if len(after) == 0 {
		after = before
	}
	if len(before) == 0 {
		return values[i]
	}
	a, b := stats.Middle(before), stats.Middle(after)
	if math.Abs(values[i]-a) < math.Abs(values[i]-b) {
		return a
	}
	return b
}

// noise gives the standard deviation of values around levels that change seldom: the median
// of the steps from each value to the next over that of normal noise, 0.6745·√2. Where most
// values equal the next the median is 0, and the mean of the steps takes its place, over that
// of normal noise, 2/√π. It is 0 for equal values only.
func noise(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	steps, sum := make([]float64, len(values)-1), 0.0
	for i := range steps {
		steps[i] = math.Abs(values[i+1] - values[i])
		sum += steps[i]
	}
	if m := stats.Middle(steps); m > 0 {
		return m / (0.6745 * math.Sqrt2)
	}
	return sum / float64(len(steps)) / (2 / math.SqrtPi)
}
