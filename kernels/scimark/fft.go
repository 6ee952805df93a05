package scimark

import (
	"context"
	"fmt"
	"math"
	"slices"

	"benchd/kernels"
)

// The numbers of complex points of the two sizes.
const (
	fftSmall = 1 << 10
	fftLarge = 1 << 20
)

// fft measures the fast Fourier transform.
func fft() kernel {
	return kernel{
		name:      "scimark.fft",
		title:     "A fast Fourier transform of complex numbers, there and back.",
		operation: "one forward and one inverse transform in place",
		noun:      "cycle",
		sizes:     "The number of complex points: 1,024 (small) or 1,048,576 (large).",
		open: func(isLarge bool) kernels.Trial {
			return trial{newSpectrum(pick(isLarge, fftSmall, fftLarge))}
		},
	}
}

// spectrum is the data of one transform.
type spectrum struct{ data []complex128 }

// newSpectrum draws n points, the real part of each before the imaginary one.
func newSpectrum(n int) *spectrum {
	r := newRandom(seed)
	data := make([]complex128, n)
	for i := range data {
		re := r.next()
		data[i] = complex(re, r.next())
	}
	return &spectrum{data: data}
}

func (s *spectrum) cycle(context.Context) error {
	forward(s.data)
	inverse(s.data)
	return nil
}

// Count returns the flops that the original counts for the pair of transforms:
// (5N − 2)·log2 N + 2(N + 1).
func (s *spectrum) Count() kernels.Work {
	n := float64(len(s.data))
	return kernels.Work{Flops: (5*n-2)*math.Log2(n) + 2*(n+1)}
}

// Check transforms a copy of the data there and back; as in the original's Java version the
// root mean square of the differences, over N, may be 1e-10 at most.
func (s *spectrum) Check() error {
	again := slices.Clone(s.data)
	forward(again)
	inverse(again)
	const most = 1e-10
	// Written so that no number at all fails as well.
	if e := rms(again, s.data) / float64(len(again)); !(e <= most) {
		return fmt.Errorf("the transform and its inverse differ from the data by %.3g a point, more than %.3g", e, most)
	}
	return nil
}

// rms returns the root mean square of the differences of all 2N real numbers.
func rms(a, b []complex128) float64 {
	sum := 0.0
	for i, z := range a {
		d := z - b[i]
		sum += real(d)*real(d) + imag(d)*imag(d)
	}
	return math.Sqrt(sum / float64(2*len(a)))
}

// forward transforms the data in place; its length is a power of two.
func forward(data []complex128) { transform(data, -1) }

// inverse undoes forward, dividing by N.
func inverse(data []complex128) {
	transform(data, +1)
	norm := 1 / float64(len(data))
	for i, z := range data {
		data[i] = complex(real(z)*norm, imag(z)*norm)
	}
}

// transform is the radix-2 algorithm, decimation in time: the data in bit-reversed order,
// then log2 N stages of butterflies between points that lie 1, 2, 4, … apart (dual). The
// factors of a stage are the powers of exp(iθ), θ = direction·π/dual, made by the recurrence
//
//	w ← w + w·(−s2 + i·s),  s = sin θ,  s2 = 2·sin²(θ/2)
//
// with all the butterflies of one factor done before the next; that of the first is one.
//
// A stage sees the data as two slices of one length, dual apart, so that an unsigned index
// checked against the first needs no bounds check in either.
func transform(data []complex128, direction float64) {
	bitReverse(data)
	for dual := uint(1); dual < uint(len(data)); dual *= 2 {
		theta := direction * math.Pi / float64(dual)
		s, t := math.Sin(theta), math.Sin(theta/2)
		s2 := 2 * t * t
		high := data[dual:]
		low := data[:len(high)]
		n, step := uint(len(low)), 2*dual
		for b := uint(0); b < n; b += step {
			z, x := low[b], high[b]
			high[b] = z - x
			low[b] = z + x
		}
		re, im := 1.0, 0.0
		for a := uint(1); a < dual; a++ {
			re, im = re-s*im-s2*re, im+s*re-s2*im
			w := complex(re, im)
			for b := a; b < n; b += step {
				z, x := low[b], w*high[b]
				high[b] = z - x
				low[b] = z + x
			}
		}
	}
}

// bitReverse swaps each point with the one at the mirrored bits of its index. The mirrored
// index j is counted up from its top bit (Gold and Rader's algorithm), two indices a turn:
// that of an odd i is half the length above that of the even one before it. The last two
// points are in place after the others.
func bitReverse(data []complex128) {
	half := len(data) / 2
	j := 0
	for i := 0; i < len(data)-2; i += 2 {
		if i < j {
			data[i], data[j] = data[j], data[i]
		}
		if i+1 < j+half {
			data[i+1], data[j+half] = data[j+half], data[i+1]
		}
		// Adding one at the top clears the leading ones and sets the first zero.
		k := half / 2
		for k <= j {
			j -= k
			k /= 2
		}
		j += k
	}
}
