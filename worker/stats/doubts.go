package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"benchd/worker/bench"
)

const (
	// manyForks is the number of forks from which on two groups of forks are two levels, and
	// not just forks that differ.
	manyForks = 10
	// minJumps is how often samples must go from one level to the other: once is a step.
	minJumps = 3

	// minPairs is the least number of neighbouring slices that a correlation is told of.
	minPairs = 10
	// alike is the least correlation of neighbours that matters: with it, six samples carry
	// what four independent ones would.
	alike = 0.3
	// alikeErrors is how many standard errors it must be above chance: 3 are exceeded by
	// independent samples once in some seven hundred trials.
	alikeErrors = 3.0
)

// Doubts tells what speaks against taking the samples of a trial for draws around one level,
// each as "code: a sentence with numbers". The codes are bimodal, when samples jump between
// two levels with nothing between, and autocorrelated, when neighbouring slices are alike;
// what that means depends on how the interval is made.
func Doubts(interval bench.Interval, forks [][]float64) []string {
	forks = filled(forks)
	var out []string
	if s := bimodal(forks); s != "" {
		out = append(out, "bimodal: "+s)
	}
	if s := autocorrelated(interval, forks); s != "" {
		out = append(out, "autocorrelated: "+s)
	}
	return out
}

// bimodal looks at all samples together. Where each fork keeps to one of the two levels, few
// forks are no evidence of there being just two: that forks differ is in the interval.
func bimodal(forks [][]float64) string {
	pool := slices.Concat(forks...)
	m, two := TwoModes(pool)
	if !two {
		return ""
	}
	jumps, torn := 0, len(forks) >= manyForks
	for i, v := range pool {
		if i > 0 && (v < m.Between) != (pool[i-1] < m.Between) {
			jumps++
		}
	}
	for _, f := range forks {
		low, high := 0, 0
		for _, v := range f {
			if v < m.Between {
				low++
			} else {
				high++
			}
		}
		torn = torn || min(low, high) >= 2
	}
	if !torn || jumps < minJumps {
		return ""
	}
	return fmt.Sprintf("%d samples lie around %.4g and %d around %.4g, %.1f %% apart, with hardly any between, and change sides %d times: the median is one of two answers",
		m.NLow, m.Low, m.NHigh, m.High, 100*(m.High-m.Low)/math.Abs(m.Low), jumps)
}

// autocorrelated works with the ranks within each fork, on which a few outliers and the
// shape of the distribution have no influence.
func autocorrelated(interval bench.Interval, forks [][]float64) string {
	r, pairs, count := neighbours(forks)
	if pairs < minPairs || r < alike || r*math.Sqrt(float64(count)) < alikeErrors {
		return ""
	}
	r = min(r, 0.99)
	what := "the interval counts forks and allows for it; one that pools all slices would be too narrow"
	switch {
	case interval == bench.PooledT:
		what = "the interval, which pools all slices, is too narrow"
	case len(forks) == 1:
		what = "with one fork the interval is too narrow"
	}
	return fmt.Sprintf("neighbouring slices are alike, with a correlation of %.2f within forks: %d samples say as much as some %.0f independent ones; %s by a factor of about %.1f",
		r, count, max(1, float64(count)*(1-r)/(1+r)), what, math.Sqrt((1+r)/(1-r)))
}

// neighbours gives the lag-one correlation of the ranks within forks over all forks, the
// number of neighbouring pairs, and that of samples. Around the mean of n samples of its own
// a fork of independent ones has −1/n on average, for which the sum makes up.
func neighbours(forks [][]float64) (r float64, pairs, count int) {
	along, all := 0.0, 0.0
	for _, f := range forks {
		if len(f) < 3 {
			continue
		}
		rank, variance := ranks(f), 0.0
		for i, v := range rank {
			variance += v * v
			if i > 0 {
				along += v * rank[i-1]
				pairs++
			}
		}
		along += variance / float64(len(f))
		all += variance
		count += len(f)
	}
	if all == 0 {
		return 0, pairs, count
	}
	return along / all, pairs, count
}

// ranks gives each value's rank around the middle one; equal values share theirs.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out, middle := make([]float64, len(v)), float64(len(v)-1)/2
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+j-1)/2 - middle
		}
		i = j
	}
	return out
}
