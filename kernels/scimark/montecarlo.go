package scimark

import (
	"context"
	"fmt"
	"math"

	"benchd/kernels"
)

// sampleSeed starts the generator of the samples.
const sampleSeed = 113

// stretch is how many samples are taken between two looks at the context: some milliseconds.
const stretch = 1 << 20

// monteCarlo measures Monte Carlo integration.
func monteCarlo() kernel {
	return kernel{
		name:      "scimark.montecarlo",
		title:     "The number π from random points: the speed of a generator of random numbers.",
		operation: "one sample, a point of two random numbers",
		noun:      "sample",
		sizes:     "Changes nothing here: the samples need no memory, so that small and large are the same work.",
		open:      func(bool) kernels.Trial { return new(samples) },
	}
}

// samples counts the points of the last Do.
type samples struct{ taken, under int }

// Do takes n samples from a fresh generator.
func (s *samples) Do(ctx context.Context, n int) error {
	var r random
	r.start(sampleSeed)
	s.taken, s.under = 0, 0
	for s.taken < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(n-s.taken, stretch)
		s.under += r.under(k)
		s.taken += k
	}
	return nil
}

// Close has nothing to give back.
func (s *samples) Close() error { return nil }

// Count returns the flops of one sample: three of x² + y² and one of the generator, as the
// original counts.
func (s *samples) Count() kernels.Work { return kernels.Work{Flops: 4} }

// Check compares the estimate of π over the first 1,000 samples with the known one, and that
// of the last Do with π. The deviation of an estimate is 1.64/√n; ten of those are allowed.
func (s *samples) Check() error {
	const first, known = 1000, 3.16
	if err := compare("estimate of π from 1,000 samples", pi(newRandom(sampleSeed).under(first), first), known); err != nil {
		return err
	}
	if s.taken == 0 {
		return nil
	}
	if p := pi(s.under, s.taken); math.Abs(p-math.Pi) > 16.4/math.Sqrt(float64(s.taken)) {
		return fmt.Errorf("the estimate of π from %d samples is %.17g", s.taken, p)
	}
	return nil
}

// pi is the estimate from the share of points under the curve.
func pi(under, n int) float64 { return 4 * float64(under) / float64(n) }

// under takes n samples and returns how many lie within the quarter circle, x² + y² ≤ 1.
// It is next, twice, with the generator's state in locals.
func (r *random) under(n int) int {
	m, i, j := r.m, r.i, r.j
	count := 0
	for range n {
		k := m[i&mask] - m[j&mask]
		k += k >> 31 & m1
		m[j&mask] = k
		i, j = before(i), before(j)
		x := dm1 * float64(k)

		k = m[i&mask] - m[j&mask]
		k += k >> 31 & m1
		m[j&mask] = k
		i, j = before(i), before(j)
		y := dm1 * float64(k)

		if x*x+y*y <= 1 {
			count++
		}
	}
	r.m, r.i, r.j = m, i, j
	return count
}
