package compare

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
)

// twoSided is the probability that Student's t with df degrees of freedom is at least as far
// from zero as t.
func twoSided(t, df float64) float64 {
	if math.IsInf(df, 1) {
		return math.Erfc(math.Abs(t) / math.Sqrt2)
	}
	return mathx.BetaInc(df/(df+t*t), df/2, 0.5)
}

// quantile is the t that twoSided gives p for, 0 < p < 1, found by halving: the functions of
// the library give no inverse for the tails.
func quantile(p, df float64) float64 {
	low, high := 0.0, 1.0
	for twoSided(high, df) > p {
		low, high = high, 2*high
	}
	for range 60 {
		if mid := (low + high) / 2; twoSided(mid, df) > p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// upperF is the probability that a ratio of two estimates of one variance, with a and b
// degrees of freedom, is at least f.
func upperF(f, a, b float64) float64 {
	return mathx.BetaInc(b/(b+a*f), b/2, a/2)
}

// digamma and trigamma are the first two derivatives of the logarithm of the gamma function
// for x > 0: the recurrence lifts x to where the asymptotic series is exact (Abramowitz and
// Stegun, 6.3.18 and 6.4.12).
func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 12; x++ {
		sum -= 1 / x
	}
	y := 1 / (x * x)
	return sum + math.Log(x) - 1/(2*x) - y*(1.0/12-y*(1.0/120-y*(1.0/252-y/240)))
}

func trigamma(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	sum := 0.0
	for ; x < 12; x++ {
		sum += 1 / (x * x)
	}
	y := 1 / (x * x)
	return sum + 1/x + y/2 + y/x*(1.0/6-y*(1.0/30-y*(1.0/42-y/30)))
}

// inverseTrigamma gives the x > 0 whose trigamma is y > 0. Trigamma falls all the way, so
// halving finds it.
func inverseTrigamma(y float64) float64 {
	low, high := 1e-8, 1e8
	for range 100 {
		if mid := math.Sqrt(low * high); trigamma(mid) > y {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Sqrt(low * high)
}
