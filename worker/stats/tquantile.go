package stats

import (
	"math"

	"github.com/aclements/go-moremath/stats"
)

// studentT is the p-quantile of Student's t-distribution with the given degrees of freedom,
// right to five digits from 0.0005 to 0.9995. One and two degrees have a closed form; the
// others follow G. W. Hill's expansion (Algorithm 396: Student's t-quantiles, CACM 13, 1970),
// since thousands of quantiles are needed for one figure and a search would take a tenth of
// a second. The names are the algorithm's.
func studentT(p float64, degrees int) float64 {
	if p < 0.5 {
		return -studentT(1-p, degrees)
	}
	switch degrees {
	case 1:
		return math.Tan(math.Pi * (p - 0.5))
	case 2:
		return (2*p - 1) * math.Sqrt(2/(4*p*(1-p)))
	}
	n, tail := float64(degrees), 2*(1-p)
	a := 1 / (n - 0.5)
	b := 48 / (a * a)
	c := ((20700*a/b-98)*a-16)*a + 96.36
	d := ((94.5/(b+c)-3)/b + 1) * math.Sqrt(a*math.Pi/2) * n
	y := math.Pow(d*tail, 2/n)
	if y <= 0.05+a { // far out in the tail the expansion is another
		y = ((1/(((n+6)/(n*y)-0.089*d-0.822)*(n+2)*3)+0.5/(n+4))*y-1)*(n+1)/(n+2) + 1/y
		return math.Sqrt(n * y)
	}
	x := stats.StdNormal.InvCDF(tail / 2)
	y = x * x
	if degrees < 5 {
		c += 0.3 * (n - 4.5) * (x + 0.6)
	}
	c += (((0.05*d*x-5)*x-7)*x-2)*x + b
	y = (((((0.4*y+6.3)*y+36)*y+94.5)/c-y-3)/b + 1) * x
	return math.Sqrt(n * math.Expm1(a*y*y))
}
