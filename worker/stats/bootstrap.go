package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"benchd/worker/bench"
)

const (
	// draws is the number of resamples behind a standard error, which they tell to 2 %.
	draws = 1000

	seed1, seed2 = 0x62656e63, 0x68640001
)

// An estimate is a value with what is known of its error: Student's t with the degrees of
// freedom, times the standard error, in the value's unit or in its logarithm's.
type estimate struct {
	value   float64
	err     float64 // standard error
	degrees int
	log     bool
	least   float64 // no bound lies below it
}

// at is the value moved by a number of standard errors.
func (e estimate) at(t float64) float64 {
	if e.log {
		return e.value * math.Exp(t*e.err)
	}
	return max(e.least, e.value+t*e.err)
}

// figure writes the estimate, made of n samples, with its interval.
func (e estimate) figure(n int, confidence float64) Figure {
	f := Figure{N: n}
	if n == 0 {
		f.Reason = "no slice was measured"
		return f
	}
	f.Value = ptr(e.value)
	half := studentT(1-(1-confidence)/2, max(1, e.degrees))
	f.bound(e.at(-half), e.at(half))
	return f
}

// linear is the standard error in the value's unit.
func (e estimate) linear() float64 {
	if e.log {
		return e.value * e.err
	}
	return e.err
}

// estimateOf makes the estimate that a plan asks for, and counts the samples.
func estimateOf(interval bench.Interval, forks [][]float64) (e estimate, n int) {
	if interval == bench.PooledT {
		return pooledOf(forks)
	}
	return medianOf(forks)
}

func pooledOf(forks [][]float64) (e estimate, n int) {
	pool := slices.Concat(forks...)
	n = len(pool)
	if n == 0 {
		return e, 0
	}
	mean, spread := moments(pool)
	return estimate{value: mean, err: spread / math.Sqrt(float64(n)), degrees: n - 1, least: math.Inf(-1)}, n
}

// medianOf estimates the median of all samples. With one fork its slices are what is drawn,
// each a fork of its own.
func medianOf(forks [][]float64) (e estimate, n int) {
	units := filled(forks)
	pool := slices.Concat(units...)
	n = len(pool)
	if n == 0 {
		return e, 0
	}
	if len(units) == 1 {
		units = slices.Collect(slices.Chunk(units[0], 1))
	}
	e = estimate{value: Middle(pool), degrees: len(units) - 1, least: math.Inf(-1)}
	least := slices.Min(pool)
	e.log = least > 0
	if least >= 0 {
		e.least = 0
	}
	e.err = bootstrap(units, e.log)
	return e, n
}

// bootstrap gives the standard error of the median of all samples, or of its logarithm, when
// other forks had been measured: the median is worked out for many draws of as many forks,
// with replacement. A drawn fork keeps its slices: how they vary shows already in how the
// forks differ, and to draw them again would count it twice (Davison and Hinkley, Bootstrap
// Methods and their Application, 1997, section 3.8). Draws from k forks vary by k−1 parts of
// k too little, which the factor at the end makes up for.
func bootstrap(units [][]float64, log bool) float64 {
	k := len(units)
	if k < 2 {
		return 0
	}
	walk := sortedPool(units)
	rng := rand.New(rand.NewPCG(seed1, seed2))
	drawn := make([]int, k)
	medians := make([]float64, draws)
	for r := range medians {
		clear(drawn)
		total := 0
		for range k {
			u := rng.IntN(k)
			drawn[u]++
			total += len(units[u])
		}
		medians[r] = walk.median(drawn, total)
		if log {
			medians[r] = math.Log(medians[r])
		}
	}
	_, spread := moments(medians)
	return spread * math.Sqrt(float64(k)/float64(k-1))
}

// A pool is all samples in ascending order, each with the number of its unit. A draw is then
// a count for each unit, and its median is found without sorting again.
type pool []pooled

type pooled struct {
	value float64
	unit  int
}

func sortedPool(units [][]float64) pool {
	var p pool
	for u, samples := range units {
		for _, v := range samples {
			p = append(p, pooled{v, u})
		}
	}
	slices.SortFunc(p, func(a, b pooled) int { return cmp.Compare(a.value, b.value) })
	return p
}

// median is the median of a draw: each sample counts as often as its unit was drawn.
func (p pool) median(drawn []int, total int) float64 {
	below, seen := math.NaN(), 0
	for _, s := range p {
		seen += drawn[s.unit]
		if seen > (total-1)/2 && math.IsNaN(below) {
			below = s.value
		}
		if seen > total/2 {
			return (below + s.value) / 2
		}
	}
	return below
}

// moments gives the mean and the sample standard deviation.
func moments(v []float64) (mean, spread float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sum / float64(max(1, len(v)-1)))
}
