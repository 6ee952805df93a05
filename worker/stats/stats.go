// Package stats turns samples into figures with intervals.
//
// It is pure: the same samples give the same figures on any machine, since the random
// numbers of the bootstrap come from a fixed seed.
//
// Samples come in forks (fresh processes) and, within a fork, in slices. Two slices of one
// fork are more alike than two of different forks, so an interval that takes every slice for
// independent is too narrow. Median therefore counts forks; PooledT is there for results
// that are to be set beside JMH's.
package stats

import (
	"fmt"
	"math"
	"slices"

	"benchd/worker/bench"
)

// MinSamples is the least number of samples that bounds are given for: below six, the order
// statistics of the sample do not reach a two-sided interval of 95 % for the median.
const MinSamples = 6

// A Figure is a value with its interval. Low and High are nil, with a Reason, where the
// samples do not carry an interval.
type Figure struct {
	Value     *float64
	Low, High *float64
	N         int    // samples behind the value
	Reason    string // why the value or a bound is nil
	Note      string // what a reader of the interval must know; empty when there is nothing
}

// Median gives the median of all samples and its interval at the confidence level, 0 < c < 1.
//
// The standard error comes from the bootstrap over the levels of the data (see bootstrap),
// the interval from Student's t with one degree of freedom less than there are forks: three
// forks tell little about how forks differ, and the interval says so, as Kalibera and Jones
// do (Rigorous Benchmarking in Reasonable Time, ISMM 2013). Rates and times cannot be
// negative, so where every sample is positive the interval is made of logarithms: its lower
// bound is above zero, and that of a rate is one over the upper bound of the time.
func Median(forks [][]float64, confidence float64) Figure {
	e, n := medianOf(forks)
	f := e.figure(n, confidence)
	if len(filled(forks)) == 1 && f.Low != nil {
		f.Note = "one fork: the interval tells how its slices differ, not how forks do"
	}
	return f
}

// PooledT gives the mean of all samples and its interval by Student's t over all of them, as
// JMH prints it: t(1−(1−c)/2, N−1)·s/√N. It takes every slice for independent. JMH needs
// three samples; here bounds need MinSamples as everywhere.
func PooledT(forks [][]float64, confidence float64) Figure {
	e, n := pooledOf(forks)
	return e.figure(n, confidence)
}

// Of gives value and interval in the way that a plan asks for: PooledT, or else Median.
func Of(interval bench.Interval, forks [][]float64, confidence float64) Figure {
	if interval == bench.PooledT {
		return PooledT(forks, confidence)
	}
	return Median(forks, confidence)
}

// Mean gives the arithmetic mean over several groups' values, each group the forks of one
// trial, as SciMark makes its composite of its kernels' scores; the groups' values are those
// of the given interval. Since the trials were measured one after another and vary
// independently, the squares of their standard errors add up, and so do what they know of
// them: five trials of three forks have more than two degrees of freedom together
// (Satterthwaite, Biometrics Bulletin 2, 1946).
func Mean(interval bench.Interval, groups [][][]float64, confidence float64) Figure {
	if len(groups) == 0 {
		return Figure{Reason: "it has no members"}
	}
	mean, least := estimate{log: true}, math.MaxInt
	var squares, fourths float64
	for _, forks := range groups {
		e, n := estimateOf(interval, forks)
		if n == 0 {
			return e.figure(n, confidence)
		}
		least = min(least, n)
		err := e.linear()
		mean.value += e.value / float64(len(groups))
		squares += err * err
		fourths += err * err * err * err / float64(max(1, e.degrees))
		mean.log = mean.log && e.log
		mean.least = min(mean.least, e.least)
	}
	mean.err = math.Sqrt(squares) / float64(len(groups))
	if mean.log {
		mean.err /= mean.value
	}
	if fourths > 0 {
		mean.degrees = int(squares * squares / fourths)
	}
	return mean.figure(least, confidence)
}

// widest is the factor from the value to a bound beyond which bounds tell nothing: with two
// forks that differ by a third, Student's t would put the upper one a hundred times higher than the value.
const widest = 10

// bound sets the interval, widened to hold the value, or says why there is none.
func (f *Figure) bound(low, high float64) {
	v := *f.Value
	switch {
	case f.N < MinSamples:
		f.Reason = fmt.Sprintf("an interval needs %d samples, there are %d", MinSamples, f.N)
	case math.IsInf(high-low, 0) || math.IsNaN(high-low), v > 0 && (high > v*widest || low < v/widest):
		f.Reason = "the samples differ so much that an interval would reach beyond ten times the value or below its tenth; measure more forks"
	default:
		f.Low, f.High = ptr(min(low, *f.Value)), ptr(max(high, *f.Value))
	}
}

// filled are the forks that have samples.
func filled(forks [][]float64) [][]float64 {
	return slices.DeleteFunc(slices.Clone(forks), func(f []float64) bool { return len(f) == 0 })
}

// Middle is the median of values in any order, which are left as they are; 0 of none.
func Middle(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return quantile(slices.Sorted(slices.Values(v)), 0.5)
}

// quantile reads a quantile of sorted values by linear interpolation at rank p·(n−1)
// (Hyndman and Fan, 1996, definition 7).
func quantile(sorted []float64, p float64) float64 {
	rank := p * float64(len(sorted)-1)
	i := int(rank)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := rank - float64(i)
	return sorted[i]*(1-part) + sorted[i+1]*part
}

func ptr(v float64) *float64 { return &v }
