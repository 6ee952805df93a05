package compare

import (
	"math"

	"benchd/worker/bench"
)

// mostForks is where the search for enough forks ends: a plan may ask for no more.
const mostForks = 100

// needed tells how many forks and samples each side should have for a verdict, supposing the
// change and the noise stay what they are. It is nil where more of them would not help.
func (e evidence) needed(tests int, o Options) *bench.Needed {
	base, head := e.pair.base, e.pair.head
	forks := max(1, len(base.forks), len(head.forks))
	slices := 1
	if forks > 0 {
		slices = max(1, (max(base.n, head.n)+forks-1)/forks)
	}
	switch {
	case base.doubt("bimodal") != "" || head.doubt("bimodal") != "":
		return nil
	case !e.tested:
		return e.start(forks, slices)
	}
	level := o.Q / float64(max(1, tests))
	for n := forks; n <= mostForks; n++ {
		if e.decided(n, level, o) && separable(n*slices, level) {
			if n == forks { // the two sides had not as many
				n++
			}
			return &bench.Needed{Forks: n, Samples: n * slices}
		}
	}
	return nil
}

// start tells what a test needs at least.
func (e evidence) start(forks, slices int) *bench.Needed {
	if e.pair.base.n == 0 || e.pair.head.n == 0 || !e.measured {
		return nil
	}
	if e.known == nil {
		forks = max(forks, 3)
	}
	return &bench.Needed{Forks: forks, Samples: max(minSamples, forks*slices)}
}

// decided tells whether so many forks on each side would bring a verdict.
func (e evidence) decided(forks int, level float64, o Options) bool {
	s, _ := e.spreadOf(forks, forks, spread{e.forks.variance, float64(2 * (forks - 1))})
	sd := math.Sqrt(s.variance)
	if math.Abs(e.change) > e.threshold(o) {
		return twoSided(e.change/sd, s.df) <= level
	}
	return quantile(1-o.Confidence, s.df)*sd <= e.threshold(o)
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
