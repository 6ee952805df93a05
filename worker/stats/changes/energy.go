package changes

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// strongest gives the cut of the values with the most energy, and the end of its right side:
// over all at and end it has the largest
//
//	Q = at·(end−at)/end · (2·mean|x−y| − mean|x−x′| − mean|y−y′|)
//
// for x on the left and y on the right of it, each pair once. The right side may end before
// the values do, so that a later change back does not hide the first. It is 0 when there are
// too few values for a cut.
func strongest(values []float64) (at, end int) {
	n, best := len(values), 0.0
	if n < 2*shortest {
		return 0, 0
	}
	away := distances(values)
	left := 0.0 // over the pairs left of the cut
	for cut := 1; cut+shortest <= n; cut++ {
		left += away.sum(cut-1, 0, cut-1)
		if cut < shortest {
			continue
		}
		cross, right := 0.0, 0.0 // from the left to the right, and over the pairs right of it
		for stop := cut + 1; stop <= n; stop++ {
			cross += away.sum(stop-1, 0, cut)
			right += away.sum(stop-1, cut, stop-1)
			if stop-cut < shortest {
				continue
			}
			l, r := float64(cut), float64(stop-cut)
			q := l * r / (l + r) * (2*cross/(l*r) - 2*left/(l*(l-1)) - 2*right/(r*(r-1)))
			if q > best {
				best, at, end = q, cut, stop
			}
		}
	}
	return at, end
}

// A table of distances holds, for each value, the sums of its distances from the first ones.
type table struct {
	n    int
	sums []float64
}

func distances(values []float64) table {
	t := table{len(values) + 1, make([]float64, len(values)*(len(values)+1))}
	for i, v := range values {
		row := t.sums[i*t.n : (i+1)*t.n]
		for j, w := range values {
			row[j+1] = row[j] + math.Abs(v-w)
		}
	}
	return t
}

// sum adds up the distances of value i from those from index a up to b.
func (t table) sum(i, a, b int) float64 { return t.sums[i*t.n+b] - t.sums[i*t.n+a] }

// tTest gives the two-sided P of Student's t-test with one variance for both sides. Sides
// without any spread differ for certain or not at all.
func tTest(a, b []float64) float64 {
	na, nb := float64(len(a)), float64(len(b))
	ma, sa := moments(a)
	mb, sb := moments(b)
	free := na + nb - 2
	if free < 1 || ma == mb {
		return 1
	}
	spread := math.Sqrt((sa + sb) / free * (1/na + 1/nb))
	t := math.Abs(ma-mb) / spread
	if math.IsInf(t, 0) || math.IsNaN(t) {
		return 0
	}
	return 2 * stats.TDist{V: free}.CDF(-t)
}

// moments gives the mean and the sum of the squares around it.
func moments(v []float64) (mean, squares float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return mean, squares
}
