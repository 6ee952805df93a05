package steady_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/worker/bench"
	"benchd/worker/stats/steady"
)

// rows repeats a pattern of small differences around each level.
func rows(levels ...float64) []float64 {
	var v []float64
	for i, l := range levels {
		v = append(v, l+float64(i*7%5-2)/5)
	}
	return v
}

// swinging gives a sine of amplitude 10 around 100.
func swinging(n int, period float64) []float64 {
	v := times(n, 100)
	for i := range v {
		v[i] += 10 * math.Sin(2*math.Pi*float64(i)/period)
	}
	return v
}

// rough adds noise of 2 %.
func rough(v []float64) []float64 {
	for i := range v {
		v[i] += float64(i*7%5-2) / 70
	}
	return v
}

// tossed gives levels of 90 and 110 without any order.
func tossed(n int) []float64 {
	v, rng := times(n, 90), rand.New(rand.NewPCG(6, 4))
	for i := range v {
		if rng.IntN(2) == 1 {
			v[i] = 110
		}
	}
	return v
}

func times(n int, level float64) []float64 { return slices.Repeat([]float64{level}, n) }

func TestClassify(t *testing.T) {
	t.Parallel()
	spiked := rows(times(40, 100)...)
	spiked[20], spiked[30] = 40, 170
	for _, tt := range []struct {
		name    string
		samples []float64
		class   bench.Steady // "" for none
		from    int
		changes []int
		reason  string
	}{
		{"nothing", nil, "", 0, nil, "steadiness needs 30 slices, there are 0"},
		{"one slice too few", rows(times(29, 100)...), "", 0, nil, "steadiness needs 30 slices, there are 29"},
		{"one level", rows(times(30, 100)...), bench.Flat, 0, nil, ""},
		{"equal samples", times(30, 100), bench.Flat, 0, nil, ""},
		{"no work at all", times(30, 0), bench.Flat, 0, nil, ""},
		{"single spikes", spiked, bench.Flat, 0, nil, ""},
		{"slow at first", rows(slices.Concat(times(5, 80), times(35, 100))...), bench.WarmedUp, 5, []int{5}, ""},
		{"the change is in the middle", rows(slices.Concat(times(20, 80), times(20, 100))...), bench.WarmedUp, 20, []int{20}, ""},
		{"just after the middle", rows(slices.Concat(times(21, 80), times(19, 100))...), bench.NeverSteady, 0, []int{21}, "the last change is at slice 22 of 40, in the second half"},
		{"fast at first", rows(slices.Concat(times(10, 110), times(30, 100))...), bench.SlowedDown, 10, []int{10}, ""},
		{"fast in between", rows(slices.Concat(times(7, 90), times(8, 120), times(30, 100))...), bench.SlowedDown, 15, []int{7, 15}, ""},
		{"slow in between", rows(slices.Concat(times(8, 100), times(8, 80), times(30, 100))...), bench.WarmedUp, 16, []int{8, 16}, ""},
		{"a drift", rough(ramp(level(40), 40, 0.07)), bench.NeverSteady, 0, nil, "the level drifts from 0.9979 to 1.07 over 40 slices"},
		{"a swing", swinging(48, 6), bench.NeverSteady, 0, nil, "the level swings between 90 and 110 every 6.0 slices"},
		{"to and fro", rows(tossed(40)...), bench.NeverSteady, 0, []int{17, 20}, "the samples jump 7 times between 89.99 and 110"},
		{"half a percent is no change", rows(slices.Concat(times(10, 100), times(30, 100.5))...), bench.Flat, 0, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := steady.Classify(tt.samples)
			class := bench.Steady("")
			if got.Class != nil {
				class = *got.Class
			}
			if class != tt.class || got.From != tt.from || got.Reason != tt.reason || cmp.Diff(tt.changes, got.Changes) != "" {
				t.Errorf("%q from %d, changes %v, reason %q", class, got.From, got.Changes, got.Reason)
			}
		})
	}
}

// TestClassifyProperties: the class does not depend on the unit, and nothing is changed.
func TestClassifyProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(0, 1000), 25, 100).Draw(t, "samples")
		kept := slices.Clone(v)
		s := steady.Classify(v)
		if !slices.Equal(v, kept) {
			t.Fatal("the caller's samples were changed")
		}
		if (s.Class == nil) != (len(v) < steady.MinSlices) || s.Class == nil && s.Reason == "" {
			t.Fatalf("%d slices: %+v", len(v), s)
		}
		for i := range v {
			v[i] *= 1024
		}
		if other := steady.Classify(v); other.From != s.From || s.Class != nil && *other.Class != *s.Class {
			t.Fatalf("in another unit %+v, not %+v", other, s)
		}
	})
}

func TestOver(t *testing.T) {
	t.Parallel()
	flat, warm, none := new(bench.Flat), new(bench.WarmedUp), new(bench.NeverSteady)
	for _, tt := range []struct {
		name   string
		forks  []*bench.Steady
		want   *bench.Steady
		reason string
	}{
		{"no fork", nil, nil, "no fork was measured"},
		{"one fork", []*bench.Steady{warm}, warm, ""},
		{"forks of one class", []*bench.Steady{flat, flat, flat}, flat, ""},
		{"flat and warmup", []*bench.Steady{flat, warm, flat}, new(bench.Inconsistent), ""},
		{"one never steady", []*bench.Steady{flat, none}, new(bench.Inconsistent), ""},
		{"a short one", []*bench.Steady{flat, nil}, nil, "fork 2 is too short to tell: steadiness needs 30 slices"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, reason := steady.Over(tt.forks...)
			if cmp.Diff(tt.want, got) != "" || reason != tt.reason {
				t.Errorf("%v, %q", got, reason)
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	v := rows(slices.Concat(times(20, 80), times(180, 100))...)
	for b.Loop() {
		steady.Classify(v)
	}
}
