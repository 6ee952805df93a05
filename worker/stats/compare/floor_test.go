package compare_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

// By hand: three runs of one fork each at e^0, e^0.01 and e^0.02 have a standard deviation
// of 0.01. With two degrees of freedom t is 9.9248 at 99 %, and the allowance for three runs
// 1.1 + 1.5/3.
func TestFloorByHand(t *testing.T) {
	t.Parallel()
	var runs [][][]float64
	for i := range 3 {
		runs = append(runs, [][]float64{{math.Exp(0.01 * float64(i))}})
	}
	f, ok := compare.FloorOf(runs)
	if !ok {
		t.Fatal("no floor of three runs")
	}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"value", f.Value, math.Expm1(9.924843 * 0.01 * math.Sqrt(2*(1.1+1.5/3)))},
		{"deviation of the runs", f.MeanSD, 0.01},
		{"beyond their forks", f.RunSD, 0.01},
		{"largest", f.Largest, math.Expm1(0.02)},
		{"forks", f.Forks, 1},
	} {
		if math.Abs(tt.got-tt.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if f.Runs != 3 || f.Pairs != 3 || f.ForkSD != nil || f.ForksDF != 0 || !strings.Contains(f.Source, "3 runs") {
		t.Errorf("%+v", f)
	}
}

func TestFloorOf(t *testing.T) {
	t.Parallel()
	run := [][]float64{{100, 101, 102}, {103, 104}}
	for _, tt := range []struct {
		name string
		runs [][][]float64
		want int // runs behind the floor, 0 for none
	}{
		{"no runs", nil, 0},
		{"two runs", [][][]float64{run, run}, 0},
		{"three runs", [][][]float64{run, run, run}, 3},
		{"one of them empty", [][][]float64{run, nil, run}, 0},
		{"a fork without samples", [][][]float64{run, {{}, {100}}, run}, 3},
		{"a run with a zero is left out", [][][]float64{run, {{0, 1}}, run, run}, 3},
		{"a run with an infinity is left out", [][][]float64{run, {{math.Inf(1)}}, run, run}, 3},
	} {
		if f, ok := compare.FloorOf(tt.runs); ok != (tt.want > 0) || f.Runs != tt.want {
			t.Errorf("%s: %v, %d runs, want %d", tt.name, ok, f.Runs, tt.want)
		}
	}
}

// A floor is what it says: of pairs of equal runs about one in a hundred differs by more.
func TestFloorHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		draw source
	}{
		{"normal", normal(0.5, 0.5)},
		{"heavy tails", mixed(0.5, 0.5, tails)},
		{"skewed", mixed(0.5, 0.5, skewed)},
	} {
		rng := rand.New(rand.NewPCG(2, 3))
		const pairs = 2000
		beyond := 0
		for range pairs {
			var runs [][][]float64
			for range 10 {
				runs = append(runs, tt.draw(rng, 0.02, 3, 10))
			}
			f, _ := compare.FloorOf(runs)
			c := compare.Results(resultOf("a", [][][]float64{tt.draw(rng, 0.02, 3, 10)}), resultOf("b", [][][]float64{tt.draw(rng, 0.02, 3, 10)}), nil, compare.DefaultOptions())
			if math.Abs(math.Log1p(*c.Cases[0].Change)) > math.Log1p(f.Value) {
				beyond++
			}
		}
		t.Logf("%s: %.2f %% of pairs beyond their floor", tt.name, 100*float64(beyond)/pairs)
		if beyond > most(pairs, 0.01) {
			t.Errorf("%s: %d of %d pairs differ by more than their floor", tt.name, beyond, pairs)
		}
	}
}

// However wild the runs are, a floor is finite and can be written.
func TestFloorProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.OneOf(rapid.Float64Range(90, 110), rapid.Float64())
		runs := rapid.SliceOfN(rapid.SliceOfN(rapid.SliceOfN(sample, 0, 8), 0, 4), 0, 8).Draw(t, "runs")
		f, ok := compare.FloorOf(runs)
		if _, err := json.Marshal(f); err != nil {
			t.Fatal(err)
		}
		if ok && (f.Value < 0 || f.Largest < 0 || f.Runs < 3) {
			t.Fatalf("%+v", f)
		}
	})
}

// A floor is that of its placement, and one that cannot be reckoned with is none.
func TestFloors(t *testing.T) {
	t.Parallel()
	good := bench.NoiseFloor{Host: "blue", Kernel: "made.up", Params: trialOf(0, nil).Params, Pin: "free", Runs: 10, Forks: 3, MeanSD: 0.001, Value: 0.005}
	for _, tt := range []struct {
		name   string
		change func(*bench.NoiseFloor)
		want   bool
	}{
		{"as it is", func(*bench.NoiseFloor) {}, true},
		{"another host", func(f *bench.NoiseFloor) { f.Host = "green" }, false},
		{"another placement", func(f *bench.NoiseFloor) { f.Pin = "one" }, false},
		{"awake", func(f *bench.NoiseFloor) { f.Awake = true }, false},
		{"of two runs", func(f *bench.NoiseFloor) { f.Runs = 2 }, false},
		{"without forks", func(f *bench.NoiseFloor) { f.Forks = 0 }, false},
		{"no number", func(f *bench.NoiseFloor) { f.MeanSD = math.NaN() }, false},
	} {
		f := good
		tt.change(&f)
		r := resultOf("a", [][][]float64{around(100, 0.001, 3, 20)})
		c := compare.Results(r, r, compare.Index([]bench.NoiseFloor{f}), compare.DefaultOptions())
		if got := c.Cases[0].Noise != nil; got != tt.want {
			t.Errorf("%s: noise known %v, want %v", tt.name, got, tt.want)
		}
	}
}

// calibrating makes a run that repeats two cases.
func calibrating(repeats int, jump float64) bench.Result {
	rng := rand.New(rand.NewPCG(8, 8))
	r := resultOf("c", nil)
	for k := range repeats {
		for i := range 2 {
			draw := normal(0.3, 0.3)(rng, 0.01, 2, 10)
			if i == 1 && k == repeats-1 {
				for _, f := range draw {
					for n := range f {
						f[n] *= jump
					}
				}
			}
			t := trialOf(i, draw)
			t.Repeat = k + 1
			r.Trials = append(r.Trials, t)
		}
	}
	return r
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                 string
		repeats              int
		jump                 float64
		comparisons, alarmed int
		noise                bool
		reason               string
	}{
		{"ten equal repeats", 10, 1, 9, 0, true, "Of 9 comparisons of equal repeats, 0 had a false alarm"},
		{"the last one jumps", 10, 0.7, 9, 1, true, "1 had a false alarm: 0 better and 1 worse"},
		{"four repeats", 4, 1, 3, 0, true, "without measured noise"},
		{"two repeats", 2, 1, 1, 0, false, "without measured noise"},
		{"one repeat", 1, 1, 0, 0, false, "has 1 repeat of each case; at least 3 are needed"},
		{"nothing", 0, 1, 0, 0, false, "0 repeat"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := compare.Calibrate(calibrating(tt.repeats, tt.jump), compare.DefaultOptions())
			if c.Repeats != tt.repeats || c.Comparisons != tt.comparisons || c.Alarmed != tt.alarmed || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("%d repeats, %d comparisons, %d alarmed: %s", c.Repeats, c.Comparisons, c.Alarmed, c.Reason)
			}
			if (c.Rate != nil) != (tt.comparisons > 0) || len(c.Cases) != min(2, 2*tt.repeats) {
				t.Errorf("rate %v, %d cases", c.Rate, len(c.Cases))
			}
			for _, k := range c.Cases {
				if (k.Noise != nil) != tt.noise || (k.Reason == "") != tt.noise {
					t.Errorf("%s: noise %v, reason %q", k.Params, k.Noise, k.Reason)
				}
				if k.Noise != nil && (k.Noise.Host != "blue" || k.Noise.Pin != "free" || k.Noise.Runs != tt.repeats) {
					t.Errorf("%+v", k.Noise)
				}
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
		})
	}
}
