package scimark_test

import (
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/scimark"
)

func BenchmarkFFT(b *testing.B)        { bench(b, "scimark.fft", translatedFFT) }
func BenchmarkSOR(b *testing.B)        { bench(b, "scimark.sor", translatedSOR) }
func BenchmarkMonteCarlo(b *testing.B) { bench(b, "scimark.montecarlo", translatedMonteCarlo) }
func BenchmarkSparse(b *testing.B)     { bench(b, "scimark.sparse", translatedSparse) }
func BenchmarkLU(b *testing.B)         { bench(b, "scimark.lu", translatedLU) }

// bench runs a kernel and its literal translation in turns of some milliseconds, so that
// what disturbs the machine disturbs both. It reports the kernel's Mflop/s and how many
// times as fast as the translation it is. The time of an operation that the benchmark
// itself prints is that of a turn of both, and so are its allocations: one a turn in the
// translation of Monte Carlo, whose generator is an object as in the original, else none.
func bench(b *testing.B, name string, translated func(large bool) func(n int)) {
	b.Helper()
	for _, size := range []string{"small", "large"} {
		b.Run(size, func(b *testing.B) {
			trial := open(b, find(b, name), size)
			counter, ok := trial.(kernels.Counter)
			if !ok {
				b.Fatalf("%s does not count its work", name)
			}
			flops := counter.Count().Flops
			turn := max(1, int(5e6/flops))
			literal := translated(size == "large")
			literal(turn)
			b.ReportAllocs()
			var took, tookLiteral time.Duration
			for b.Loop() {
				start := time.Now()
				if err := trial.Do(b.Context(), turn); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				literal(turn)
				took += middle.Sub(start)
				tookLiteral += time.Since(middle)
			}
			b.ReportMetric(flops*float64(turn)*float64(b.N)/took.Seconds()/1e6, "Mflop/s")
			b.ReportMetric(tookLiteral.Seconds()/took.Seconds(), "x-literal")
		})
	}
}

// find returns the kernel with the given name.
func find(tb testing.TB, name string) kernels.Kernel {
	tb.Helper()
	for _, k := range scimark.Family().Kernels {
		if k.Info().Name == name {
			return k
		}
	}
	tb.Fatalf("there is no kernel %s", name)
	return nil
}

// size returns the small or the large size.
func size(large bool, small, big int) int {
	if large {
		return big
	}
	return small
}

func translatedFFT(large bool) func(int) {
	data := newLiteralGenerator(101010).vector(2 * size(large, 1<<10, 1<<20))
	return func(n int) {
		for range n {
			literalFFT(data, -1)
			literalInverse(data)
		}
	}
}

func translatedSOR(large bool) func(int) {
	g := newLiteralGenerator(101010).matrix(size(large, 100, 1000))
	return func(n int) {
		for range n {
			literalSOR(g, 1.25)
		}
	}
}

func translatedMonteCarlo(bool) func(int) {
	return func(n int) { literalMonteCarlo(n) }
}

func translatedSparse(large bool) func(int) {
	y, x, val, col, row := scimark.Product(size(large, 1000, 100_000), size(large, 5000, 1_000_000))
	return func(n int) {
		for range n {
			literalSparse(y, x, val, col, row)
		}
	}
}

func translatedLU(large bool) func(int) {
	n := size(large, 100, 1000)
	a, lu, pivot := newLiteralGenerator(101010).matrix(n), newLiteralGenerator(1).matrix(n), make([]int, n)
	return func(n int) {
		for range n {
			for i := range a {
				copy(lu[i], a[i])
			}
			literalLU(lu, pivot)
		}
	}
}
