package scimark

import (
	"context"
	"math"

	"benchd/kernels"
)

// What the tests of the numbers need beyond the kernels themselves.

// Numbers returns the first n numbers of the generator.
func Numbers(seed int32, n int) []float64 { return newRandom(seed).vector(n) }

// Matrix returns the matrix that the kernels start from.
func Matrix(n int) [][]float64 { return newRandom(seed).matrix(n) }

// Points returns the data that the transform starts from.
func Points(n int) []complex128 { return newSpectrum(n).data }

// The inner functions of the kernels.
var (
	Forward = forward
	Inverse = inverse
	RMS     = rms
	Sweep   = sweep
	Total   = total
)

// Pi returns the estimate of π from n samples.
func Pi(n int) float64 { return pi(newRandom(sampleSeed).under(n), n) }

// Product returns the product of the sparse matrix and its vector, and what went into it.
func Product(n, nonZero int) (y, x, val []float64, col, row []uint32) {
	s := newSparseMatrix(n, nonZero, 0)
	s.multiply()
	return s.y, s.x, s.val, s.col, s.row
}

// Factor returns the factors of a matrix in place, and the pivots.
func Factor(a [][]float64) ([]int, error) {
	pivot := make([]int, len(a))
	err := factor(context.Background(), a, pivot)
	return pivot, err
}

// Spoil makes the answer of a trial wrong.
func Spoil(t kernels.Trial) {
	if s, ok := t.(*samples); ok {
		s.under = 0
		return
	}
	switch p := t.(trial).problem.(type) {
	case *spectrum:
		p.data[1] = complex(math.NaN(), 0)
	case *grid:
		p.g[0][1]++
	case *sparseMatrix:
		p.y[1]++
	case *factors:
		p.lu[1][1]++
	}
}
