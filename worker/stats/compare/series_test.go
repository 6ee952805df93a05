package compare_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A shape is how the figures of one case vary on a real host: runs of it, their forks and
// their slices, as logarithms about the case's median. Runs between which nothing changed.
type shape struct {
	name string
	runs []runShape
	sd   float64 // of slices within a fork
}

type runShape struct {
	level float64 // median of the run
	forks []forkShape
}

type forkShape struct {
	level  float64   // median of the fork, less the run's
	slices []float64 // less the fork's median
}

// realShapes reads the series that were measured with this suite, in ten-thousandths.
func realShapes(tb testing.TB) []shape {
	tb.Helper()
	text, err := os.ReadFile("testdata/series.json")
	if err != nil {
		tb.Fatal(err)
	}
	var list []struct {
		Kernel string
		Params kernels.Params
		Runs   [][][]float64
	}
	if err := json.Unmarshal(text, &list); err != nil {
		tb.Fatal(err)
	}
	var out []shape
	for _, s := range list {
		out = append(out, shapeOf(s.Kernel+" "+s.Params.String(), s.Runs))
	}
	return out
}

func shapeOf(name string, runs [][][]float64) shape {
	s := shape{name: name}
	n := 0.0
	for _, forks := range runs {
		r := runShape{level: medianOf(slices.Concat(forks...)) / 1e4}
		for _, f := range forks {
			m := medianOf(f) / 1e4
			fork := forkShape{level: m - r.level, slices: make([]float64, len(f))}
			for i, v := range f {
				fork.slices[i] = v/1e4 - m
				s.sd += fork.slices[i] * fork.slices[i]
				n++
			}
			r.forks = append(r.forks, fork)
		}
		s.runs = append(s.runs, r)
	}
	s.sd = math.Sqrt(s.sd / n)
	return s
}

// block is how many neighbouring slices are drawn together, so that they stay as alike as
// they were.
const block = 5

// draw makes a run of the shape: the level of a real run, the levels of real forks, and
// blocks of real slices, so scaled that slices vary by noise. The run's level is left out
// for within zero.
func (s shape) draw(rng *rand.Rand, noise float64, forks, n int) [][]float64 {
	scale := noise / s.sd
	level := s.runs[rng.IntN(len(s.runs))].level
	out := make([][]float64, forks)
	for i := range out {
		run := s.runs[rng.IntN(len(s.runs))]
		fork := run.forks[rng.IntN(len(run.forks))]
		out[i] = make([]float64, 0, n)
		for len(out[i]) < n {
			at := rng.IntN(len(fork.slices))
			for k := 0; k < block && len(out[i]) < n; k++ {
				v := fork.slices[(at+k)%len(fork.slices)]
				out[i] = append(out[i], 1000*math.Exp(scale*(level+fork.level+v)))
			}
		}
	}
	return out
}

func medianOf(v []float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// resultOf makes a result of one host whose cases have the samples given.
func resultOf(id string, cases [][][]float64) bench.Result {
	r := bench.Result{
		ID: id, State: bench.Succeeded, Created: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
		Hosts: map[string]bench.HostSnapshot{"blue": {}},
		Spec:  bench.Spec{Plan: bench.DefaultPlan()},
	}
	for i, forks := range cases {
		r.Trials = append(r.Trials, trialOf(i, forks))
	}
	return r
}

func trialOf(number int, forks [][]float64) bench.TrialResult {
	v := medianOf(slices.Concat(forks...))
	t := bench.TrialResult{
		ID: strconv.Itoa(number), Host: "blue", Kernel: "made.up", Params: kernels.Params{"n": strconv.Itoa(number)},
		Repeat: 1, State: bench.Succeeded, Placement: bench.Placement{Pin: "free"},
		Score: &bench.Score{Metric: "throughput", Unit: "op/s", Better: "higher", Value: &v},
	}
	for _, f := range forks {
		t.Forks = append(t.Forks, bench.Fork{Samples: f})
	}
	return t
}
