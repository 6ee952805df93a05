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
	col  []uint32
	row  []uint32
	sum  float64 // of y, once it is computed
}

// newSparseMatrix draws the vector, then the values. Each row has as many values, spread
// from its first column to the diagonal.
func newSparseMatrix(n, nonZero int, sum float64) *sparseMatrix {
	r := newRandom(seed)
	perRow := nonZero / n
	s := &sparseMatrix{
		y: make([]float64, n), x: r.vector(n), val: r.vector(perRow * n),
		col: make([]uint32, perRow*n), row: make([]uint32, n+1), sum: sum,
	}
	for i := range n {
		step := max(1, i/perRow)
		s.row[i+1] = uint32((i + 1) * perRow)
		for k := range perRow {
			s.col[i*perRow+k] = uint32(k * step)
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

// multiply computes y = A·x, five values of a row at a time and the rest one by one, adding
// them up in order; the rows of both sizes have a multiple of five. Both slices of values
// have one length and capacity, and the end of a row is held below it, which leaves the
// compiler one bounds check for each value: that of its column, which only the data knows.
func (s *sparseMatrix) multiply() {
	n := uint(len(s.val))
	x, val, col := s.x, s.val[:n:n], s.col[:n:n]
	ends := s.row[1:]
	y := s.y[:len(ends)]
	i := uint(0)
	for r, end := range ends {
		sum := 0.0
		end := min(uint(end), n)
		for i+5 <= end {
			v, c := val[i:i+5:i+5], col[i:i+5:i+5]
			sum += x[c[0]] * v[0]
			sum += x[c[1]] * v[1]
			sum += x[c[2]] * v[2]
			sum += x[c[3]] * v[3]
			sum += x[c[4]] * v[4]
			i += 5
		}
		for ; i < end; i++ {
			sum += x[col[i]] * val[i]
		}
		y[r] = sum
	}
}
