package scimark_test

import "math"

// The kernels once more, translated word for word into Go: indices where the C original has
// indices, loops where it has loops. They are the baseline of the benchmarks and, with the
// check values, the tests of the kernels' numbers.

// literalGenerator is the generator with an index that wraps by a comparison.
type literalGenerator struct {
	m    [17]int
	i, j int
}

func newLiteralGenerator(seed int) *literalGenerator {
	const m1, m2 = 2147483647, 65536
	r := &literalGenerator{i: 4, j: 16}
	jseed := min(max(seed, -seed), m1)
	if jseed%2 == 0 {
		jseed--
	}
	k0, k1 := 9069%m2, 9069/m2
	j0, j1 := jseed%m2, jseed/m2
	for i := 0; i < 17; i++ {
		t := j0 * k0
		j1 = (t/m2 + j0*k1 + j1*k0) % (m2 / 2)
		j0 = t % m2
		r.m[i] = j0 + m2*j1
	}
	return r
}

func (r *literalGenerator) next() float64 {
	const m1 = 2147483647
	k := r.m[r.i] - r.m[r.j]
	if k < 0 {
		k += m1
	}
	r.m[r.j] = k
	if r.i == 0 {
		r.i = 16
	} else {
		r.i--
	}
	if r.j == 0 {
		r.j = 16
	} else {
		r.j--
	}
	return 1.0 / m1 * float64(k)
}

func (r *literalGenerator) vector(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.next()
	}
	return v
}

func (r *literalGenerator) matrix(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = r.vector(n)
	}
	return m
}

// literalFFT transforms 2n interleaved numbers.
func literalFFT(data []float64, direction float64) {
	n := len(data) / 2
	literalBitReverse(data)
	for dual := 1; dual < n; dual *= 2 {
		wr, wi := 1.0, 0.0
		theta := 2.0 * direction * math.Pi / (2.0 * float64(dual))
		s, t := math.Sin(theta), math.Sin(theta/2.0)
		s2 := 2.0 * t * t
		for b := 0; b < n; b += 2 * dual {
			i, j := 2*b, 2*(b+dual)
			zr, zi := data[j], data[j+1]
			data[j] = data[i] - zr
			data[j+1] = data[i+1] - zi
			data[i] += zr
			data[i+1] += zi
		}
		for a := 1; a < dual; a++ {
			wr, wi = wr-s*wi-s2*wr, wi+s*wr-s2*wi
			for b := 0; b < n; b += 2 * dual {
				i, j := 2*(b+a), 2*(b+a+dual)
				zr := wr*data[j] - wi*data[j+1]
				zi := wr*data[j+1] + wi*data[j]
				data[j] = data[i] - zr
				data[j+1] = data[i+1] - zi
				data[i] += zr
				data[i+1] += zi
			}
		}
	}
}

func literalBitReverse(data []float64) {
	n := len(data) / 2
	j := 0
	for i := 0; i < n-1; i++ {
		k := n / 2
		if i < j {
			data[2*i], data[2*j] = data[2*j], data[2*i]
			data[2*i+1], data[2*j+1] = data[2*j+1], data[2*i+1]
		}
		for k <= j {
			j -= k
			k /= 2
		}
		j += k
	}
}

func literalInverse(data []float64) {
	literalFFT(data, 1)
	norm := 1 / float64(len(data)/2)
	for i := range data {
		data[i] *= norm
	}
}

func literalSOR(g [][]float64, omega float64) {
	quarter, rest := omega*0.25, 1.0-omega
	m, n := len(g), len(g[0])
	for i := 1; i < m-1; i++ {
		for j := 1; j < n-1; j++ {
			g[i][j] = quarter*(g[i-1][j]+g[i+1][j]+g[i][j-1]+g[i][j+1]) + rest*g[i][j]
		}
	}
}

func literalMonteCarlo(n int) float64 {
	r := newLiteralGenerator(113)
	under := 0
	for i := 0; i < n; i++ {
		x := r.next()
		y := r.next()
		if x*x+y*y <= 1.0 {
			under++
		}
	}
	return float64(under) / float64(n) * 4.0
}

func literalSparse(y, x, val []float64, col, row []uint32) {
	for r := 0; r < len(y); r++ {
		sum := 0.0
		for i := row[r]; i < row[r+1]; i++ {
			sum += x[col[i]] * val[i]
		}
		y[r] = sum
	}
}

func literalLU(a [][]float64, pivot []int) bool {
	n := len(a)
	for j := 0; j < n; j++ {
		jp := j
		t := math.Abs(a[j][j])
		for i := j + 1; i < n; i++ {
			if ab := math.Abs(a[i][j]); ab > t {
				jp, t = i, ab
			}
		}
		pivot[j] = jp
		if a[jp][j] == 0 {
			return false
		}
		a[j], a[jp] = a[jp], a[j]
		recp := 1.0 / a[j][j]
		for k := j + 1; k < n; k++ {
			a[k][j] *= recp
		}
		for i := j + 1; i < n; i++ {
			for k := j + 1; k < n; k++ {
				a[i][k] -= a[i][j] * a[j][k]
			}
		}
	}
	return true
}
