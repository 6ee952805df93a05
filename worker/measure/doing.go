package measure

import "fmt"

// What a fork does is told before it is done, so that whoever ends a fork that hangs can say
// where it did:
//
//	the opening of lane 2 of 4
//	the first operation of lane 2 of 4
//	the calibration with batches of 1024
//	slice 3 of 10 of the warm-up

// SliceOf names a slice of a phase, counted from 1, as Fork.Doing does.
func SliceOf(phase string, slice, slices int) string {
	name := "measuring"
	if phase == "warmup" {
		name = "warm-up"
	}
	if slice > slices {
		return "the end of the " + name
	}
	return fmt.Sprintf("slice %d of %d of the %s", slice, slices, name)
}

// doing tells what the fork does next.
func (s *session) doing(format string, args ...any) {
	if s.Doing != nil {
		s.said = fmt.Sprintf(format, args...)
		s.tell()
	}
}

// tell tells what the fork does, with what failed so far.
func (s *session) tell() {
	s.told = s.failed()
	s.Doing(s.said, s.failures())
}
