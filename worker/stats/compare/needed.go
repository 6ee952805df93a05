package compare

import (
	"math"

	"benchd/worker/bench"
)

// mostForks is where the search for enough forks ends: a plan may ask for no more.
const mostForks = 100

// needed tells how many forks and samples each side of an undecided case should have,
// supposing the change and the noise stay what they are; and where the noise was never
// measured, by how many runs it should be. It is nil where nothing of this would help, as
// when the samples have two levels or the host was disturbed.
func (e evidence) needed(tests int, adjusted float64, o Options) *bench.Needed {
	base, head := e.pair.base, e.pair.head
	disturbed := e.tested && adjusted <= o.Q && e.large(o)
	if !e.measured || disturbed || base.doubt(bimodal) != "" || head.doubt(bimodal) != "" {
		return nil
	}
	forks := max(len(base.forks), len(head.forks))
	each := max(1, (max(base.n, head.n)+forks-1)/forks)
	most := min(base.n, head.n)
	switch {
	case most < minSamples:
		return &bench.Needed{Forks: forks, Samples: max(minSamples, forks*each)}
	case e.known == nil:
		forks = max(forks, goodForks)
		return &bench.Needed{Forks: forks, Samples: forks * each, Runs: goodRuns}
	case e.known.floor.Runs < goodRuns && e.threshold(o) > e.coarse(o):
		return &bench.Needed{Forks: forks, Samples: forks * each, Runs: goodRuns}
	}
	level := o.Q / float64(max(1, tests))
	for n := forks; n <= mostForks; n++ {
		if n*each > most && e.decided(n, level, o) && separable(n*each, level) {
			return &bench.Needed{Forks: n, Samples: n * each}
		}
	}
	return nil
}

// What the simulations of this package show to be enough for a change of 5 %.
const (
	goodForks = 3
	goodRuns  = 10
)

// decided tells whether so many forks on each side would bring a verdict.
func (e evidence) decided(forks int, level float64, o Options) bool {
	s, _ := e.spreadOf(forks, forks, spread{e.forks.variance, float64(2 * (forks - 1))})
	sd := math.Sqrt(s.variance)
	if e.large(o) {
		return twoSided(e.change/sd, s.df) <= level
	}
	quiet := e.known.change(forks, forks, e.prior)
	hides := twoSided(e.coarse(o)/math.Sqrt(quiet.variance), quiet.df) > 1-floorLevel
	return !hides && twoSided(min(e.threshold(o), e.coarse(o))/sd, s.df) <= 1-o.Confidence
}

// separable tells whether samples of n each can at all have a Mann-Whitney p as small: that
// of two samples that do not overlap is two over the ways to choose n of 2n.
func separable(n int, level float64) bool {
	p := 2.0
	for k := 1; k <= n && p > level; k++ {
		p *= float64(k) / float64(n+k)
	}
	return p <= level
}
