package steady_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"benchd/worker/bench"
	"benchd/worker/stats/steady"
)

var (
	full = flag.Bool("full", false, "try twenty times as many series")
	show = flag.Bool("show", false, "print series that are classed otherwise than labelled")
)

// A kind makes labelled series: shapes without noise, in units of the noise's standard
// deviation or of the level, whichever is more. What counts as a change is what a person
// would see on a plot: a step of three standard deviations and 2 % at least, a slope, a
// swing of five from end to end, jumps to and fro of six or, when they come every few slices,
// of eight; four slices or a tenth of all on either side of a step. Noise with memory hides more: there all
// of it is a third more.
type kind struct {
	name  string
	label bench.Steady
	// shape gives the level of each slice around 1; least is the least size of a change.
	shape func(rng *rand.Rand, n int, least float64) []float64
}

// size draws the size of a change: mostly near the least, sometimes many times it.
func size(rng *rand.Rand, least float64) float64 { return least * (1 + rng.ExpFloat64()) }

// place draws a slice between two parts of the series, a few slices from its ends.
func place(rng *rand.Rand, n int, from, to float64) int {
	edge := max(4, n/10)
	low, high := max(edge, int(from*float64(n))), min(n-edge, int(to*float64(n)))
	return low + rng.IntN(max(1, high-low+1))
}

func level(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// step moves the level by a relative size from slice at on.
func step(v []float64, at int, by float64) []float64 {
	for i := at; i < len(v); i++ {
		v[i] += by
	}
	return v
}

// ramp moves the level evenly by a relative size until slice to.
func ramp(v []float64, to int, by float64) []float64 {
	for i := range v {
		v[i] += by * min(1, float64(i)/float64(to))
	}
	return v
}

func sign(rng *rand.Rand) float64 { return float64(1 - 2*rng.IntN(2)) }

func kinds() []kind {
	return []kind{
		{"flat", bench.Flat, func(_ *rand.Rand, n int, _ float64) []float64 { return level(n) }},
		{"spikes", bench.Flat, func(rng *rand.Rand, n int, least float64) []float64 {
			v := level(n)
			for range 1 + rng.IntN(1+n/30) {
				v[rng.IntN(n)] += sign(rng) * min(0.9, size(rng, 3*least))
			}
			return v
		}},
		{"step up early", bench.WarmedUp, func(rng *rand.Rand, n int, least float64) []float64 {
			return step(level(n), place(rng, n, 0, 0.4), size(rng, least))
		}},
		{"step down early", bench.SlowedDown, func(rng *rand.Rand, n int, least float64) []float64 {
			return step(level(n), place(rng, n, 0, 0.4), -min(0.8, size(rng, least)))
		}},
		{"step late", bench.NeverSteady, func(rng *rand.Rand, n int, least float64) []float64 {
			return step(level(n), place(rng, n, 0.6, 1), sign(rng)*min(0.8, size(rng, least)))
		}},
		{"two steps up", bench.WarmedUp, func(rng *rand.Rand, n int, least float64) []float64 {
			v := step(level(n), max(4, n/10), size(rng, least))
			return step(v, place(rng, n, 0.25, 0.4), size(rng, least))
		}},
		{"ramp early", bench.WarmedUp, func(rng *rand.Rand, n int, least float64) []float64 {
			return ramp(level(n), place(rng, n, 0.2, 0.35), size(rng, 2*least))
		}},
		{"ramp late", bench.NeverSteady, func(rng *rand.Rand, n int, least float64) []float64 {
			return ramp(level(n), place(rng, n, 0.8, 1), sign(rng)*min(0.8, size(rng, 5*least/3)))
		}},
		{"drift", bench.NeverSteady, func(rng *rand.Rand, n int, least float64) []float64 {
			return ramp(level(n), n, sign(rng)*min(0.8, size(rng, 5*least/3)))
		}},
		{"bistable", bench.NeverSteady, func(rng *rand.Rand, n int, least float64) []float64 {
			return bistable(rng, n, size(rng, 2*least), 4, 5+rng.Float64()*float64(n)/8)
		}},
		{"flickering", bench.NeverSteady, func(rng *rand.Rand, n int, least float64) []float64 {
			return bistable(rng, n, size(rng, 8*least/3), 1, 1+4*rng.Float64())
		}},
		{"cyclic", bench.NeverSteady, func(rng *rand.Rand, n int, least float64) []float64 {
			v, half := level(n), size(rng, 5*least/6)
			period := 4 + rng.Float64()*(float64(n)/3-4)
			phase := 2 * math.Pi * rng.Float64()
			for i := range v {
				v[i] += min(0.8, half) * math.Sin(phase+2*math.Pi*float64(i)/period)
			}
			return v
		}},
	}
}

// bistable jumps between two levels to the end, staying on each for some slices: at least
// four times in all, and once at least in the last quarter, a quarter of them on either.
func bistable(rng *rand.Rand, n int, down float64, shortest int, stay float64) []float64 {
	for {
		v, low, jumps, last, lows := level(n), rng.IntN(2) == 1, 0, 0, 0
		for i := range v {
			if i-last >= shortest && rng.Float64() < 1/(1+stay-float64(shortest)) {
				low, jumps, last = !low, jumps+1, i
			}
			if low {
				v[i] -= min(0.8, down)
				lows++
			}
		}
		if jumps >= 4 && last >= 3*n/4 && min(lows, n-lows) >= n/4 {
			return v
		}
	}
}

// A hiss is a kind of noise of standard deviation 1.
type hiss struct {
	name  string
	hides float64 // how much larger a change must be to be seen
	draw  func(rng *rand.Rand, n int) []float64
}

func independent(one func(rng *rand.Rand) float64) func(rng *rand.Rand, n int) []float64 {
	return func(rng *rand.Rand, n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = one(rng)
		}
		return v
	}
}

func hisses() []hiss {
	normal := func(rng *rand.Rand) float64 { return rng.NormFloat64() }
	return []hiss{
		{"normal", 1, independent(normal)},
		{"heavy tails", 1, independent(func(rng *rand.Rand) float64 { // Student's t, 4 degrees
			chi := 0.0
			for range 4 {
				x := rng.NormFloat64()
				chi += x * x
			}
			return rng.NormFloat64() / math.Sqrt(chi/2)
		})},
		{"skewed", 1, independent(func(rng *rand.Rand) float64 { return (1 - math.Exp(rng.NormFloat64()/2)) / 0.6 })},
		{"AR(1)", 1.33, func(rng *rand.Rand, n int) []float64 { // each like the one before by 0.4
			v := independent(normal)(rng, n)
			for i := 1; i < n; i++ {
				v[i] = 0.4*v[i-1] + math.Sqrt(1-0.16)*v[i]
			}
			return v
		}},
	}
}

// TestLabelled classes seeded series whose class is known, over kinds, noises and lengths.
func TestLabelled(t *testing.T) {
	t.Parallel()
	seeds := 10
	switch {
	case *full:
		seeds = 200
	case raced:
		seeds = 1
	}
	var right, all, unsteady, flat int
	t.Logf("%-16s right of %d series for each kind of noise", "kind", seeds*4*6)
	for _, k := range kinds() {
		line := fmt.Sprintf("%-16s", k.name)
		for _, h := range hisses() {
			good, total := 0, 0
			for _, n := range []int{30, 45, 60, 90, 120, 200} {
				for _, noise := range []float64{0.002, 0.01, 0.02, 0.05} {
					rng := rand.New(rand.NewPCG(uint64(n), math.Float64bits(noise)^uint64(len(k.name)*100+len(h.name))))
					for range seeds {
						v, err := k.shape(rng, n, h.hides*max(3*noise, 0.02)), h.draw(rng, n)
						for i := range v {
							v[i] = 1000 * (v[i] + noise*err[i])
						}
						s := steady.Classify(v)
						total++
						if k.label != bench.Flat {
							unsteady++
						}
						if *s.Class == k.label {
							good++
							continue
						}
						if k.label != bench.Flat && *s.Class == bench.Flat {
							flat++
							t.Logf("%s, %s, %d slices, noise %g: flat", k.name, h.name, n, noise)
						}
						if *show {
							t.Logf("%s, %s, noise %g: %s %v %q: %.0f", k.name, h.name, noise, *s.Class, s.Changes, s.Reason, v)
						}
					}
				}
			}
			line += fmt.Sprintf("  %s %5.1f %%", h.name, 100*float64(good)/float64(total))
			right, all = right+good, all+total
		}
		t.Log(line)
	}
	t.Logf("all: %.2f %% of %d series", 100*float64(right)/float64(all), all)
	t.Logf("flat: %d of %d that are not", flat, unsteady)
	if !*full && flat > 0 || flat > unsteady/5000 {
		t.Errorf("%d of %d series that are not flat are called so", flat, unsteady)
	}
	if float64(right) < 0.95*float64(all) {
		t.Errorf("only %.2f %% were classed as labelled", 100*float64(right)/float64(all))
	}
}
