package compare_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/aclements/go-moremath/stats"

	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

var full = flag.Bool("full", false, "simulate 1,000 reports of each kind, and not as many as fit into a few seconds")

// A scenario is a kind of report: forty cases, each of a shape and of a noise of its own.
type scenario struct {
	name    string
	sources []source
	noise   func(*rand.Rand) float64
	history int // runs between which nothing changed, before the comparison; 0 for none
	forks   int
	slices  int
	effect  float64 // of one case; 0 for none
}

const cases = 40

// tally is what came of many reports.
type tally struct {
	reports, alarmed, better, worse int
	found, missed                   int
	undecided, same                 int
	ratio5, ratio2, plain           int // reports with a false alarm by simpler rules
	ratio5found, ratio2found        int
	plainFound                      int
}

func (t *tally) add(o tally) {
	t.reports += o.reports
	t.alarmed += o.alarmed
	t.better += o.better
	t.worse += o.worse
	t.found += o.found
	t.missed += o.missed
	t.undecided += o.undecided
	t.same += o.same
	t.ratio5 += o.ratio5
	t.ratio2 += o.ratio2
	t.plain += o.plain
	t.ratio5found += o.ratio5found
	t.ratio2found += o.ratio2found
	t.plainFound += o.plainFound
}

// simulate makes reports of the scenario, each from a seed of its own.
func (s scenario) simulate(reports int) tally {
	var sum tally
	var mu sync.Mutex
	var wg sync.WaitGroup
	const workers = 2
	for w := range workers {
		wg.Go(func() {
			for i := w; i < reports; i += workers {
				t := s.report(rand.New(rand.NewPCG(uint64(i), 42)))
				mu.Lock()
				sum.add(t)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return sum
}

func (s scenario) report(rng *rand.Rand) tally {
	base, head := make([][][]float64, cases), make([][][]float64, cases)
	var floors []bench.NoiseFloor
	for i := range cases {
		draw, noise := s.sources[rng.IntN(len(s.sources))], s.noise(rng)
		var runs [][][]float64
		for range s.history {
			runs = append(runs, draw(rng, noise, s.forks, s.slices))
		}
		if floor, ok := compare.FloorOf(runs); ok {
			t := trialOf(i, nil2)
			floor.Host, floor.Kernel, floor.Params, floor.Pin = "blue", t.Kernel, t.Params, "free"
			floors = append(floors, floor)
		}
		base[i] = draw(rng, noise, s.forks, s.slices)
		head[i] = draw(rng, noise, s.forks, s.slices)
	}
	if s.effect != 0 {
		for _, f := range head[0] {
			for k := range f {
				f[k] *= 1 - s.effect
			}
		}
	}
	c := compare.Results(resultOf("a", base), resultOf("b", head), compare.Index(floors), compare.DefaultOptions())
	return s.count(c, base, head)
}

var nil2 = [][]float64{{1}}

// count sums up a report. The case with an effect is apart from those without.
func (s scenario) count(c bench.Comparison, base, head [][][]float64) tally {
	t := tally{reports: 1, undecided: c.Counts.Undecided, same: c.Counts.Same}
	var ratio5, ratio2, plain bool
	for i, v := range c.Cases {
		change := math.Abs(*v.Change)
		r, err := stats.MannWhitneyUTest(slices.Concat(base[i]...), slices.Concat(head[i]...), stats.LocationDiffers)
		unadjusted := err == nil && r.P < 0.05
		if s.effect != 0 && i == 0 {
			if v.Verdict == bench.Worse {
				t.found++
			} else {
				t.missed++
			}
			t.ratio5found += one(change > 0.05)
			t.ratio2found += one(change > 0.02)
			t.plainFound += one(unadjusted)
			continue
		}
		t.better += one(v.Verdict == bench.Better)
		t.worse += one(v.Verdict == bench.Worse)
		ratio5, ratio2, plain = ratio5 || change > 0.05, ratio2 || change > 0.02, plain || unadjusted
	}
	t.alarmed = one(t.better+t.worse > 0)
	t.ratio5, t.ratio2, t.plain = one(ratio5), one(ratio2), one(plain)
	return t
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t tally) String() string {
	n := float64(t.reports)
	text := fmt.Sprintf("alarmed %5.1f %% (better %d, worse %d; cases same %.0f %%, undecided %.0f %%) | ratio 5 %%: %5.1f %%, ratio 2 %%: %5.1f %%, Mann-Whitney 0.05: %5.1f %%",
		100*float64(t.alarmed)/n, t.better, t.worse, 100*float64(t.same)/n/cases, 100*float64(t.undecided)/n/cases,
		100*float64(t.ratio5)/n, 100*float64(t.ratio2)/n, 100*float64(t.plain)/n)
	if t.found+t.missed > 0 {
		text += fmt.Sprintf(" | found %5.1f %% (%5.1f, %5.1f, %5.1f)", 100*float64(t.found)/n,
			100*float64(t.ratio5found)/n, 100*float64(t.ratio2found)/n, 100*float64(t.plainFound)/n)
	}
	return text
}

func TestSimulation(t *testing.T) {
	reports := 250
	if *full {
		reports = 1000
	}
	two := func(*rand.Rand) float64 { return 0.02 }
	mix := func(rng *rand.Rand) float64 { return 0.003 * math.Exp(2.8*rng.Float64()) } // 0.3 to 5 %
	measured := realSources(t)
	kinds := []source{normal(0.5, 0.2), mixed(0.5, 0.2, tails), mixed(0.5, 0.2, skewed), mixed(0.5, 0.2, twoLevels)}
	for _, s := range []scenario{
		{name: "kinds", sources: kinds, noise: two, effect: 0.05, history: 10},
		{name: "kinds", sources: kinds, noise: two, effect: 0.05, history: 20},
		{name: "normal .5", sources: []source{normal(0.5, 0)}, noise: two, effect: 0.05, history: 10},
		{name: "normal .35", sources: []source{normal(0.35, 0)}, noise: two, effect: 0.05, history: 10},
		{name: "real history", sources: measured, noise: mix, effect: 0.05, history: 4},
		{name: "real no history", sources: measured, noise: mix, effect: 0.05},
	} {
		for _, history := range []int{s.history} {
			s.history, s.forks, s.slices = history, 3, 20
			t.Logf("%-25s %2d %s", s.name, history, s.simulate(reports))
		}
	}
}
