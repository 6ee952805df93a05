package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		forks  [][]float64
		value  float64
		n      int
		bounds bool
		reason string
	}{
		{"no samples at all", nil, math.NaN(), 0, false, "no slice was measured"},
		{"a fork without samples", [][]float64{{}}, math.NaN(), 0, false, "no slice was measured"},
		{"one sample", [][]float64{{7}}, 7, 1, false, "needs 6 samples, there are 1"},
		{"five samples are one too few", [][]float64{{1, 2, 3}, {4, 5}}, 3, 5, false, "needs 6 samples, there are 5"},
		{"six samples", [][]float64{{1, 2, 3, 4, 5, 6}}, 3.5, 6, true, ""},
		{"equal samples", [][]float64{{4, 4, 4}, {4, 4, 4}}, 4, 6, true, ""},
		{"two forks that differ", [][]float64{{100, 101, 102}, {130, 131, 132}}, 116, 6, true, ""},
		{"two forks that tell nothing", [][]float64{{100, 101, 102}, {200, 201, 202}}, 151, 6, false, "measure more forks"},
		{"an empty fork among others", [][]float64{{}, {1, 2, 3, 4, 5, 6, 7}}, 4, 7, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := stats.Median(tt.forks, 0.95)
			if f.N != tt.n {
				t.Errorf("N = %d, want %d", f.N, tt.n)
			}
			if (f.Value == nil) != math.IsNaN(tt.value) || f.Value != nil && *f.Value != tt.value {
				t.Errorf("Value = %v, want %v", f.Value, tt.value)
			}
			if (f.Low != nil) != tt.bounds || (f.High != nil) != tt.bounds {
				t.Errorf("bounds = %v %v, want them: %v", f.Low, f.High, tt.bounds)
			}
			if !strings.Contains(f.Reason, tt.reason) || (tt.reason == "") != (f.Reason == "") {
				t.Errorf("Reason = %q, want %q in it", f.Reason, tt.reason)
			}
		})
	}
}

func TestMedianProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fork := rapid.SliceOfN(rapid.Float64Range(0.001, 1e5), 3, 20)
		forks := rapid.SliceOfN(fork, 2, 5).Draw(t, "forks")
		kept := make([][]float64, len(forks))
		for i := range forks {
			kept[i] = slices.Clone(forks[i])
		}
		f := stats.Median(forks, 0.95)
		pool := slices.Concat(forks...)
		if f.Low == nil {
			if slices.Max(pool) < 2*slices.Min(pool) && len(forks) > 2 {
				t.Fatalf("no bounds: %s", f.Reason)
			}
			return
		}
		if *f.Low > *f.Value || *f.Value > *f.High {
			t.Fatalf("interval %v to %v does not hold the value %v", *f.Low, *f.High, *f.Value)
		}
		if *f.Low < 0 || math.IsInf(*f.High, 0) {
			t.Fatalf("rates cannot be from %v to %v", *f.Low, *f.High)
		}
		if slices.Max(pool) == slices.Min(pool) && *f.Low != *f.High {
			t.Fatalf("equal samples have an interval from %v to %v", *f.Low, *f.High)
		}
		wide := stats.Median(forks, 0.999)
		if wide.Low == nil && wide.Reason == "" {
			t.Fatal("there are no bounds, and no reason why")
		}
		if wide.Low != nil && (*wide.Low > *f.Low || *wide.High < *f.High) {
			t.Fatal("a higher confidence gave a narrower interval")
		}
		if again := stats.Median(forks, 0.95); *again.Low != *f.Low || *again.High != *f.High {
			t.Fatal("the same samples gave another interval")
		}
		if d := cmp.Diff(kept, forks); d != "" {
			t.Fatalf("the caller's samples were changed: %s", d)
		}
	})
}

// TestForksWiden checks the reason for the two levels: when forks differ from each other,
// the interval must be wider than one that takes every slice for independent.
func TestForksWiden(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var forks [][]float64
	for range 5 {
		level := 100 + 5*rng.NormFloat64()
		fork := make([]float64, 20)
		for i := range fork {
			fork[i] = level + 0.5*rng.NormFloat64()
		}
		forks = append(forks, fork)
	}
	two := stats.Median(forks, 0.95)
	one := stats.Median([][]float64{slices.Concat(forks...)}, 0.95)
	if *two.High-*two.Low < 1.2*(*one.High-*one.Low) {
		t.Errorf("width %.3f over forks, %.3f pooled: the forks were not respected", *two.High-*two.Low, *one.High-*one.Low)
	}
}

func TestMean(t *testing.T) {
	t.Parallel()
	a := [][]float64{{10, 10, 10, 10, 10, 10}}
	b := [][]float64{{20, 21, 22, 23, 24, 25, 26}}
	f := stats.Mean(bench.Bootstrap, [][][]float64{a, b}, 0.95)
	if *f.Value != 16.5 || f.N != 6 {
		t.Errorf("value %v n %d, want 16.5 and 6", *f.Value, f.N)
	}
	if *f.Low < 14 || *f.High > 19 || *f.Low >= *f.High {
		t.Errorf("interval %v to %v", *f.Low, *f.High)
	}
	if f := stats.Mean(bench.Bootstrap, [][][]float64{a, nil}, 0.95); f.Value != nil || f.Reason == "" {
		t.Errorf("a member without samples gave %+v", f)
	}
	if f := stats.Mean(bench.Bootstrap, nil, 0.95); f.Value != nil || f.Reason == "" {
		t.Errorf("no members gave %+v", f)
	}
}
