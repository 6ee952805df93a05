package steady

import (
	"math"
	"slices"
)

// PELT gives the first index of every segment after the first in the cut of the values that
// has the least cost: for each segment twice the negative log-likelihood of a normal
// distribution with a mean and a variance of its own, and for each change the penalty.
// Segments have at least shortest values, and no variance counts as smaller than floor, so
// that a run of equal values is nothing special.
//
// It is the exact search of Killick, Fearnhead and Eckley, Optimal Detection of Changepoints
// With a Linear Computational Cost, JASA 107, 2012: the best cut of the first t values ends
// with a segment that begins at some s, and an s that has once cost more than the best cut by
// then, without the penalty, is never looked at again.
func PELT(values []float64, penalty float64, shortest int, floor float64) []int {
	n := len(values)
	shortest = max(1, shortest)
	c := newCosts(values, floor)
	best := make([]float64, n+1) // cost of the best cut of the first t values
	from := make([]int, n+1)     // where its last segment begins
	best[0] = -penalty
	starts := []candidate{{0, math.MaxInt}}
	for t := shortest; t <= n; t++ {
		best[t] = math.Inf(1)
		for _, s := range starts {
			if cost := best[s.at] + c.segment(s.at, t) + penalty; cost < best[t] {
				best[t], from[t] = cost, s.at
			}
		}
		starts = prune(starts, best, c, t, shortest)
		if next := t - shortest + 1; next >= shortest {
			starts = append(starts, candidate{next, math.MaxInt})
		}
	}
	var changes []int
	for t := n; t > 0 && from[t] > 0; t = from[t] {
		changes = append(changes, from[t])
	}
	slices.Reverse(changes)
	return changes
}

// A candidate is a place where the last segment may begin, and how long it stays one.
type candidate struct{ at, until int }

// prune drops the candidates that cannot win any more. One that lost at t loses at every end
// that leaves room for a segment from t on, so it stays until then.
func prune(starts []candidate, best []float64, c costs, t, shortest int) []candidate {
	for i, s := range starts {
		if s.until == math.MaxInt && best[s.at]+c.segment(s.at, t) >= best[t] {
			starts[i].until = t + shortest
		}
	}
	return slices.DeleteFunc(starts, func(s candidate) bool { return s.until <= t+1 })
}

// costs holds sums from the first value on, so that any segment's cost takes no loop.
type costs struct {
	sum, squares []float64
	floor        float64
}

// newCosts sums up the values' distances from their mean, which keeps the digits that a
// small variance of large values needs.
func newCosts(values []float64, floor float64) costs {
	c := costs{make([]float64, len(values)+1), make([]float64, len(values)+1), max(floor, math.SmallestNonzeroFloat64*1e16)}
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for i, v := range values {
		c.sum[i+1] = c.sum[i] + v - mean
		c.squares[i+1] = c.squares[i] + (v-mean)*(v-mean)
	}
	return c
}

// segment is the cost of the values from index a up to b: n·ln(2πσ²) + Σ(x−µ)²/σ².
func (c costs) segment(a, b int) float64 {
	n := float64(b - a)
	sum := c.sum[b] - c.sum[a]
	squares := max(0, c.squares[b]-c.squares[a]-sum*sum/n)
	variance := max(c.floor, squares/n)
	return n*math.Log(2*math.Pi*variance) + squares/variance
}
