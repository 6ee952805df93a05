package scimark_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/scimark"
)

// near tells whether got is within 1e-9 of a check value: the values come from the C
// original on a processor that does not fuse a multiplication and an addition.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("%s is %.17g, want %.17g", what, got, want)
	}
}

// same tells whether the kernel and the literal translation agree, to the last digits
// where a compiler may fuse one and not the other.
func same(t *testing.T, got, want []float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(got[i] - want[i]); !(d <= 1e-9*max(1, math.Abs(want[i]))) {
			t.Fatalf("number %d is %.17g, the literal translation has %.17g", i, got[i], want[i])
		}
	}
}

func TestGenerator(t *testing.T) {
	t.Parallel()
	rows := []struct {
		seed int32
		want []float64
	}{
		{101010, []float64{0.33525962398166753, 0.69724724427668716, 0.97184885291934431, 0.93846861270185034, 0.39871413279264895}},
		{113, []float64{0.29153723236710638, 0.39566562343186962, 0.50197327905426425, 0.64522019757200977, 0.30076581952197751}},
	}
	for _, row := range rows {
		if d := cmp.Diff(row.want, scimark.Numbers(row.seed, 5)); d != "" {
			t.Errorf("seed %d (-want +got):\n%s", row.seed, d)
		}
	}
	for _, seed := range []int32{1, 2, -113, math.MaxInt32, 113, 101010} {
		if !slices.Equal(scimark.Numbers(seed, 1000), newLiteralGenerator(int(seed)).vector(1000)) {
			t.Errorf("seed %d gives other numbers than the literal translation", seed)
		}
	}
}

func TestFFT(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		n     int
		first complex128
		sum   float64
	}{
		{"tiny", 16, 0, 16.520109892133675},
		{"small", 1024, 526.0520079676304 + 502.97815864578735i, 1057.2870330965595},
		{"large", 1048576, 524012.39990181022 + 524125.02716017322i, 1082661.9218908907},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			data := scimark.Points(row.n)
			start := slices.Clone(data)
			literal := flat(data)
			scimark.Forward(data)
			literalFFT(literal, -1)
			same(t, flat(data), literal)
			sum := 0.0
			for _, x := range flat(data) {
				sum += x
			}
			near(t, "the sum", sum, row.sum)
			if row.first != 0 {
				near(t, "the real part of the first point", real(data[0]), real(row.first))
				near(t, "the imaginary part of the first point", imag(data[0]), imag(row.first))
			}
			scimark.Inverse(data)
			literalInverse(literal)
			same(t, flat(data), literal)
			if e := scimark.RMS(data, start); e > 1e-13 {
				t.Errorf("the inverse differs from the data by %g", e)
			}
		})
	}
	data := scimark.Points(1024)
	scimark.Forward(data)
	near(t, "the real part of X[1]", real(data[1]), -17.068763997493903)
	near(t, "the imaginary part of X[1]", imag(data[1]), -18.499686191262956)
}

// flat writes points as the original's interleaved numbers.
func flat(points []complex128) []float64 {
	out := make([]float64, 0, 2*len(points))
	for _, z := range points {
		out = append(out, real(z), imag(z))
	}
	return out
}

func TestSOR(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name        string
		n, sweeps   int
		sum, middle float64
	}{
		{"tiny", 10, 100, 46.332251448016372, 0.43978244050378057},
		{"small once", 100, 1, 5056.8296720088874, 0.5291654121909678},
		{"small", 100, 100, 5069.9850445022948, 0.50439459214164972},
		{"large", 1000, 1, 499797.22281548567, 0.51540834940626568},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			g := scimark.Matrix(row.n)
			literal := newLiteralGenerator(101010).matrix(row.n)
			for range row.sweeps {
				scimark.Sweep(g)
				literalSOR(literal, 1.25)
			}
			same(t, slices.Concat(g...), slices.Concat(literal...))
			near(t, "the sum", scimark.Total(g), row.sum)
			near(t, "the middle", g[row.n/2][row.n/2], row.middle)
		})
	}
}

func TestMonteCarlo(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{1000: 3.16, 1_000_000: 3.139796} {
		if got := scimark.Pi(n); got != want {
			t.Errorf("π from %d samples is %v, want %v", n, got, want)
		}
	}
	for _, n := range []int{1, 2, 16, 17, 18, 33, 34, 35, 1001} {
		if got, want := scimark.Pi(n), literalMonteCarlo(n); got != want {
			t.Errorf("π from %d samples is %v, the literal translation has %v", n, got, want)
		}
	}
}

func TestSparse(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name             string
		n, nonZero       int
		sum, first, last float64
	}{
		{"tiny", 10, 50, 15.210582165925166, 0, 0},
		{"small", 1000, 5000, 1190.6472385985933, 1.5054132035483789, 1.9177963809881404},
		{"large", 100_000, 1_000_000, 242020.31251847022, 2.8380756235048699, 1.8809874560211202},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			y, x, val, col, starts := scimark.Product(row.n, row.nonZero)
			literal := make([]float64, row.n)
			literalSparse(literal, x, val, col, starts)
			same(t, y, literal)
			sum := 0.0
			for _, v := range y {
				sum += v
			}
			near(t, "the sum", sum, row.sum)
			if row.first != 0 {
				near(t, "the first", y[0], row.first)
				near(t, "the last", y[row.n-1], row.last)
			}
		})
	}
}

func TestLU(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name              string
		n                 int
		logs, first, last float64
		pivots            []int
	}{
		{"tiny", 10, 0, 0, 0, []int{8}},
		{"small", 100, 57.0952661934598, 0.98316339123210095, -0.09061119656263994, []int{62, 48, 34}},
		{"large", 1000, 1716.68119387708, 0.99916459200864871, -13.799701800393194, []int{146, 491, 380}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a := scimark.Matrix(row.n)
			pivot, err := scimark.Factor(a)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.pivots, pivot[:len(row.pivots)]); d != "" {
				t.Errorf("first pivots (-want +got):\n%s", d)
			}
			literal := newLiteralGenerator(101010).matrix(row.n)
			pivots := make([]int, row.n)
			if !literalLU(literal, pivots) {
				t.Fatal("the literal translation finds the matrix singular")
			}
			if d := cmp.Diff(pivots, pivot); d != "" {
				t.Errorf("all pivots (-literal +got):\n%s", d)
			}
			same(t, slices.Concat(a...), slices.Concat(literal...))
			if row.logs == 0 {
				near(t, "the sum", scimark.Total(a), 24.443880079235356)
				return
			}
			logs := 0.0
			for i := range a {
				logs += math.Log(math.Abs(a[i][i]))
			}
			near(t, "the sum of the logarithms of the diagonal", logs, row.logs)
			near(t, "the first", a[0][0], row.first)
			near(t, "the last", a[row.n-1][row.n-1], row.last)
		})
	}
}

func TestLUSingular(t *testing.T) {
	t.Parallel()
	if _, err := scimark.Factor([][]float64{{0, 1}, {0, 2}}); err == nil {
		t.Error("a matrix with a column of zeros was factored")
	}
}
