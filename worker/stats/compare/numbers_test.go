package compare_test

import (
	"math"
	"testing"

	"github.com/aclements/go-moremath/stats"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"benchd/worker/stats/compare"
)

// The fifteen p-values of Benjamini and Hochberg (1995), section 4: the procedure rejects
// the first four at q = 0.05, where Bonferroni's rejects three.
func TestAdjustPublished(t *testing.T) {
	t.Parallel()
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	got := compare.Adjust(p)
	want := []float64{0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.063857, 0.063857, 0.0645, 0.0765, 0.486, 0.581182, 0.714875, 0.753231, 0.813214, 1}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); d != "" {
		t.Error(d)
	}
	rejected := 0
	for _, v := range got {
		if v <= 0.05 {
			rejected++
		}
	}
	if rejected != 4 {
		t.Errorf("rejected %d, want 4", rejected)
	}
}

func TestAdjustProperties(t *testing.T) {
	t.Parallel()
	if got := compare.Adjust(nil); len(got) != 0 {
		t.Errorf("of no test came %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 60).Draw(t, "p")
		got := compare.Adjust(p)
		for i := range p {
			if got[i] < p[i] || got[i] > 1 {
				t.Fatalf("p %v became %v", p[i], got[i])
			}
			for k := range p {
				if p[i] < p[k] && got[i] > got[k] {
					t.Fatalf("%v and %v changed their order: %v, %v", p[i], p[k], got[i], got[k])
				}
			}
		}
	})
}

// Quantiles of Student's t and F as in any table, values of digamma and trigamma from
// Abramowitz and Stegun, table 6.1.
func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"t of 1 at 95 %", compare.Quantile(0.05, 1), 12.706205},
		{"t of 2 at 99 %", compare.Quantile(0.01, 2), 9.924843},
		{"t of 9 at 99 %", compare.Quantile(0.01, 9), 3.249836},
		{"t of 24 at 99.9 %", compare.Quantile(0.001, 24), 3.745399},
		{"normal at 95 %", compare.Quantile(0.05, math.Inf(1)), 1.959964},
		{"beyond t of 4", compare.TwoSided(-2.776445, 4), 0.05},
		{"no difference", compare.TwoSided(0, 4), 1},
		{"F of 4 and 20 at 5 %", compare.UpperF(2.866081, 4, 20), 0.05},
		{"digamma of 1, less Euler's constant", compare.Digamma(1), -0.5772157},
		{"digamma of 2", compare.Digamma(2), 0.4227843},
		{"trigamma of 1", compare.Trigamma(1), math.Pi * math.Pi / 6},
		{"trigamma of a half", compare.Trigamma(0.5), math.Pi * math.Pi / 2},
		{"and back", compare.InverseTri(math.Pi * math.Pi / 2), 0.5},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6 {
			t.Errorf("%s: %.7f, want %.7f", tt.name, tt.got, tt.want)
		}
	}
}

// The least p for samples of n that do not overlap is that of the exact test.
func TestMannWhitneyLeast(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{3: 0.1, 4: 0.0285714, 5: 0.0079365, 6: 0.0021645, 9: 4.1135e-05} {
		var a, b []float64
		for i := range n {
			a, b = append(a, float64(i)), append(b, float64(100+i))
		}
		if got := compare.MannWhitney(a, b); math.Abs(got-want) > 1e-6 {
			t.Errorf("%d a side: %v, want %v", n, got, want)
		}
	}
	same := []float64{7, 7, 7, 7, 7, 7}
	if got := compare.MannWhitney(same, same); got != 1 {
		t.Errorf("equal constants: p %v, want 1", got)
	}
	var long []float64
	for range 60 {
		long = append(long, 7)
	}
	if got := compare.MannWhitney(long, long); got != 1 {
		t.Errorf("many equal constants: p %v, want 1", got)
	}
}

// With ties and more than 25 samples on a side the library approximates too: the same.
func TestMannWhitneyAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		coarse := rapid.Map(rapid.IntRange(0, 20), func(i int) float64 { return float64(i) })
		a := rapid.SliceOfN(coarse, 26, 40).Draw(t, "a")
		b := rapid.SliceOfN(coarse, 6, 40).Draw(t, "b")
		r, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
		want := 1.0
		if err == nil {
			want = min(1, r.P)
		}
		got := compare.MannWhitney(a, b)
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("p %v, the library says %v", got, want)
		}
		if back := compare.MannWhitney(b, a); math.Abs(back-got) > 1e-12 {
			t.Fatalf("p %v one way, %v the other", got, back)
		}
	})
}
