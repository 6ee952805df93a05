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

// Classify classes the samples of one fork, rates in the order of time:
//
//   - flat: one level from the first slice on;
//   - warmup: the last level begins in the first half and none before it was faster;
//   - slowdown: the last level begins in the first half and one before it was faster;
//   - none: the last level begins in the second half, or what looks like a level drifts,
//     swings or jumps between two levels.
//
// A lone spike, up or down, is no change of level.
func Classify(samples []float64) Series {
	n := len(samples)
	if n < MinSlices {
		return Series{Reason: fmt.Sprintf("steadiness needs %d slices, there are %d", MinSlices, n)}
	}
	clipped := clip(samples)
	noise := noiseOf(clipped)
	changes := cut(clipped, noise)
	noise = noise.within(clipped, changes)
	parts := join(clipped, changes, noise)
	s := Series{}
	for _, p := range parts[1:] {
		s.Changes = append(s.Changes, p.from)
	}
	last := parts[len(parts)-1]
	if last.from > n/2 {
		s.Reason = fmt.Sprintf("the last change is at slice %d of %d, in the second half", last.from+1, n)
	} else {
		s.Reason = unrest(samples, clipped, parts, noise)
	}
	class := classOf(parts, noise)
	if s.Reason != "" {
		class = bench.NeverSteady
	} else {
		s.From = last.from
	}
	s.Class = &class
	return s
}

// classOf classes a series by its levels.
func classOf(parts []part, n noise) bench.Steady {
	if len(parts) == 1 {
		return bench.Flat
	}
	last := parts[len(parts)-1]
	for _, p := range parts[:len(parts)-1] {
		if p.level > last.level && distance(p, last, n) >= 1 {
			return bench.SlowedDown
		}
	}
	return bench.WarmedUp
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
