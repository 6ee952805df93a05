package scimark

import (
	"context"
	"errors"
	"fmt"
	"math"

	"benchd/kernels"
)

// The sizes of the matrix.
const (
	luSmall = 100
	luLarge = 1000
)

// lu measures the LU factorisation.
func lu() kernel {
	return kernel{
		name:      "scimark.lu",
		title:     "LU factorisation of a dense matrix with partial pivoting.",
		operation: "one copy and factorisation of the matrix",
		noun:      "cycle",
		sizes:     "The matrix: 100 × 100 (small) or 1,000 × 1,000 (large).",
		open: func(isLarge bool) kernels.Trial {
			return trial{newFactors(pick(isLarge, luSmall, luLarge))}
		},
	}
}

// factors is a matrix, its factors and the row exchanged at each step.
type factors struct {
	a, lu [][]float64
	pivot []int
	b     []float64 // a right-hand side, for the check
}

// newFactors draws the matrix, then the right-hand side.
func newFactors(n int) *factors {
	r := newRandom(seed)
	a := r.matrix(n)
	return &factors{a: a, lu: rows(make([]float64, n*n), n), pivot: make([]int, n), b: r.vector(n)}
}

func (f *factors) cycle(ctx context.Context) error {
	for i, row := range f.a {
		copy(f.lu[i], row)
	}
	return factor(ctx, f.lu, f.pivot)
}

// Count returns the flops that the original counts, 2N³/3.
func (f *factors) Count() kernels.Work {
	n := float64(len(f.a))
	return kernels.Work{Flops: 2 * n * n * n / 3}
}

// Check solves A·x = b with the factors; as in the original's Java version the sum of
// |A·x − b|, over N, may be 1e-12 at most.
func (f *factors) Check() error {
	x := f.solve()
	sum := 0.0
	for i, row := range f.a {
		d := -f.b[i]
		for j, v := range row {
			d += v * x[j]
		}
		sum += math.Abs(d)
	}
	const most = 1e-12
	// Written so that no number at all fails as well.
	if e := sum / float64(len(f.a)); !(e <= most) {
		return fmt.Errorf("the solution found with the factors is wrong by %.3g a row, more than %.3g", e, most)
	}
	return nil
}

// solve returns the solution of A·x = b: the exchanges of rows, then L forwards, then U
// backwards.
func (f *factors) solve() []float64 {
	x := append([]float64(nil), f.b...)
	for i, p := range f.pivot {
		x[i], x[p] = x[p], x[i]
	}
	for i, row := range f.lu {
		for j, v := range row[:i] {
			x[i] -= v * x[j]
		}
	}
	for i := len(x) - 1; i >= 0; i-- {
		row := f.lu[i]
		for j := i + 1; j < len(x); j++ {
			x[i] -= row[j] * x[j]
		}
		x[i] /= row[i]
	}
	return x
}

var errSingular = errors.New("the matrix is singular")

// factor replaces a by its factors: L, whose diagonal of ones is not stored, below the
// diagonal, U on and above it. It is the right-looking algorithm: for each column it finds
// the largest value, exchanges rows (by their pointers), scales the column and subtracts
// the product of column and row from what lies below and to the right. It looks at the
// context once a column, since a large matrix takes most of a second.
func factor(ctx context.Context, a [][]float64, pivot []int) error {
	for j := range a {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := largest(a, j)
		pivot[j] = p
		if a[p][j] == 0 {
			return errSingular
		}
		a[j], a[p] = a[p], a[j]
		below := a[j+1:]
		scale(below, j, 1/a[j][j])
		for _, row := range below {
			subtract(row[j+1:], row[j], a[j][j+1:])
		}
	}
	return nil
}

// largest returns the row, from the j-th on, with the largest value in column j.
func largest(a [][]float64, j int) int {
	p, most := j, math.Abs(a[j][j])
	for i := j + 1; i < len(a); i++ {
		if v := math.Abs(a[i][j]); v > most {
			p, most = i, v
		}
	}
	return p
}

// scale multiplies column j of the rows by f.
func scale(rows [][]float64, j int, f float64) {
	for _, row := range rows {
		row[j] *= f
	}
}

// subtract computes x ← x − f·y for two rows of one length. Nearly all of the time goes
// here: eight steps at a time, through pointers to arrays of eight, need no bounds checks
// and an eighth of the loop's own instructions.
func subtract(x []float64, f float64, y []float64) {
	for len(x) >= 8 && len(y) >= 8 {
		u, v := (*[8]float64)(x), (*[8]float64)(y)
		u[0] -= f * v[0]
		u[1] -= f * v[1]
		u[2] -= f * v[2]
		u[3] -= f * v[3]
		u[4] -= f * v[4]
		u[5] -= f * v[5]
		u[6] -= f * v[6]
		u[7] -= f * v[7]
		x, y = x[8:], y[8:]
	}
	y = y[:len(x)]
	for i := range x {
		x[i] -= f * y[i]
	}
}
