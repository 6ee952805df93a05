package stats_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"benchd/worker/bench"
	"benchd/worker/stats"
)

// rising makes a series of steps of one lane more each, of values with intervals of ± a part.
func rising(part float64, values ...float64) *bench.Series {
	s := &bench.Series{Kind: bench.Ramp}
	for i, v := range values {
		low, high := v*(1-part), v*(1+part)
		s.Steps = append(s.Steps, bench.Step{Lanes: i + 1, Throughput: bench.Score{Value: &v, Low: &low, High: &high}})
	}
	return s
}

// told writes what was found in a series.
func told(s *bench.Series) string {
	stops := "unknown"
	if s.Stops != nil {
		stops = fmt.Sprint(*s.Stops)
	}
	return strings.TrimSpace(fmt.Sprintf("stops %s, score at %d. %s", stops, s.Scored, s.Reason))
}

func TestStopsRising(t *testing.T) {
	t.Parallel()
	missing := rising(0.01, 100, 200, 190)
	missing.Steps[1].Throughput.Low, missing.Steps[1].Throughput.Reason = nil, "an interval needs 6 samples, there are 3"
	nothing := rising(0.01, 100, 200)
	nothing.Steps[0].Throughput = bench.Score{Reason: "no samples"}
	for _, tt := range []struct {
		name   string
		series *bench.Series
		want   string
	}{
		{"a plateau", rising(0.01, 100, 200, 300, 303, 298), "stops 3, score at 3."},
		{"it falls at once", rising(0.01, 100, 90, 80), "stops 1, score at 1."},
		{"a dip before a rise is no end", rising(0.01, 100, 95, 200, 199), "stops 3, score at 3."},
		{"a slow rise is one", rising(0.005, 100, 103, 106, 109, 109), "stops 3, score at 3."},
		{"a rise of 5 % and no more", rising(0.001, 100, 105), "stops 1, score at 1."},
		{"a rise of a little more", rising(0.001, 100, 105.1, 105.1), "stops 2, score at 2."},
		{"a rise within the noise", rising(0.2, 100, 140, 141), "stops 1, score at 1."},
		{"it still rises", rising(0.01, 100, 200, 300), "stops unknown, score at 3. it still rose at the last step, of 3 lanes"},
		{"one step", rising(0.01, 100), "stops unknown, score at 1. one step tells no rise; it takes fewer lanes at a time, or more in all"},
		{"no step", rising(0.01), "stops unknown, score at 0. no step was measured"},
		{"a step without an interval", missing, "stops unknown, score at 2. the step of 2 lanes has no interval: an interval needs 6 samples, there are 3"},
		{"a step without a figure", nothing, "stops unknown, score at 2. the step of 1 lane has no interval: no samples"},
		{"everything fails", rising(0, 0, 0, 0), "stops 1, score at 1."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stats.StopsRising(tt.series)
			if got := told(tt.series); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestStopsRisingProperties: the step found is one of the steps, no later one beats it for
// sure, each before it is beaten, and there is a number of lanes or a reason for none.
func TestStopsRisingProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1000), 0, 12).Draw(t, "values")
		s := rising(rapid.Float64Range(0, 0.3).Draw(t, "noise"), values...)
		for i := range s.Steps {
			if rapid.IntRange(0, 30).Draw(t, "missing") == 0 {
				s.Steps[i].Throughput.High = nil
			}
		}
		before, _ := json.Marshal(s.Steps)
		stats.StopsRising(s)
		if after, err := json.Marshal(s.Steps); err != nil || string(after) != string(before) {
			t.Fatalf("the steps were changed, or cannot be written: %v", err)
		}
		if (s.Stops == nil) != (s.Reason != "") || s.Stops != nil && *s.Stops != s.Scored || (s.Scored == 0) != (len(values) == 0) {
			t.Fatal(told(s))
		}
		if s.Stops == nil {
			return
		}
		beats := func(a, b bench.Score) bool { return *a.Value > *b.Value*1.05 && *a.Low > *b.High }
		for i, step := range s.Steps {
			beaten := false
			for _, later := range s.Steps[i+1:] {
				beaten = beaten || beats(later.Throughput, step.Throughput)
			}
			if beaten != (step.Lanes < *s.Stops) && step.Lanes <= *s.Stops {
				t.Fatalf("%s: the step of %d lanes is beaten: %v", told(s), step.Lanes, beaten)
			}
		}
	})
}

// TestUnproven: a later step that is higher by more than 5 %, and that the samples do not prove
// to be, is told; the highest of several.
func TestUnproven(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		series *bench.Series
		want   string
	}{
		{"a plateau", rising(0.01, 100, 200, 205, 195), "0 0.00"},
		{"noise", rising(0.3, 100, 106, 140, 120), "3 0.40"},
		{"it still rises", rising(0.01, 100, 200), "0 0.00"},
		{"nothing succeeded where it stops", rising(0, 0, 0), "0 0.00"},
		{"no step", rising(0), "0 0.00"},
	} {
		stats.StopsRising(tt.series)
		lanes, more := stats.Unproven(*tt.series)
		if got := fmt.Sprintf("%d %.2f", lanes, more); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestStopsRisingInNoise: of a server that serves four at once, measured with a noise of 2 %,
// the capacity is found in most of the runs, and next to it in all.
func TestStopsRisingInNoise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	found := make(map[int]int)
	for range 200 {
		s := &bench.Series{Kind: bench.Ramp}
		for lanes := 1; lanes <= 8; lanes++ {
			forks := make([][]float64, 2)
			for i := range forks {
				for range 10 {
					forks[i] = append(forks[i], 1000*float64(min(lanes, 4))*(1+0.02*rng.NormFloat64()))
				}
			}
			f := stats.Median(forks, 0.95)
			s.Steps = append(s.Steps, bench.Step{Lanes: lanes, Throughput: bench.Score{Value: f.Value, Low: f.Low, High: f.High, Reason: f.Reason}})
		}
		stats.StopsRising(s)
		at := 0
		if s.Stops != nil {
			at = *s.Stops
		}
		found[at]++
	}
	if found[4] < 160 {
		t.Errorf("stops rising at, and in how many of 200: %v", found)
	}
}
