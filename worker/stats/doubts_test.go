package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

// codes are the codes of a trial's doubts.
func codes(forks [][]float64) string {
	var out []string
	for _, d := range stats.Doubts(bench.Bootstrap, forks) {
		code, _, _ := strings.Cut(d, ": ")
		out = append(out, code)
	}
	return strings.Join(out, " ")
}

// jumping gives forks of twenty samples that are on one of two levels by the toss of a coin.
func jumping(rng *rand.Rand, forks int, low, high, noise float64) [][]float64 {
	out := make([][]float64, forks)
	for i := range out {
		for range 20 {
			v := low
			if rng.IntN(2) == 1 {
				v = high
			}
			out[i] = append(out[i], v+noise*rng.NormFloat64())
		}
	}
	return out
}

func TestDoubts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 15))
	wave := make([]float64, 60)
	for i := range wave {
		wave[i] = 100 + 5*math.Sin(float64(i)/5) + 0.5*rng.NormFloat64()
	}
	two := jumping(rng, 1, 2.9, 3.4, 0.02)[0]
	for _, tt := range []struct {
		name  string
		forks [][]float64
		want  string
	}{
		{"nothing", nil, ""},
		{"a few samples", [][]float64{{1, 2, 3}, {1, 2, 3}}, ""},
		{"equal samples", [][]float64{slices.Repeat([]float64{7}, 30)}, ""},
		{"jumps between 2.9 and 3.4", jumping(rng, 3, 2.9, 3.4, 0.02), "bimodal"},
		{"the same in ten samples", [][]float64{{2.9, 3.41, 2.91, 2.89, 3.4, 3.39, 2.9, 3.42, 2.92, 3.4}}, "bimodal"},
		{"levels too close to matter", jumping(rng, 3, 100, 100.5, 0.02), ""},
		{"one sorted fork steps once, which is no jumping", [][]float64{slices.Sorted(slices.Values(two))}, "autocorrelated"},
		{"three forks that differ", [][]float64{{100, 101, 100, 99, 100, 101, 99, 100}, {110, 111, 109, 110, 111, 110, 109, 110}, {100, 101, 99, 100, 101, 100, 99, 100}}, ""},
		{"a slow wave", [][]float64{wave}, "autocorrelated"},
		{"independent samples", cell{"normal", 0, 3, 20}.trial(rng), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := codes(tt.forks); got != tt.want {
				t.Errorf("doubts %q, want %q: %v", got, tt.want, stats.Doubts(bench.Bootstrap, tt.forks))
			}
		})
	}
}

// TestDoubtsInNumbers: a doubt says what was seen and what it means.
func TestDoubtsInNumbers(t *testing.T) {
	t.Parallel()
	forks := [][]float64{slices.Repeat([]float64{2.9, 2.9, 2.9, 2.9, 2.9, 3.4, 3.4, 3.4, 3.4, 3.4}, 4)}
	want := []string{
		"bimodal: 20 samples lie around 2.9 and 20 around 3.4, 17.2 % apart, with hardly any between, and change sides 7 times: the median is one of two answers",
		"autocorrelated: neighbouring slices are alike, with a correlation of 0.65 within forks: 40 samples say as much as some 8 independent ones; with one fork the interval is too narrow by a factor of about 2.2",
	}
	if got := stats.Doubts(bench.Bootstrap, forks); !slices.Equal(got, want) {
		t.Errorf("doubts %q", got)
	}
	if got := stats.Doubts(bench.PooledT, append(forks, forks...)); !strings.Contains(got[1], "independent ones; the interval, which pools all slices, is too narrow by") {
		t.Errorf("doubts of a pooled interval %q", got)
	}
}

// TestDoubtsOfOneLevel: independent samples around one level, of whatever shape, are doubted
// less than once in a hundred trials.
func TestDoubtsOfOneLevel(t *testing.T) {
	t.Parallel()
	trials := 400
	if *full {
		trials = 5000
	}
	shapes := map[string]func(rng *rand.Rand) float64{
		"normal":      func(rng *rand.Rand) float64 { return rng.NormFloat64() },
		"uniform":     func(rng *rand.Rand) float64 { return 3 * rng.Float64() },
		"skewed":      func(rng *rand.Rand) float64 { return math.Exp(0.7 * rng.NormFloat64()) },
		"exponential": func(rng *rand.Rand) float64 { return -rng.ExpFloat64() },
		"heavy tails": func(rng *rand.Rand) float64 { return cell{noise: "heavy"}.deviation(rng) },
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := map[string]int{}
			all := 0
			for _, size := range [][2]int{{1, 10}, {1, 20}, {1, 60}, {3, 6}, {3, 10}, {3, 20}, {10, 10}, {5, 60}} {
				rng := rand.New(rand.NewPCG(uint64(size[0]), uint64(size[1])))
				for range trials {
					forks := make([][]float64, size[0])
					for i := range forks {
						level := 100 + 2*rng.NormFloat64()
						for range size[1] {
							forks[i] = append(forks[i], level+2*shape(rng))
						}
					}
					for code := range strings.FieldsSeq(codes(forks)) {
						count[code]++
					}
					all++
				}
			}
			for _, code := range []string{"bimodal", "autocorrelated"} {
				rate := float64(count[code]) / float64(all)
				t.Logf("%s: %.2f %% of %d trials", code, 100*rate, all)
				if rate >= 0.01 {
					t.Errorf("%.1f %% are called %s", 100*rate, code)
				}
			}
		})
	}
}

// TestDoubtsFindTwoLevels: two levels eight standard deviations apart are told, and samples
// each half like the one before.
func TestDoubtsFindTwoLevels(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	two, alike := 0, 0
	for range 500 {
		if strings.Contains(codes(jumping(rng, 3, 100, 108, 1)), "bimodal") {
			two++
		}
		forks := cell{"normal", 0, 3, 40}.trial(rng)
		for _, f := range forks {
			for i := 1; i < len(f); i++ {
				f[i] = 100 + 0.6*(f[i-1]-100) + 0.8*(f[i]-100)
			}
		}
		if strings.Contains(codes(forks), "autocorrelated") {
			alike++
		}
	}
	t.Logf("of 500: bimodal %d, autocorrelated %d", two, alike)
	if two < 490 || alike < 490 {
		t.Error("doubts were missed")
	}
}
