package compare

import (
	"math"
	"slices"

	"benchd/worker/bench"
)

// evidence is what the samples of a pair, and the noise known of it, say.
type evidence struct {
	pair     pair
	measured bool    // both sides have a figure that a ratio can be made of
	change   float64 // logarithm of head over base
	forks    spread  // of the forks' levels within the sides, as measured now
	known    *known  // noise from repeated runs; nil where there is none
	prior    prior   // what the other cases tell of forks

	tested     bool    // what follows is set
	spread     spread  // of the change
	half       float64 // half-width of the interval of the change, logarithm
	floor      float64 // logarithm of the change that noise alone may make
	noisier    bool    // the forks vary more than they used to
	p, whitney float64
}

// known is the noise of both sides from repeated runs.
type known struct {
	base, head history
	oneHost    bool // the two are one estimate
	floor      bench.NoiseFloor
}

// leastVariance keeps samples that are all equal, such as counts, from dividing by zero. No
// machine is as steady as its root, a hundred thousandth.
const leastVariance = 1e-10

// weigh looks at a pair by itself. An incomparable one is measured, but not tested.
func (p pair) weigh(noise Noise) evidence {
	e := evidence{pair: p}
	for _, s := range []side{p.base, p.head} {
		if s.n == 0 || !positive(s.forks) {
			return e
		}
	}
	e.measured = true
	e.change = mean(levels(p.head.forks)) - mean(levels(p.base.forks))
	e.forks = pool(within(levels(p.base.forks)), within(levels(p.head.forks)))
	e.known = p.known(noise)
	return e
}

// known looks the noise of both sides up.
func (p pair) known(noise Noise) *known {
	b, okB := noise.Floor(p.base.host, p.c, p.base.first().Placement)
	h, okH := noise.Floor(p.head.host, p.c, p.head.first().Placement)
	if !okB || !okH || !usable(b) || !usable(h) {
		return nil
	}
	k := known{base: historyOf(b), head: historyOf(h), oneHost: p.base.host == p.head.host, floor: h}
	if b.Value > h.Value {
		k.floor = b
	}
	return &k
}

// testable tells whether the spread of the change can be estimated, and from enough samples.
func (e evidence) testable() bool {
	return e.measured && min(e.pair.base.n, e.pair.head.n) >= minSamples && (e.known != nil || e.forks.df > 0)
}

// borrow lets the cases learn from each other: those whose noise was never measured how
// forks vary, the others how much more runs vary than their forks explain.
func borrow(list []evidence) {
	var forks, alone, runs, explained []spread
	for _, e := range list {
		switch {
		case !e.testable():
		case e.known == nil:
			forks, alone = append(forks, e.forks), append(alone, spread{1, math.Inf(1)})
		default:
			h := e.known.head
			runs, explained = append(runs, h.figures), append(explained, h.forks.times(h.share))
		}
	}
	unknown, known := priorOf(forks, alone), priorOf(runs, explained)
	for i := range list {
		list[i].prior = unknown
		if list[i].known != nil {
			list[i].prior = known
		}
	}
}

// test works out the spread of the change and how probable the change is by chance.
func (e *evidence) test(o Options) {
	b, h := len(e.pair.base.forks), len(e.pair.head.forks)
	e.spread, e.noisier = e.spreadOf(b, h, e.forks)
	e.half = quantile(1-o.Confidence, e.spread.df) * math.Sqrt(e.spread.variance)
	e.floor = math.Log1p(o.DefaultFloor)
	if e.known != nil {
		quiet := e.known.change(b, h, e.prior)
		e.floor = quantile(1-floorLevel, quiet.df) * math.Sqrt(quiet.variance)
	}
	e.whitney = mannWhitney(slices.Concat(e.pair.base.forks...), slices.Concat(e.pair.head.forks...))
	e.p = max(e.whitney, twoSided(e.change/math.Sqrt(e.spread.variance), e.spread.df))
	e.tested = true
}

// spreadOf is the variance of the change between two runs of so many forks each, and whether
// the forks as measured now vary more than those of the history.
func (e evidence) spreadOf(base, head int, forks spread) (spread, bool) {
	shares := shareOf(float64(base)) + shareOf(float64(head))
	if e.known == nil {
		s := pool(forks, spread(e.prior)).times(shares + 2*unseen)
		return spread{max(s.variance, leastVariance), s.df}, false
	}
	s := e.known.change(base, head, e.prior)
	past := e.known.base.forks
	if !e.known.oneHost {
		past = pool(past, e.known.head.forks)
	}
	if past.df == 0 || e.forks.df == 0 || e.forks.variance <= past.variance {
		return s, false
	}
	if past.variance > 0 && upperF(e.forks.variance/past.variance, e.forks.df, past.df) > noisierLevel {
		return s, false
	}
	return s.add(spread{(e.forks.variance - past.variance) * shares, forks.df}), true
}

// unseen is how much runs are supposed to vary beyond what their forks explain, as a
// multiple of the variance of a fork, where no repeated runs have shown it. Hosts that are
// not alone on their machine do vary so much: in the series that the simulations of this
// package draw from, a smaller supposition makes more than one false alarm in twenty
// reports. It is the price of not having calibrated that only large changes are seen.
const unseen = 6.0

// noisierLevel is how improbable it must be that forks vary so much by chance, before they
// are taken to be noisier than the history.
const noisierLevel = 0.01

// change is the variance of the change between two runs of so many forks by the history. On
// one host both terms are one estimate and share its degrees of freedom.
func (k known) change(base, head int, p prior) spread {
	b, h := k.base.figure(float64(base), p), k.head.figure(float64(head), p)
	s := b.add(h)
	if k.oneHost {
		s.df = min(b.df, h.df)
	}
	return spread{max(s.variance, leastVariance), s.df}
}
