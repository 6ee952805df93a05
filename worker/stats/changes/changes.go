// Package changes finds the points of a history of figures where their level changed, in
// such a way that what was once found stays as it was when points are added.
//
// A history is looked at anew after each of its points, as if the rest were not known yet.
// A look sees a bounded window up to the newest point, beginning at the last change that is
// certain, and cuts it as Otava does (Fleming et al., Hunter: Using Change Point Detection
// to Hunt for Performance Regressions, ICPE 2023): by the energy of Matteson and James (A
// Nonparametric Approach for Multiple Change Point Analysis, JASA 109, 2014), Student's
// t-test in place of permutations, and a merge of the weakest points. A few outliers in the
// window are replaced by what is beside them before it is cut. A change that is found with
// enough points after it is certain from then on. The package is pure.
package changes

import (
	"math"
	"slices"

	"benchd/worker/stats"
)

// A Change is a point of a history from which on the values are on another level.
type Change struct {
	Index         int     // the first value on the new level
	Before, After float64 // medians of the values on either side in the window it was found in
	Change        float64 // After relative to Before, less one; 0 when Before is 0
	P             float64 // of the t-test of the two sides, without their outliers
	// Confirmed tells that enough values followed: the change stays as it is whatever values
	// are added. Others are provisional.
	Confirmed bool
}

// Options say when a change is one. The zero value takes the defaults.
type Options struct {
	Window    int     // values of one look, at most; 60 when 0
	Confirm   int     // values that must follow a change before it is confirmed; 8 when 0
	MaxP      float64 // a change's P is below it; DefaultMaxP when 0
	MinEffect float64 // a change is at least so large, relative
}

// DefaultMaxP is the largest P of a change. It is far below Otava's 0.001, since a history
// of some hundred points is looked at some hundred times, each time for the place that looks
// most like a change: with it, fewer than 2 % of histories of 200 points of noise have one.
const DefaultMaxP = 2e-7

const (
	defaultWindow  = 60
	defaultConfirm = 8
	// shortest is the least number of values on either side of a change: fewer have no
	// spread of their own.
	shortest = 4
	// weak is how much larger than MaxP the P of a point may be while the window is cut: a
	// weak point may hide two strong ones, and goes in the merge if it does not.
	weak = 10
)

// Find gives the changes of a history, ascending. The confirmed ones of a history are the
// first of those of any longer history that begins with it. Values that are not finite are
// passed over.
func Find(values []float64, o Options) []Change {
	o = o.filled()
	kept, index := finite(values)
	var certain, open []Change
	start := 0
	for n := 1; n <= len(kept); n++ {
		from := max(start, n-o.Window)
		open = look(kept[from:n], from, o)
		if len(open) > 0 && n-open[0].Index >= o.Confirm {
			first := open[0]
			first.Confirmed = true
			certain, open = append(certain, first), open[1:]
			start = first.Index
		}
	}
	found := slices.Concat(certain, open)
	for i := range found {
		found[i].Index = index[found[i].Index]
	}
	return found
}

func (o Options) filled() Options {
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	if o.Confirm == 0 {
		o.Confirm = defaultConfirm
	}
	if o.MaxP == 0 {
		o.MaxP = DefaultMaxP
	}
	o.Confirm = max(o.Confirm, shortest)
	o.Window = max(o.Window, 2*o.Confirm)
	return o
}

// finite gives the finite values and where each stood.
func finite(values []float64) (kept []float64, index []int) {
	for i, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			kept, index = append(kept, v), append(index, i)
		}
	}
	return kept, index
}

// look finds the changes of one window whose first value has the given index.
// Outliers are kept from the search, and count in the levels that are told.
func look(values []float64, offset int, o Options) []Change {
	w := window{values, calm(values)}
	points := w.split(0, len(values), o.MaxP*weak, nil)
	slices.Sort(points)
	points = w.merge(points, o)
	var out []Change
	for i, at := range points {
		from, to := sides(len(values), points, i)
		c := Change{Index: offset + at, Before: stats.Middle(values[from:at]), After: stats.Middle(values[at:to]), P: w.p(from, at, to)}
		c.Change = relative(c.Before, c.After)
		out = append(out, c)
	}
	return out
}

// split adds the points at which a part of the window may be cut.
func (w window) split(from, to int, maxP float64, points []int) []int {
	at, end := strongest(w.quiet[from:to])
	if at == 0 || w.p(from, from+at, from+end) >= maxP {
		return points
	}
	points = w.split(from, from+at, maxP, append(points, from+at))
	return w.split(from+at, to, maxP, points)
}

// merge drops the weakest point until each one left tells its two sides apart.
func (w window) merge(points []int, o Options) []int {
	for len(points) > 0 {
		worst, at := -1.0, 0
		for i, cut := range points {
			from, to := sides(len(w.raw), points, i)
			p := w.p(from, cut, to)
			if math.Abs(relative(stats.Middle(w.raw[from:cut]), stats.Middle(w.raw[cut:to]))) < o.MinEffect {
				p = 1
			}
			if p > worst {
				worst, at = p, i
			}
		}
		if worst < o.MaxP {
			break
		}
		points = slices.Delete(points, at, at+1)
	}
	return points
}

// sides tells where the values between a point and its neighbours begin and end.
func sides(n int, points []int, i int) (from, to int) {
	to = n
	if i > 0 {
		from = points[i-1]
	}
	if i+1 < len(points) {
		to = points[i+1]
	}
	return from, to
}

func relative(before, after float64) float64 {
	if before == 0 {
		return 0
	}
	return (after - before) / math.Abs(before)
}
