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

// A source makes runs of one case that differ by chance alone: so many forks of so many
// slices, whose samples vary by noise within a run.
type source func(rng *rand.Rand, noise float64, forks, slices int) [][]float64

// normal is a source of normal noise whose forks and runs differ so much more or less than
// their slices do.
func normal(forkShare, runShare float64) source {
	return mixed(forkShare, runShare, (*rand.Rand).NormFloat64)
}

// mixed is a source whose noise at all three levels is of one kind, with a variance of one.
func mixed(forkShare, runShare float64, kind func(*rand.Rand) float64) source {
	total := math.Sqrt(1 + forkShare*forkShare)
	return func(rng *rand.Rand, noise float64, forks, slices int) [][]float64 {
		noise /= total
		run := runShare * kind(rng)
		out := make([][]float64, forks)
		for i := range out {
			fork := run + forkShare*kind(rng)
			out[i] = make([]float64, slices)
			for k := range out[i] {
				out[i][k] = 1000 * math.Exp(noise*(fork+kind(rng)))
			}
		}
		return out
	}
}

// tails is noise with heavy tails: Student's t with five degrees of freedom.
func tails(rng *rand.Rand) float64 {
	chi := 0.0
	for range 5 {
		z := rng.NormFloat64()
		chi += z * z
	}
	return rng.NormFloat64() / math.Sqrt(chi/5) / math.Sqrt(5.0/3)
}

// skewed is noise that slows down: the negative of an exponential.
func skewed(rng *rand.Rand) float64 { return 1 - rng.ExpFloat64() }

// twoLevels is noise that jumps between two levels, as forks do whose memory came to lie in
// one way or the other.
func twoLevels(rng *rand.Rand) float64 {
	if rng.IntN(3) > 0 {
		return 0.7 + 0.15*rng.NormFloat64()
	}
	return -1.4 + 0.15*rng.NormFloat64()
}

// A series is how one case varied on a real host, in runs between which nothing changed: in
// logarithms, about the median of its case, run or fork.
type series struct {
	name  string
	runs  []float64
	forks []fork
	sd    float64 // of the samples of a run
}

type fork struct {
	level  float64
	slices []float64
}

// realSources reads the series that were measured with this suite, in ten-thousandths.
func realSources(tb testing.TB) []source {
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
	var out []source
	for _, s := range list {
		out = append(out, seriesOf(s.Kernel+" "+s.Params.String(), s.Runs).draw)
	}
	return out
}

// seriesOf takes the measured runs apart. Levels of runs and forks were estimated from few
// forks and slices, and vary for that alone: this part is taken out, since a run that is
// drawn varies for it again.
func seriesOf(name string, runs [][][]float64) series {
	s := series{name: name}
	within, between, n, forks := 0.0, 0.0, 0.0, 0.0
	for _, r := range runs {
		var levels []float64
		for _, f := range r {
			levels = append(levels, medianOf(f)/1e4)
		}
		m := meanOf(levels)
		s.runs = append(s.runs, m)
		for i, f := range r {
			one := fork{level: levels[i] - m}
			for _, v := range f {
				d := v/1e4 - levels[i]
				one.slices = append(one.slices, d)
				within += d * d
				n++
			}
			between += one.level * one.level
			forks += 1 - 1/float64(len(r))
			s.forks = append(s.forks, one)
		}
	}
	s.sd = within / n
	of := between / forks // variance of a fork's median
	s.sharpen(of, float64(len(s.forks))/float64(len(runs)))
	for _, f := range s.forks {
		s.sd += f.level * f.level / float64(len(s.forks))
	}
	s.sd = math.Sqrt(s.sd)
	return s
}

// sharpen scales levels down to what they vary by in truth.
func (s *series) sharpen(ofForks, forksOfRun float64) {
	rng := rand.New(rand.NewPCG(3, 3))
	noise := 0.0
	const draws = 2000
	for range draws {
		f := s.forks[rng.IntN(len(s.forks))]
		m := medianOf(f.blocks(rng, len(f.slices)))
		noise += m * m / draws
	}
	scale := math.Sqrt(max(0, 1-noise/ofForks))
	for i := range s.forks {
		s.forks[i].level *= scale
	}
	m, of := meanOf(s.runs), 0.0
	for _, v := range s.runs {
		of += (v - m) * (v - m) / float64(len(s.runs)-1)
	}
	scale = math.Sqrt(max(0, 1-ofForks/forksOfRun/of))
	for i := range s.runs {
		s.runs[i] = (s.runs[i] - m) * scale
	}
}

// block is how many neighbouring slices are drawn together, so that they stay as alike as
// they were.
const block = 5

// blocks draws slices of the fork, around its end.
func (f fork) blocks(rng *rand.Rand, n int) []float64 {
	out := make([]float64, 0, n)
	for len(out) < n {
		at := rng.IntN(len(f.slices))
		for k := 0; k < block && len(out) < n; k++ {
			out = append(out, f.slices[(at+k)%len(f.slices)])
		}
	}
	return out
}

// draw is the source of the series: real levels of runs, real levels of forks and blocks of
// real slices. There are few runs, so their levels are spread out a little.
func (s series) draw(rng *rand.Rand, noise float64, forks, n int) [][]float64 {
	scale := noise / s.sd
	run := s.runs[rng.IntN(len(s.runs))] * (0.5 + rng.Float64())
	out := make([][]float64, forks)
	for i := range out {
		level := run + s.forks[rng.IntN(len(s.forks))].level
		out[i] = s.forks[rng.IntN(len(s.forks))].blocks(rng, n)
		for k, v := range out[i] {
			out[i][k] = 1000 * math.Exp(scale*(level+v))
		}
	}
	return out
}

func meanOf(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
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
		Spec:  bench.Spec{Plan: bench.Plan{Slice: bench.Duration(500 * time.Millisecond)}},
	}
	for i, forks := range cases {
		r.Trials = append(r.Trials, trialOf(i, forks))
	}
	return r
}

func trialOf(number int, forks [][]float64) bench.TrialResult {
	v := 0.0
	if all := slices.Concat(forks...); len(all) > 0 {
		v = medianOf(all)
	}
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
