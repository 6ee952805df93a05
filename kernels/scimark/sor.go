package scimark

import (
	"context"
	"errors"
	"math"
	"slices"

	"benchd/kernels"
)

// The sizes of the grid, and the sum of all its points after the first sweep.
const (
	sorSmall    = 100
	sorLarge    = 1000
	sorSumSmall = 5056.8296720088874
	sorSumLarge = 499797.22281548567
)

// omega is the factor of over-relaxation.
const omega = 1.25

// sor measures successive over-relaxation.
func sor() kernel {
	return kernel{
		name:      "scimark.sor",
		title:     "Successive over-relaxation on a square grid, each point from its neighbours.",
		operation: "one Gauss-Seidel sweep over the interior of the grid",
		noun:      "cycle",
		sizes:     "The grid: 100 × 100 (small) or 1,000 × 1,000 (large).",
		open: func(isLarge bool) kernels.Trial {
			if isLarge {
				return trial{newGrid(sorLarge, sorSumLarge)}
			}
			return trial{newGrid(sorSmall, sorSumSmall)}
		},
	}
}

// grid is the data of the relaxation.
type grid struct {
	g   [][]float64
	sum float64 // right after the first sweep
}

func newGrid(n int, sum float64) *grid {
	return &grid{g: newRandom(seed).matrix(n), sum: sum}
}

func (g *grid) cycle(context.Context) error {
	sweep(g.g)
	return nil
}

// Count returns the flops that the original counts, 6·(M − 1)·(N − 1): a little more than
// the (M − 2)·(N − 2) points of the interior have.
func (g *grid) Count() kernels.Work {
	n := float64(len(g.g) - 1)
	return kernels.Work{Flops: 6 * n * n}
}

// Check sweeps a fresh grid once and compares its sum with the known one. Of the trial's own
// grid, whose right state depends on the number of sweeps, it knows that the rim never
// changes and that the interior tends to a mean of the rim: with ω = 1.25 a point
// leaves the range of its neighbours, 0 to 1, by a quarter of it for a while, but never far.
func (g *grid) Check() error {
	fresh := newRandom(seed).matrix(len(g.g))
	n := len(g.g) - 1
	if !slices.Equal(g.g[0], fresh[0]) || !slices.Equal(g.g[n], fresh[n]) {
		return errors.New("the relaxation changed the rim of its grid")
	}
	for _, row := range g.g {
		for _, x := range row {
			if !(math.Abs(x) <= 2) {
				return errors.New("the relaxation does not converge")
			}
		}
	}
	sweep(fresh)
	return compare("sum of the grid after one sweep", total(fresh), g.sum)
}

// total adds up all points, row after row.
func total(m [][]float64) float64 {
	sum := 0.0
	for _, row := range m {
		for _, x := range row {
			sum += x
		}
	}
	return sum
}

// sweep sets every interior point to
//
//	ω/4·(up + down + left + right) + (1 − ω)·point
//
// in place and in order, so that up and left are this sweep's values.
func sweep(g [][]float64) {
	for i := 1; i < len(g)-1; i++ {
		relax(g[i-1], g[i], g[i+1])
	}
}

// relax does one row of a sweep. The point on the left, just computed, stays in a register:
// reading it back from memory would add a store's latency to a chain that already sets the
// pace.
func relax(up, row, down []float64) {
	const quarter, rest = omega * 0.25, 1 - omega
	n := len(row) - 1
	up, down = up[:n], down[:n]
	left, point := row[0], row[1]
	for j := 1; j < n; j++ {
		right := row[j+1]
		left = quarter*(up[j]+down[j]+left+right) + rest*point
		row[j] = left
		point = right
	}
}
