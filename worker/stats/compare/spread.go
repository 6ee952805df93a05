package compare

import (
	"math"

	"benchd/worker/stats"
)

// A spread is an estimate of a variance, of logarithms, with its degrees of freedom.
type spread struct {
	variance, df float64
}

// pool takes several estimates of one variance together, each by its degrees of freedom.
func pool(list ...spread) spread {
	var sum spread
	for _, s := range list {
		sum.variance += s.variance * s.df
		sum.df += s.df
	}
	if sum.df > 0 {
		sum.variance /= sum.df
	}
	return sum
}

// add gives the variance of the sum of two independent errors, with degrees of freedom by
// Satterthwaite's approximation (1946).
func (s spread) add(o spread) spread {
	v := s.variance + o.variance
	part := func(s spread) float64 {
		if s.variance == 0 || s.df == 0 {
			return 0
		}
		return s.variance * s.variance / s.df
	}
	if d := part(s) + part(o); d > 0 {
		return spread{v, v * v / d}
	}
	return spread{v, max(s.df, o.df)}
}

// times gives the variance of the error times the square root of c.
func (s spread) times(c float64) spread { return spread{s.variance * c, s.df} }

// shareOf is the variance of the mean of n values over the variance of one.
func shareOf(n float64) float64 { return 1 / n }

// relative turns the logarithm of a ratio into a change: 0.05 for 5 % more. Digits that are
// an accident of the arithmetic are dropped, so that a figure is the same on every
// processor, and what is beyond all measure stays a finite number.
func relative(log float64) float64 {
	const beyond = 100
	return math.Round(math.Expm1(max(-beyond, min(beyond, log)))*1e9) / 1e9
}

// levels gives the logarithm of each fork's median sample.
func levels(forks [][]float64) []float64 {
	out := make([]float64, len(forks))
	for i, f := range forks {
		out[i] = math.Log(stats.Middle(f))
	}
	return out
}

// within is the variance of values about their mean.
func within(values []float64) spread {
	if len(values) < 2 {
		return spread{}
	}
	m := 0.0
	for _, v := range values {
		m += v / float64(len(values))
	}
	s := 0.0
	for _, v := range values {
		s += (v - m) * (v - m)
	}
	df := float64(len(values) - 1)
	return spread{s / df, df}
}

// A prior is what the other cases of a comparison tell about a variance of one: as if it had
// been seen to be of that size with so many degrees of freedom.
type prior spread

// priorOf finds the prior that the variances of many cases are drawn from, by the moments of
// their logarithms (Smyth, Linear models and empirical Bayes methods, 2004, section 6.2).
// Cases that differ much from each other give few degrees of freedom, so that little is
// borrowed. Over tells, for each, an estimate that it is a multiple of: then it is this
// multiple that the cases share.
func priorOf(list, over []spread) prior {
	var e []float64
	noise := 0.0
	for i, s := range list {
		o := over[i]
		if s.df == 0 || s.variance == 0 || o.df == 0 || o.variance == 0 {
			continue
		}
		e = append(e, math.Log(s.variance)-bias(s.df)-math.Log(o.variance)+bias(o.df))
		noise += trigamma(s.df/2) + trigamma(o.df/2)
	}
	if len(e) < minBorrow {
		return prior{}
	}
	excess := within(e).variance - noise/float64(len(e))
	df := maxBorrow
	if excess > 0 {
		df = min(df, 2*inverseTrigamma(excess))
	}
	return prior{math.Exp(mean(e) + bias(df)), df}
}

// bias is how far the logarithm of an estimate of a variance is off, in the mean.
func bias(df float64) float64 {
	if math.IsInf(df, 1) {
		return 0
	}
	return digamma(df/2) - math.Log(df/2)
}

func mean(values []float64) float64 {
	m := 0.0
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// Fewer cases than this tell nothing about each other, and their prior never outweighs an
// estimate of as many degrees of freedom.
const (
	minBorrow = 5
	maxBorrow = 60.0
)
