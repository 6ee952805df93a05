package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// exactSize is the size of both samples up to which the exact distribution of U is worked
// out. Beyond, it takes milliseconds a case, and the normal approximation is as good. With
// equal values among them that approximation, corrected for ties, serves for all sizes: the
// exact one of the library then depends on which sample comes first.
const exactSize = 20

// mannWhitney is the two-sided p-value of the Mann-Whitney U test for two samples, each of
// at least one value. Samples that are all equal do not differ.
func mannWhitney(a, b []float64) float64 {
	u, ties := ranks(a, b)
	if len(ties) == 0 && max(len(a), len(b)) <= exactSize {
		r, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
		if err != nil {
			return 1
		}
		return min(1, r.P)
	}
	n1, n2 := float64(len(a)), float64(len(b))
	n := n1 + n2
	correction := 0.0
	for _, t := range ties {
		correction += t*t*t - t
	}
	sd := math.Sqrt(n1 * n2 / 12 * (n + 1 - correction/(n*(n-1))))
	if sd == 0 {
		return 1
	}
	z := max(0, math.Abs(u-n1*n2/2)-0.5) / sd
	return math.Erfc(z / math.Sqrt2)
}

// ranks gives the U of the first sample, and the sizes of the groups of equal values.
func ranks(a, b []float64) (u float64, ties []float64) {
	type value struct {
		v     float64
		first bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int {
		switch {
		case x.v < y.v:
			return -1
		case x.v > y.v:
			return 1
		}
		return 0
	})
	sum := 0.0
	for i := 0; i < len(all); {
		j, firsts := i, 0
		for ; j < len(all) && all[j].v == all[i].v; j++ {
			if all[j].first {
				firsts++
			}
		}
		sum += float64(firsts) * float64(i+1+j) / 2
		if j-i > 1 {
			ties = append(ties, float64(j-i))
		}
		i = j
	}
	return sum - float64(len(a)*(len(a)+1))/2, ties
}
