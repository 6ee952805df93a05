package steady_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/worker/stats/steady"
)

// TestPELT checks cuts that can be worked out by hand.
func TestPELT(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		values  []float64
		penalty float64
		want    []int
	}{
		{"nothing", nil, 10, nil},
		{"fewer than two segments", []float64{1, 2, 9}, 10, nil},
		{"one level", []float64{1, 2, 1, 2, 1, 2, 1, 2}, 10, nil},
		{"a change of the mean", []float64{1, 2, 1, 2, 1, 9, 8, 9, 8, 9}, 10, []int{5}},
		{"a change of the variance", []float64{1, 1.1, 1, 1.1, 1, 1.1, -50, 52, -50, 52, -50, 52}, 10, []int{6}},
		{"the same for a high price", []float64{1, 2, 1, 2, 1, 9, 8, 9, 8, 9}, 100, nil},
		{"two changes", []float64{1, 2, 1, 2, 9, 8, 9, 8, 1, 2, 1, 2}, 5, []int{4, 8}},
		{"equal values", []float64{5, 5, 5, 5, 5, 5, 5}, 10, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, steady.PELT(tt.values, tt.penalty, 2, 1e-6)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestCostOfChange: two levels 7.2 apart, with a variance of 0.24 each, cost
// 10·ln((0.24+3.6²)/0.24) less as two segments than as one. That is the penalty at which the
// change goes.
func TestCostOfChange(t *testing.T) {
	t.Parallel()
	values := []float64{1, 2, 1, 2, 1, 9, 8, 9, 8, 9} // means 1.4 and 8.6, variances 0.24
	gain := 10 * math.Log((0.24+3.6*3.6)/0.24)
	for _, tt := range []struct {
		penalty float64
		want    []int
	}{{gain - 0.01, []int{5}}, {gain + 0.01, nil}} {
		if d := cmp.Diff(tt.want, steady.PELT(values, tt.penalty, 2, 1e-9)); d != "" {
			t.Errorf("penalty %.3f: %s", tt.penalty, d)
		}
	}
}

// TestPELTIsOptimal compares the cost of the cut with that of the best of all cuts.
func TestPELTIsOptimal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var values []float64
		for _, level := range rapid.SliceOfN(rapid.IntRange(0, 3), 1, 6).Draw(t, "levels") {
			for _, v := range rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 9).Draw(t, "values") {
				values = append(values, float64(level)+v)
			}
		}
		penalty := rapid.Float64Range(0, 20).Draw(t, "penalty")
		shortest := rapid.IntRange(1, 4).Draw(t, "shortest")
		if len(values) < shortest {
			return
		}
		cut := steady.PELT(values, penalty, shortest, 1e-3)
		got, want := costOf(values, cut, penalty, 1e-3), leastCost(values, penalty, shortest, 1e-3)
		if math.Abs(got-want) > 1e-6 {
			t.Fatalf("the cut %v costs %v, the best %v", cut, got, want)
		}
		if i := slices.IndexFunc(lengths(cut, len(values)), func(l int) bool { return l < shortest }); i >= 0 {
			t.Fatalf("the cut %v has a segment of less than %d values", cut, shortest)
		}
	})
}

func lengths(cut []int, n int) []int {
	var out []int
	last := 0
	for _, c := range append(slices.Clone(cut), n) {
		out = append(out, c-last)
		last = c
	}
	return out
}

// segmentCost is the definition, two passes over the values.
func segmentCost(v []float64, floor float64) float64 {
	n, mean, squares := float64(len(v)), 0.0, 0.0
	for _, x := range v {
		mean += x / n
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	variance := max(floor, squares/n)
	return n*math.Log(2*math.Pi*variance) + squares/variance
}

func costOf(v []float64, cut []int, penalty, floor float64) float64 {
	cost, last := float64(len(cut))*penalty, 0
	for _, c := range append(slices.Clone(cut), len(v)) {
		cost += segmentCost(v[last:c], floor)
		last = c
	}
	return cost
}

// leastCost tries every place of the last segment, without pruning.
func leastCost(v []float64, penalty float64, shortest int, floor float64) float64 {
	best := make([]float64, len(v)+1)
	best[0] = -penalty
	for t := 1; t <= len(v); t++ {
		best[t] = math.Inf(1)
		for s := range t {
			if t-s >= shortest {
				best[t] = min(best[t], best[s]+segmentCost(v[s:t], floor)+penalty)
			}
		}
	}
	return best[len(v)]
}
