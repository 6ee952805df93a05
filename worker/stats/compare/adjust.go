package compare

import "sort"

// Adjust adjusts the p-values of several tests for their number (Benjamini and Hochberg,
// Controlling the false discovery rate, 1995): of the tests whose adjusted value is at most
// q, a share of at most q is expected to be false. When nothing differs at all, that is the
// probability of any false one.
//
// The adjusted value of the k-th smallest of m is the least of p(j)·m/j over all j ≥ k.
func Adjust(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return p[order[a]] < p[order[b]] })
	out := make([]float64, len(p))
	least := 1.0
	for k := len(p); k > 0; k-- {
		i := order[k-1]
		least = min(least, p[i]*(float64(len(p))/float64(k)))
		out[i] = least
	}
	return out
}
