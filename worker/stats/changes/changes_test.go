package changes_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/worker/stats/changes"
)

var full = flag.Bool("full", false, "simulate ten times as many histories")

func histories() int {
	switch {
	case *full:
		return 2000
	case raced:
		return 20
	}
	return 200
}

// around gives n values of a level with normal noise, both absolute.
func around(rng *rand.Rand, n int, level, noise float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = level + noise*rng.NormFloat64()
	}
	return v
}

func indices(found []changes.Change) []int {
	out := []int{}
	for _, c := range found {
		out = append(out, c.Index)
	}
	return out
}

func TestFind(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	up := slices.Concat(around(rng, 30, 100, 2), around(rng, 30, 110, 2))
	for _, tt := range []struct {
		name      string
		values    []float64
		want      []int
		confirmed int // how many of them are
	}{
		{"nothing", nil, []int{}, 0},
		{"one value", []float64{100}, []int{}, 0},
		{"equal values", slices.Repeat([]float64{100}, 50), []int{}, 0},
		{"a step without noise", slices.Concat(slices.Repeat([]float64{100}, 20), slices.Repeat([]float64{90}, 20)), []int{20}, 1},
		{"a step of ten percent in noise of two", up, []int{30}, 1},
		{"the step with few values after it is provisional", up[:36], []int{30}, 0},
		{"the step with two values after it is not told yet", up[:32], []int{}, 0},
		{"there and back", slices.Concat(up, around(rng, 30, 100, 2)), []int{30, 60}, 2},
		{"two steps up", slices.Concat(up, around(rng, 30, 121, 2)), []int{30, 60}, 2},
		{"one outlier", slices.Concat(around(rng, 30, 100, 2), []float64{150}, around(rng, 30, 100, 2)), []int{}, 0},
		{"less than ten values", []float64{10, 10.1, 9.9, 10, 12, 12.1, 11.9, 12}, []int{4}, 0},
		{"values that are not finite are passed over", slices.Concat([]float64{math.NaN()}, slices.Repeat([]float64{100}, 20), []float64{math.Inf(1)}, slices.Repeat([]float64{90}, 20)), []int{22}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := changes.Find(tt.values, changes.Options{})
			if d := cmp.Diff(tt.want, indices(found)); d != "" {
				t.Fatal(d, found)
			}
			for i, c := range found {
				if c.Confirmed != (i < tt.confirmed) {
					t.Errorf("%+v, want %d confirmed", c, tt.confirmed)
				}
			}
		})
	}
}

// with gives a copy of the values with some of them replaced.
func with(values []float64, others map[int]float64) []float64 {
	values = slices.Clone(values)
	for i, v := range others {
		values[i] = v
	}
	return values
}

// TestOutliers: outliers hide no change of level that is plain without them, and are none.
func TestOutliers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		others map[int]float64
	}{
		{"none", nil},
		{"a near one", map[int]float64{7: 1500}},
		{"a far one", map[int]float64{7: 900}},
		{"one above", map[int]float64{7: 2700}},
		{"the first value", map[int]float64{0: 900}},
		{"one in each level", map[int]float64{7: 900, 23: 900, 38: 900}},
		{"two in a row", map[int]float64{7: 900, 8: 950}},
		{"two on one level", map[int]float64{4: 1500, 10: 900}},
		{"the last before the step", map[int]float64{14: 900}},
		{"the first after the step", map[int]float64{15: 900}},
		{"both at the step", map[int]float64{14: 900, 15: 900}},
		{"the newest", map[int]float64{44: 900}},
	} {
		missed := 0
		for seed := range uint64(20) {
			// The noise is one percent of the first level.
			rng := rand.New(rand.NewPCG(seed, 15))
			values := slices.Concat(around(rng, 15, 1800, 18), around(rng, 17, 1650, 18), around(rng, 13, 1760, 18))
			found := changes.Find(with(values, tt.others), changes.Options{})
			ok := len(found) == 2
			for i, at := range []int{15, 32} {
				ok = ok && found[i].Index >= at-2 && found[i].Index <= at+2
			}
			if !ok {
				missed++
				t.Logf("seed %d, %s: found %+v", seed, tt.name, found)
			}
		}
		if missed > 1 {
			t.Errorf("%s: the changes are missed in %d of 20 histories", tt.name, missed)
		}
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 16))
		blip := with(around(rng, 60, 100, 1), map[int]float64{30: 60, 31: 60})
		if found := changes.Find(blip, changes.Options{}); len(found) > 0 {
			t.Errorf("seed %d: two outliers in a row are a change: %+v", seed, found)
		}
	}
	equal := slices.Concat(slices.Repeat([]float64{100}, 20), slices.Repeat([]float64{90}, 20))
	found := changes.Find(with(equal, map[int]float64{5: 50}), changes.Options{})
	if len(found) != 1 || found[0].Index != 20 || found[0].Before != 100 || found[0].After != 90 {
		t.Errorf("an outlier of a constant series: %+v", found)
	}
	// The medians told are those of the values as they are.
	values := with(slices.Concat(slices.Repeat([]float64{99, 100, 101, 102}, 5), slices.Repeat([]float64{79, 80, 81}, 6)), map[int]float64{0: 900})
	if found := changes.Find(values, changes.Options{}); len(found) != 1 || found[0].Before != 101 {
		t.Errorf("the median before is not that of the raw values: %+v", found)
	}
}

// TestFigures checks what is said of a change.
func TestFigures(t *testing.T) {
	t.Parallel()
	values := slices.Concat(slices.Repeat([]float64{99, 100, 101}, 10), slices.Repeat([]float64{79, 80, 81}, 10))
	found := changes.Find(values, changes.Options{})
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	c := found[0]
	if c.Before != 100 || c.After != 80 || math.Abs(c.Change+0.2) > 1e-12 || c.P > 1e-10 || !c.Confirmed {
		t.Errorf("found %+v", c)
	}
	if found := changes.Find(values, changes.Options{MinEffect: 0.25}); len(found) != 0 {
		t.Errorf("a change below the least effect was found: %+v", found)
	}
}

// TestOneLuckyValue: in a history of 100 ± 20 with one lucky 80, 104 to 110 are no change.
func TestOneLuckyValue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 12))
		values := slices.Concat(around(rng, 40, 100, 10), []float64{80, 104, 110, 106, 108, 105, 109, 104, 107, 110, 106})
		if found := changes.Find(values, changes.Options{}); len(found) > 0 && found[len(found)-1].Index >= 40 {
			t.Errorf("seed %d: %+v", seed, found)
		}
	}
}

// TestStays: changes that are confirmed stay as they are when values are added, and only
// provisional ones come and go.
func TestStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		noise := rapid.Float64Range(0, 5).Draw(t, "noise")
		var values []float64
		for _, level := range rapid.SliceOfN(rapid.Float64Range(50, 150), 1, 4).Draw(t, "levels") {
			values = append(values, around(rng, rapid.IntRange(1, 25).Draw(t, "length"), level, noise)...)
		}
		var last []changes.Change
		for n := range len(values) + 1 {
			now := confirmed(t, changes.Find(values[:n], changes.Options{}))
			if len(now) < len(last) || !slices.Equal(last, now[:len(last)]) {
				t.Fatalf("with %d values %+v, with one more %+v", n-1, last, now)
			}
			last = now
		}
	})
}

// confirmed gives the confirmed changes, which come before all others.
func confirmed(t *rapid.T, found []changes.Change) []changes.Change {
	n := 0
	for i, c := range found {
		if c.Confirmed {
			n++
		}
		if c.Confirmed && n != i+1 {
			t.Fatalf("a confirmed change after a provisional one: %+v", found)
		}
		if i > 0 && c.Index <= found[i-1].Index {
			t.Fatalf("changes out of order: %+v", found)
		}
	}
	return found[:n]
}

// TestFalseAlarms: fewer than 5 % of histories of 200 points of noise have a change, at any
// time. A second mode in a tenth of the points is the worst there is: few enough to be taken
// for outliers, and enough to come four in a row.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		draw func(rng *rand.Rand) float64
		like float64 // how much a point is like the one before
	}{
		{"normal", func(rng *rand.Rand) float64 { return rng.NormFloat64() }, 0},
		{"with memory", func(rng *rand.Rand) float64 { return rng.NormFloat64() }, 0.2},
		{"heavy tails", func(rng *rand.Rand) float64 {
			chi := 0.0
			for range 4 {
				x := rng.NormFloat64()
				chi += x * x
			}
			return rng.NormFloat64() / math.Sqrt(chi/4)
		}, 0},
		{"skewed", func(rng *rand.Rand) float64 { return -math.Exp(rng.NormFloat64() / 2) }, 0},
		{"two modes", modes(0.3), 0},
		{"a mode at times", modes(0.1), 0}, // of which up to 8 % may
		{"a mode seldom", modes(0.04), 0},
		{"steps of a counter", func(rng *rand.Rand) float64 { return math.Round(rng.NormFloat64() / 2) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			certain, alarms := 0, 0
			for seed := range uint64(histories()) {
				rng := rand.New(rand.NewPCG(seed, 3))
				values, last := make([]float64, 200), 0.0
				for i := range values {
					last = tt.like*last + math.Sqrt(1-tt.like*tt.like)*tt.draw(rng)
					values[i] = 100 + 2*last
				}
				found := changes.Find(values, changes.Options{})
				if len(found) > 0 {
					alarms++
				}
				if len(found) > 0 && found[0].Confirmed {
					certain++
				}
			}
			rate := float64(alarms) / float64(histories())
			t.Logf("%s: %.2f %% of %d histories of noise have a change, %.2f %% a confirmed one", tt.name, 100*rate, histories(), 100*float64(certain)/float64(histories()))
			most := 0.05
			if tt.name == "a mode at times" {
				most = 0.08
			}
			if rate >= most && !raced {
				t.Errorf("%.1f %% false alarms", 100*rate)
			}
		})
	}
}

// modes draws noise around 0 and, in that share of the draws, around -10.
func modes(share float64) func(rng *rand.Rand) float64 {
	return func(rng *rand.Rand) float64 {
		if rng.Float64() < share {
			return rng.NormFloat64() - 10
		}
		return rng.NormFloat64()
	}
}

// TestPower: a step of 5 % in noise of 2 % is found, near its place, and no other with it.
func TestPower(t *testing.T) {
	t.Parallel()
	hit, near, alone, late := 0, 0, 0, 0
	for seed := range uint64(histories()) {
		rng := rand.New(rand.NewPCG(seed, 4))
		values := slices.Concat(around(rng, 60, 100, 2), around(rng, 60, 95, 2))
		found := changes.Find(values, changes.Options{})
		if i := slices.IndexFunc(found, func(c changes.Change) bool { return c.Index >= 50 && c.Index < 70 }); i >= 0 {
			hit++
			if d := found[i].Index - 60; d >= -3 && d <= 3 {
				near++
			}
			if len(found) == 1 {
				alone++
			}
		}
		for n := 63; n <= 120; n++ {
			if f := changes.Find(values[:n], changes.Options{}); len(f) > 0 {
				late += n - 60
				break
			}
		}
	}
	all := float64(histories())
	t.Logf("of %d steps of 5 %% in noise of 2 %%: found %.1f %%, within three points %.1f %%, alone %.1f %%; first told after %.1f points", histories(), 100*float64(hit)/all, 100*float64(near)/all, 100*float64(alone)/all, float64(late)/all)
	if float64(hit) < 0.98*all || float64(near) < 0.9*all || float64(alone) < 0.95*all {
		t.Error("steps were missed")
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		values := around(rand.New(rand.NewPCG(1, 1)), n, 100, 2)
		b.Run(map[int]string{250: "250", 1000: "1000", 4000: "4000"}[n], func(b *testing.B) {
			for b.Loop() {
				changes.Find(values, changes.Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/point")
		})
	}
}
