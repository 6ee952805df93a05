package stats

import (
	"math"
	"slices"
)

// Modes are two levels between which samples jump.
type Modes struct {
	Low, High float64 // means of the samples on either level
	Between   float64 // the middle of the gap: samples below it are on the low level
	NLow      int     // samples on the low level
	NHigh     int
}

// When samples are on two levels. The separation is that of the two means in standard
// deviations around them: half a normal distribution is 2.6 of them from the other half, and
// half a uniform one 3.5, which is the most for a distribution of one broad top. Few samples
// fall apart into halves by chance, so the fewer there are the more is asked: with these
// figures fewer than one in a hundred sets of 8 or more normal, uniform, exponential or
// heavy-tailed samples are taken for two levels.
const (
	minModal      = 8    // samples, at least
	leastOnLevel  = 0.15 // part of the samples on either level, at least
	minGap        = 0.01 // distance of the levels, relative to the value, that matters
	separation    = 4.0  // standard deviations between the levels
	fewSamples    = 60.0 // and this over the number of samples more
	emptyPart     = 0.4  // of the way between the levels, around its middle …
	mostInBetween = 0.06 // … holds at most this part of the samples
)

// TwoModes tells whether samples lie on two levels with nothing between, and on which. It
// cuts the sorted samples where the two halves vary least (Otsu, A Threshold Selection
// Method from Gray-Level Histograms, IEEE SMC 9, 1979) and asks that both halves hold a fair
// part of them, that they are far apart for how little they vary, and that hardly a sample
// lies in the middle between them.
func TwoModes(samples []float64) (Modes, bool) {
	if len(samples) < minModal {
		return Modes{}, false
	}
	s := slices.Sorted(slices.Values(samples))
	at, within := otsu(s)
	low, high := mean(s[:at]), mean(s[at:])
	m := Modes{Low: low, High: high, Between: (s[at-1] + s[at]) / 2, NLow: at, NHigh: len(s) - at}
	n := float64(len(s))
	switch {
	case float64(min(m.NLow, m.NHigh)) < max(2, leastOnLevel*n),
		high-low < minGap*math.Abs(Middle(s)),
		high-low < (separation+fewSamples/n)*math.Sqrt(within/n):
		return Modes{}, false
	}
	lowest, highest := low+(1-emptyPart)/2*(high-low), high-(1-emptyPart)/2*(high-low)
	between := 0
	for _, v := range s {
		if v > lowest && v < highest {
			between++
		}
	}
	return m, float64(between) <= mostInBetween*n
}

// otsu gives the cut of sorted values that leaves the least squares around the two means,
// and those squares.
func otsu(sorted []float64) (at int, within float64) {
	total := mean(sorted)
	sum, squares := 0.0, 0.0
	for _, v := range sorted {
		squares += (v - total) * (v - total)
	}
	at, best := 1, math.Inf(-1)
	for i := 1; i < len(sorted); i++ {
		sum += sorted[i-1] - total
		between := sum * sum * float64(len(sorted)) / (float64(i) * float64(len(sorted)-i))
		if between > best {
			at, best = i, between
		}
	}
	return at, max(0, squares-best)
}

func mean(v []float64) float64 {
	m, _ := moments(v)
	return m
}
