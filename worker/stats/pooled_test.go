package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	moremath "github.com/aclements/go-moremath/stats"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

// alternating gives n samples of mean 100 and sample standard deviation 1 (n even).
func alternating(n int) []float64 {
	v := make([]float64, n)
	d := math.Sqrt(float64(n-1) / float64(n))
	for i := range v {
		v[i] = 100 + d*float64(1-2*(i%2))
	}
	return v
}

// TestPooledFactors checks the half-width that JMH prints for N scores of standard deviation
// s, as a multiple of s/√N, at its level of 99.9 %.
func TestPooledFactors(t *testing.T) {
	t.Parallel()
	uneven := append(alternating(24), 100)
	for _, tt := range []struct {
		name    string
		samples []float64
		factor  float64
	}{
		{"ten scores", alternating(10), 4.781},
		{"five forks of five, as JMH does", uneven, 3.745},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := float64(len(tt.samples))
			_, s := meanAndSpread(tt.samples)
			f := stats.PooledT([][]float64{tt.samples[:3], tt.samples[3:]}, 0.999)
			if got := (*f.High - *f.Value) / s * math.Sqrt(n); math.Abs(got-tt.factor) > 0.0006 {
				t.Errorf("factor %.4f, JMH has %.3f", got, tt.factor)
			}
			if math.Abs(*f.Value-100) > 1e-9 || f.N != len(tt.samples) || f.Reason != "" {
				t.Errorf("figure %+v", f)
			}
		})
	}
}

// TestPooledQuantiles compares the t-quantile at many degrees and levels with the inverse of
// the distribution by search.
func TestPooledQuantiles(t *testing.T) {
	t.Parallel()
	for _, n := range []int{6, 8, 12, 20, 60, 200, 2000} {
		for _, c := range []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999} {
			f := stats.PooledT([][]float64{alternating(n)}, c)
			got := (*f.High - *f.Value) * math.Sqrt(float64(n))
			want := moremath.InvCDF(moremath.TDist{V: float64(n - 1)})(1 - (1-c)/2)
			if math.Abs(got/want-1) > 2e-5 {
				t.Errorf("n %d, level %g: quantile %.6f, want %.6f", n, c, got, want)
			}
		}
	}
}

func TestPooledBounds(t *testing.T) {
	t.Parallel()
	for n, reason := range map[int]string{
		0: "no slice was measured",
		5: "an interval needs 6 samples, there are 5",
		6: "",
	} {
		f := stats.PooledT([][]float64{make([]float64, n)}, 0.999)
		if f.Reason != reason || (f.Value != nil) != (n > 0) || (f.Low != nil) != (reason == "") || (f.High != nil) != (reason == "") {
			t.Errorf("%d samples: %+v", n, f)
		}
	}
}

// TestOf: a plan's interval chooses the mean or the median.
func TestOf(t *testing.T) {
	t.Parallel()
	forks := [][]float64{{1, 1, 1, 1}, {1, 1, 2, 8}}
	if v := stats.Of(bench.PooledT, forks, 0.95).Value; *v != 2 {
		t.Errorf("pooled_t gave %v, not the mean", *v)
	}
	if v := stats.Of(bench.Bootstrap, forks, 0.95).Value; *v != 1 {
		t.Errorf("bootstrap gave %v, not the median", *v)
	}
}

// TestRatesAndTimes: a rate's interval is that of the time turned over.
func TestRatesAndTimes(t *testing.T) {
	t.Parallel()
	rates := [][]float64{{100, 101, 102}, {110, 111, 112}, {90, 91, 92}}
	times := make([][]float64, len(rates))
	for i, f := range rates {
		for _, v := range f {
			times[i] = append(times[i], 1/v)
		}
	}
	r, d := stats.Median(rates, 0.95), stats.Median(times, 0.95)
	if math.Abs(*r.Low**d.High-1) > 1e-9 || math.Abs(*r.High**d.Low-1) > 1e-9 {
		t.Errorf("rates %v to %v, times %v to %v", *r.Low, *r.High, *d.Low, *d.High)
	}
}

func BenchmarkMedian(b *testing.B) {
	forks := [][]float64{alternating(20), alternating(20), alternating(20)}
	for b.Loop() {
		stats.Median(forks, 0.95)
	}
}

func meanAndSpread(v []float64) (mean, spread float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		spread += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(spread)
}

// TestMeanCovers: the interval of a composite of five trials holds the true mean about as
// often as it says, and lies within the mean of its members' bounds.
func TestMeanCovers(t *testing.T) {
	t.Parallel()
	const trials = 600
	rng := rand.New(rand.NewPCG(11, 12))
	held := 0
	for range trials {
		groups := make([][][]float64, 5)
		sum := 0.0
		for g := range groups {
			truth := 1000.0 * float64(g+1)
			sum += truth
			for range 3 {
				level := truth * (1 + 0.01*rng.NormFloat64())
				fork := make([]float64, 20)
				for i := range fork {
					fork[i] = level * (1 + 0.02*rng.NormFloat64())
				}
				groups[g] = append(groups[g], fork)
			}
		}
		f := stats.Mean(bench.Bootstrap, groups, 0.95)
		low, high := 0.0, 0.0
		for _, g := range groups {
			m := stats.Median(g, 0.95)
			low, high = low+*m.Low/5, high+*m.High/5
		}
		if *f.Low < low || *f.High > high {
			t.Fatalf("interval %v to %v, the mean of the members' bounds is %v to %v", *f.Low, *f.High, low, high)
		}
		if *f.Low <= sum/5 && sum/5 <= *f.High {
			held++
		}
	}
	t.Logf("%.1f %% of %d intervals hold the true mean", 100*float64(held)/trials, trials)
	if held < trials*92/100 || held > trials*985/1000 {
		t.Errorf("%d of %d intervals at 95 %% hold the true mean", held, trials)
	}
}
