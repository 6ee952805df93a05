// Package stats turns samples into figures with intervals.
//
// It is pure: the same samples give the same figures on any machine, since the random
// numbers of the bootstrap come from a fixed seed.
//
// Samples come in forks (fresh processes) and, within a fork, in slices. Two slices of one
// fork are more alike than two of different forks, so an interval that pools them all is
// too narrow; the bootstrap here resamples forks first and slices within them second.
package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"benchd/worker/bench"
)

const (
	// MinSamples is the least number of samples that bounds are given for: below six, the
	// order statistics of the sample do not reach a two-sided interval of 95 % for the median.
	MinSamples = 6
	// Rounds is the number of bootstrap resamples.
	Rounds = 2000

	seed1, seed2 = 0x62656e63, 0x68640001
)

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
func Median(forks [][]float64, confidence float64) Figure {
	pool := slices.Concat(forks...)
	f := Figure{N: len(pool)}
	if len(pool) == 0 {
		f.Reason = "no slice was measured"
		return f
	}
	f.Value = ptr(median(pool))
	f.bound(Replicates(forks), confidence)
	return f
}

// Mean gives the arithmetic mean over several groups' medians, each group the forks of one
// trial, as SciMark makes its composite of its kernels' scores. Its interval comes from the
// groups' replicates, round by round, since the trials were measured one after another and
// vary independently.
func Mean(groups [][][]float64, confidence float64) Figure {
	var f Figure
	if len(groups) == 0 {
		f.Reason = "it has no members"
		return f
	}
	sum := 0.0
	means := make([]float64, Rounds)
	for i, forks := range groups {
		m := Median(forks, confidence)
		if m.Value == nil {
			return Figure{Reason: m.Reason}
		}
		if f.N == 0 || m.N < f.N {
			f.N = m.N
		}
		sum += *m.Value
		for r, v := range replicates(forks, uint64(i)) {
			means[r] += v / float64(len(groups))
		}
	}
	f.Value = ptr(sum / float64(len(groups)))
	f.bound(means, confidence)
	return f
}

// bound sets the interval to the percentiles of the replicates, widened to hold the value,
// or says why there is none.
func (f *Figure) bound(replicates []float64, confidence float64) {
	if f.N < MinSamples {
		f.Reason = tooFew(f.N)
		return
	}
	slices.Sort(replicates)
	tail := (1 - confidence) / 2
	f.Low = ptr(min(quantile(replicates, tail), *f.Value))
	f.High = ptr(max(quantile(replicates, 1-tail), *f.Value))
}

// Replicates gives the medians of Rounds resamples: forks drawn with replacement, then
// slices with replacement within each (Davison and Hinkley, Bootstrap Methods and their
// Application, 1997, section 3.8).
func Replicates(forks [][]float64) []float64 { return replicates(forks, 0) }

func replicates(forks [][]float64, stream uint64) []float64 {
	var filled [][]float64
	for _, f := range forks {
		if len(f) > 0 {
			filled = append(filled, f)
		}
	}
	if len(filled) == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed1, seed2+stream))
	out := make([]float64, Rounds)
	var draw []float64
	for r := range out {
		draw = draw[:0]
		for range filled {
			fork := filled[rng.IntN(len(filled))]
			for range fork {
				draw = append(draw, fork[rng.IntN(len(fork))])
			}
		}
		out[r] = medianInPlace(draw)
	}
	return out
}

func median(v []float64) float64 { return medianInPlace(slices.Clone(v)) }

func medianInPlace(v []float64) float64 {
	slices.Sort(v)
	return quantile(v, 0.5)
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

// PooledT gives the mean of all samples and its interval by Student's t over all of them, as
// JMH prints it: t(1−(1−c)/2, N−1)·s/√N. It takes every slice for independent.
func PooledT(forks [][]float64, confidence float64) Figure {
	pool := slices.Concat(forks...)
	f := Figure{N: len(pool)}
	if len(pool) == 0 {
		f.Reason = "no slice was measured"
		return f
	}
	mean, spread := moments(pool)
	f.Value = ptr(mean)
	if f.N < MinSamples {
		f.Reason = tooFew(f.N)
		return f
	}
	half := studentT(1-(1-confidence)/2, f.N-1) * spread / math.Sqrt(float64(f.N))
	f.Low, f.High = ptr(mean-half), ptr(mean+half)
	return f
}

// Of gives value and interval in the way that a plan asks for: Median or PooledT.
func Of(interval bench.Interval, forks [][]float64, confidence float64) Figure {
	if interval == bench.PooledT {
		return PooledT(forks, confidence)
	}
	return Median(forks, confidence)
}

// moments gives the mean and the sample standard deviation.
func moments(v []float64) (mean, spread float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sum / float64(max(1, len(v)-1)))
}

func tooFew(n int) string {
	return fmt.Sprintf("an interval needs %d samples, there are %d", MinSamples, n)
}
