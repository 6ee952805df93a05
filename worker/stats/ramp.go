package stats

import (
	"fmt"
	"slices"

	"benchd/worker/bench"
)

// rises is how much higher than an earlier step a later one has to be before it counts: below
// it more lanes are not worth their while, whatever the samples prove.
const rises = 0.05

// StopsRising sets where the throughput of a ramp stops rising: at the first step that no later
// one beats for sure, with a higher value by more than 5 % and an interval clear of the other's.
// All later steps count, and not only the next, so that a slow rise is one too.
//
// Where it is not known there is a reason: one of the steps has no interval, so that nothing is
// sure, or the last step beats all others, and nobody saw what a further one would do. The score
// is then that of the highest step.
func StopsRising(s *bench.Series) {
	s.Stops, s.Scored, s.Reason = nil, highest(s.Steps), ""
	for _, step := range s.Steps {
		if t := step.Throughput; t.Value == nil || t.Low == nil || t.High == nil {
			s.Reason = fmt.Sprintf("the step of %s has no interval: %s", countLanes(step.Lanes), t.Reason)
			return
		}
	}
	last := len(s.Steps) - 1
	switch i := unbeaten(s.Steps); {
	case last < 0:
		s.Reason = "no step was measured"
	case last == 0:
		s.Reason = "one step tells no rise; it takes fewer lanes at a time, or more in all"
	case i == last:
		s.Scored = s.Steps[i].Lanes
		s.Reason = fmt.Sprintf("it still rose at the last step, of %s", countLanes(s.Steps[i].Lanes))
	default:
		s.Scored = s.Steps[i].Lanes
		s.Stops = new(s.Steps[i].Lanes)
	}
}

// Unproven gives the lanes of the highest step after the one where a ramp stops rising, and by
// what part it is higher, if that would be a rise but for the intervals: then noise alone may
// have ended it. It gives 0 where there is no such step.
func Unproven(s bench.Series) (lanes int, more float64) {
	stop := slices.IndexFunc(s.Steps, func(step bench.Step) bool { return s.Stops != nil && step.Lanes == *s.Stops })
	if stop < 0 || *s.Steps[stop].Throughput.Value <= 0 {
		return 0, 0
	}
	more = rises
	for _, step := range s.Steps[stop+1:] {
		if part := *step.Throughput.Value / *s.Steps[stop].Throughput.Value - 1; part > more {
			lanes, more = step.Lanes, part
		}
	}
	if lanes == 0 {
		return 0, 0
	}
	return lanes, more
}

// unbeaten is the first step that no later one beats for sure.
func unbeaten(steps []bench.Step) int {
	for i := range steps {
		beaten := false
		for _, later := range steps[i+1:] {
			beaten = beaten || beats(later.Throughput, steps[i].Throughput)
		}
		if !beaten {
			return i
		}
	}
	return -1
}

// beats tells whether a throughput is higher than another for sure. Both have intervals.
func beats(a, b bench.Score) bool {
	return *a.Value > *b.Value*(1+rises) && *a.Low > *b.High
}

// highest is the number of lanes of the step with the highest throughput.
func highest(steps []bench.Step) int {
	lanes, most := 0, 0.0
	for _, s := range steps {
		if v := s.Throughput.Value; v != nil && (lanes == 0 || *v > most) {
			lanes, most = s.Lanes, *v
		}
	}
	return lanes
}

// countLanes writes a number of lanes: "1 lane", "3 lanes".
func countLanes(n int) string {
	if n == 1 {
		return "1 lane"
	}
	return fmt.Sprintf("%d lanes", n)
}
