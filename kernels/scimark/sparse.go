package scimark

import (
	"context"

	"benchd/kernels"
)

// The rows and the non-zero values of the two sizes, and the sum of the product.
const (
	sparseSmall        = 1000
	sparseLarge        = 100_000
	sparseNonZeroSmall = 5000
	sparseNonZeroLarge = 1_000_000
	sparseSumSmall     = 1190.6472385985933
	sparseSumLarge     = 242020.31251847022
)

// sparse measures the product of a sparse matrix and a vector.
func sparse() kernel {
	return kernel{
		name:      "scimark.sparse",
		title:     "A sparse matrix times a vector, reading memory through an index.",
		operation: "one product of the matrix and the vector",
		noun:      "cycle",
		sizes:     "The matrix: 1,000 rows with 5,000 values (small) or 100,000 with 1,000,000 (large).",
		open: func(isLarge bool) kernels.Trial {
			if isLarge {
				return trial{newSparseMatrix(sparseLarge, sparseNonZeroLarge, sparseSumLarge)}
			}
			return trial{newSparseMatrix(sparseSmall, sparseNonZeroSmall, sparseSumSmall)}
		},
	}
}

// sparseMatrix is the matrix in compressed rows, and both vectors of the product. The values
// of row r and their columns lie at row[r] to row[r+1].
type sparseMatrix struct {
	y, x []float64
	val  []float64
	col  []int32
	row  []int32
	sum  float64 // of y, once it is computed
}

// newSparseMatrix draws the vector, then the values. Each row has as many values, spread
// from its first column to the diagonal.
func newSparseMatrix(n, nonZero int, sum float64) *sparseMatrix {
	r := newRandom(seed)
	perRow := nonZero / n
	s := &sparseMatrix{
		y: make([]float64, n), x: r.vector(n), val: r.vector(perRow * n),
		col: make([]int32, perRow*n), row: make([]int32, n+1), sum: sum,
	}
	for i := range n {
		step := max(1, i/perRow)
		s.row[i+1] = int32((i + 1) * perRow)
		for k := range perRow {
			s.col[i*perRow+k] = int32(k * step)
		}
	}
	return s
}

func (s *sparseMatrix) cycle(context.Context) error {
	s.multiply()
	return nil
}

// Count returns two flops a value.
func (s *sparseMatrix) Count() kernels.Work {
	return kernels.Work{Flops: 2 * float64(len(s.val))}
}

// Check compares the sum of the last product with the known one.
func (s *sparseMatrix) Check() error {
	sum := 0.0
	for _, v := range s.y {
		sum += v
	}
	return compare("sum of the product", sum, s.sum)
}

// multiply computes y = A·x.
func (s *sparseMatrix) multiply() {
	x, col, val := s.x, s.col, s.val
	row := s.row[1:]
	y := s.y[:len(row)]
	col = col[:len(val)]
	i := uint(0)
	for r, end := range row {
		sum := 0.0
		for ; i < uint(end) && i < uint(len(val)); i++ {
			sum += x[col[i]] * val[i]
		}
		y[r] = sum
	}
}
