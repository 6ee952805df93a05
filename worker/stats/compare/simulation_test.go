package compare_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

var full = flag.Bool("full", false, "simulate 1,000 reports of each kind, and not as many as fit into a few seconds")

// cases is how many a report has.
const cases = 40

// A scenario is a kind of report: each of its cases has a source and a noise of its own.
type scenario struct {
	name    string
	sources []source
	noise   func(*rand.Rand) float64
	history int     // runs between which nothing changed, before the comparison; 0 for none
	effect  float64 // slow-down of one of the cases; 0 for none
	found   float64 // share of reports in which it has to be found
}

// scenarios are what is promised: false alarms in at most one of twenty reports of equal
// things, whatever the noise, and a slow-down of 5 % of one case among forty found in 19 of
// 20 where three forks of twenty slices vary by 2 %.
//
// That can be had where the forks themselves are not much of the noise: with three forks,
// forks that differ by 2 % make figures that differ by 1.6 %, and nothing tells 5 % from
// that in one of forty cases. The rows without a share to be found show how it fades.
func scenarios(tb testing.TB) []scenario {
	two := func(*rand.Rand) float64 { return 0.02 }
	spread := func(rng *rand.Rand) float64 { return 0.003 * math.Exp(2.8*rng.Float64()) } // 0.3 to 5 %
	measured := realSources(tb)
	kinds := []source{normal(0.5, 0.2), mixed(0.5, 0.2, tails), mixed(0.5, 0.2, skewed), mixed(0.5, 0.2, twoLevels)}
	return []scenario{
		{name: "equal, measured series", sources: measured, noise: spread, history: 10},
		{name: "equal, measured series", sources: measured, noise: spread, history: 4},
		{name: "equal, measured series", sources: measured, noise: spread},
		{name: "equal, all made-up kinds", sources: kinds, noise: two, history: 10},
		{name: "equal, all made-up kinds", sources: kinds, noise: spread, history: 4},
		{name: "equal, all made-up kinds", sources: kinds, noise: spread},
		{name: "5 % of one, forks alike", sources: []source{normal(0, 0)}, noise: two, history: 10, effect: 0.05, found: 0.95},
		{name: "5 % of one, forks vary 0.35", sources: []source{normal(0.35, 0)}, noise: two, history: 10, effect: 0.05, found: 0.95},
		{name: "5 % of one, heavy tails", sources: []source{mixed(0.35, 0, tails)}, noise: two, history: 10, effect: 0.05, found: 0.95},
		{name: "5 % of one, forks vary 0.5", sources: []source{normal(0.5, 0)}, noise: two, history: 10, effect: 0.05},
		{name: "5 % of one, runs vary too", sources: kinds, noise: two, history: 10, effect: 0.05},
		{name: "5 % of one, measured series", sources: measured, noise: two, history: 10, effect: 0.05},
		{name: "5 % of one, forks vary 0.35", sources: []source{normal(0.35, 0)}, noise: two, effect: 0.05},
	}
}

// A rule is a way to tell whether a case changed, from its change and the p-value of an
// unadjusted Mann-Whitney test.
type rule struct {
	name  string
	fires func(change, p float64) bool
}

// plainRules are what is done elsewhere, on the same data.
func plainRules() [3]rule {
	return [3]rule{
		{"ratio beyond 5 %", func(change, _ float64) bool { return math.Abs(change) > 0.05 }},
		{"ratio beyond 2 %", func(change, _ float64) bool { return math.Abs(change) > 0.02 }},
		{"Mann-Whitney at 0.05", func(_, p float64) bool { return p < 0.05 }},
	}
}

// tally is what came of many reports.
type tally struct {
	reports, alarmed, better, worse int
	found, same, undecided          int
	plainAlarmed, plainFound        [3]int
}

func (t *tally) add(o tally) {
	t.reports += o.reports
	t.alarmed += o.alarmed
	t.better += o.better
	t.worse += o.worse
	t.found += o.found
	t.same += o.same
	t.undecided += o.undecided
	for i := range o.plainFound {
		t.plainAlarmed[i] += o.plainAlarmed[i]
		t.plainFound[i] += o.plainFound[i]
	}
}

// simulate makes reports of the scenario, each from a seed of its own.
func (s scenario) simulate(reports int) tally {
	var sum tally
	var mu sync.Mutex
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
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
	const forks, slices = 3, 20
	base, head := make([][][]float64, cases), make([][][]float64, cases)
	var past []bench.TrialResult
	for i := range cases {
		draw, noise := s.sources[rng.IntN(len(s.sources))], s.noise(rng)
		for range s.history {
			past = append(past, trialOf(i, draw(rng, noise, forks, slices)))
		}
		base[i], head[i] = draw(rng, noise, forks, slices), draw(rng, noise, forks, slices)
	}
	for _, f := range head[0] {
		for k := range f {
			f[k] *= 1 - s.effect
		}
	}
	noise := compare.Index(compare.FloorsOf(past))
	return s.count(compare.Results(resultOf("a", base), resultOf("b", head), noise, compare.DefaultOptions()))
}

// count sums up a report. A case that did change is counted apart from those that did not.
func (s scenario) count(c bench.Comparison) tally {
	t := tally{reports: 1, undecided: c.Counts.Undecided, same: c.Counts.Same}
	for i, v := range c.Cases {
		if s.effect != 0 && i == 0 {
			t.found = one(v.Verdict == bench.Worse)
		} else {
			t.better += one(v.Verdict == bench.Better)
			t.worse += one(v.Verdict == bench.Worse)
		}
		for k, r := range plainRules() {
			switch fires := r.fires(*v.Change, *v.MannWhitney); {
			case s.effect != 0 && i == 0:
				t.plainFound[k] = one(fires)
			case fires:
				t.plainAlarmed[k] = 1
			}
		}
	}
	t.alarmed = one(t.better+t.worse > 0)
	return t
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t tally) String() string {
	share := func(n int) float64 { return 100 * float64(n) / float64(t.reports) }
	text := fmt.Sprintf("alarm in %4.1f %% of %d reports (%d better, %d worse), found %5.1f %%; of the cases %.0f %% same, %.0f %% undecided",
		share(t.alarmed), t.reports, t.better, t.worse, share(t.found), share(t.same)/cases, share(t.undecided)/cases)
	for k, r := range plainRules() {
		text += fmt.Sprintf("; %s: alarm %.0f %%, found %.0f %%", r.name, share(t.plainAlarmed[k]), share(t.plainFound[k]))
	}
	return text
}

// most is the number of reports that at most stays under in 999 of 1,000 simulations when
// each has the probability p.
func most(n int, p float64) int {
	mean := float64(n) * p
	return int(mean + 3.1*math.Sqrt(mean*(1-p)))
}

// TestSimulation holds the promises; -args -full makes 1,000 reports of each kind, and holds
// them to the letter.
func TestSimulation(t *testing.T) {
	reports := 60
	if *full {
		reports = 1000
	}
	for _, s := range scenarios(t) {
		got := s.simulate(reports)
		t.Logf("%-27s after %2d runs: %s", s.name, s.history, got)
		alarms, missed := most(reports, 0.05), most(reports, 1-s.found)
		if *full {
			alarms, missed = reports/20, int(float64(reports)*(1-s.found)+0.5)
		}
		if s.effect == 0 && got.alarmed > alarms {
			t.Errorf("%s: false alarms in %d of %d reports", s.name, got.alarmed, got.reports)
		}
		if s.found > 0 && reports-got.found > missed {
			t.Errorf("%s: found in %d of %d reports", s.name, got.found, got.reports)
		}
		if n := got.better + got.worse; math.Abs(float64(got.better-got.worse)) > 1+3.3*math.Sqrt(float64(n)) {
			t.Errorf("%s: %d better and %d worse: the alarms lean to one side", s.name, got.better, got.worse)
		}
	}
}

// BenchmarkSimulation tells what a report of the measured series costs, and its false alarms.
func BenchmarkSimulation(b *testing.B) {
	s := scenarios(b)[0]
	var sum tally
	for i := 0; b.Loop(); i++ {
		sum.add(s.report(rand.New(rand.NewPCG(uint64(i), 7))))
	}
	b.ReportMetric(float64(sum.alarmed)/float64(sum.reports), "alarms/report")
}
