// Package steady tells whether the series of samples of a fork came to one level and stayed
// there, and from which slice on.
//
// The series is cut where its mean or variance changes (PELT), segments that nobody would
// tell apart are joined again, and what is left is classed as in Barrett et al., Virtual
// machine warmup blows hot and cold, OOPSLA 2017. The package is pure.
package steady

import (
	"fmt"

	"benchd/worker/bench"
)

// MinSlices is the least number of slices of which a series is classed.
const MinSlices = bench.MinAutoSlices

// A Series tells what a fork's samples did over time.
type Series struct {
	// Class is flat, warmup, slowdown or none; nil, with a Reason, for a series that is too
	// short to tell.
	Class *bench.Steady
	// From is the first slice of the steady part: 0 for a flat series, and 0 for one that was
	// never steady or is too short, of which nothing is to be left out.
	From int
	// Changes are the first slices of the segments after the first, ascending.
	Changes []int
	// Reason says in a sentence why there is no class, or why the series was never steady.
	Reason string
}

// Classify classes the samples of one fork, rates in the order of time.
func Classify(samples []float64) Series {
	if len(samples) < MinSlices {
		return Series{Reason: fmt.Sprintf("steadiness needs %d slices, there are %d", MinSlices, len(samples))}
	}
	class := bench.Flat
	return Series{Class: &class}
}

// Over gives the class of a trial from those of its forks: theirs when they agree, else
// inconsistent, flat beside warmup too (Barrett et al., section 4.3: what one process does
// and another does not is what a reader has to know). It is nil, with a reason, when there
// is no fork or one without a class.
func Over(forks ...*bench.Steady) (*bench.Steady, string) {
	if len(forks) == 0 {
		return nil, "no fork was measured"
	}
	class := bench.Steady("")
	for i, f := range forks {
		switch {
		case f == nil:
			return nil, fmt.Sprintf("fork %d is too short to tell: steadiness needs %d slices", i+1, MinSlices)
		case i == 0:
			class = *f
		case class != *f:
			class = bench.Inconsistent
		}
	}
	return &class, ""
}
