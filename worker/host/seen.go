package host

import (
	"errors"

	"benchd/worker/bench"
)

// seen is all that a watch has read.
type seen struct {
	tree          tree
	before, after counters
	clocks        *clocks
	elapsed       float64 // seconds
	awake         bool
}

var errNoTime = errors.New("no time passed between the start and the end of the watch")

// fill works out the noise.
func (s seen) fill(n *bench.Noise) {
	where := readings(n)
	for name, read := range map[string]func() (float64, error){
		"steal":            s.steal,
		"others":           s.others,
		"pressure_cpu":     s.pressureCPU,
		"pressure_memory":  func() (float64, error) { return s.share(waitMemory) },
		"pressure_io":      func() (float64, error) { return s.share(waitIO) },
		"mhz_low":          func() (float64, error) { return s.clock(s.clocks.low) },
		"mhz_high":         func() (float64, error) { return s.clock(s.clocks.high) },
		"clock_drop":       s.clocks.drop,
		"throttled_s":      func() (float64, error) { return s.grown(throttledTime) },
		"context_switches": func() (float64, error) { return s.rate(switches) },
		"interrupts":       func() (float64, error) { return s.rate(interrupts) },
		"load1":            func() (float64, error) { return s.tree.number("proc/loadavg", 0) },
	} {
		v, err := read()
		if err != nil {
			n.Unknown[name] = err.Error()
			continue
		}
		*where[name] = &v
	}
	for name, of := range map[string]counter{"thermal_events": thermalEvents, "swapped_pages": swappedPages} {
		v, err := s.grown(of)
		if err != nil {
			n.Unknown[name] = err.Error()
			continue
		}
		*counts(n)[name] = new(int64(v))
	}
}

// grown tells by how much a counter grew. Where a counter steps back, as those of CPUs do
// that go offline, it did not grow.
func (s seen) grown(of counter) (float64, error) {
	before, after := s.before.counts[of], s.after.counts[of]
	for _, c := range []count{before, after} {
		if c.err != nil {
			return 0, c.err
		}
	}
	return max(0, after.value-before.value), nil
}

// rate tells by how much a counter grew in a second.
func (s seen) rate(of counter) (float64, error) {
	v, err := s.grown(of)
	switch {
	case err != nil:
		return 0, err
	case s.elapsed == 0:
		return 0, errNoTime
	}
	return v / s.elapsed, nil
}

// share tells for which part of the time a counter of seconds grew. The kernel brings it up
// to date now and then, so that it may seem to have grown for longer than there was time.
func (s seen) share(of counter) (float64, error) {
	v, err := s.rate(of)
	return min(1, v), err
}

// steal is the part of all CPU time that the hypervisor gave to others.
func (s seen) steal() (float64, error) {
	stolen, err := s.grown(stolenTime)
	if err != nil {
		return 0, err
	}
	all, err := s.grown(allTime)
	switch {
	case err != nil:
		return 0, err
	case all == 0:
		return 0, errNoTime
	}
	return stolen / all, nil
}

// others is how many cores were used by processes that are not the trial's: what the CPUs
// were busy with and the trial's processes did not use. The one is counted in ticks of 10 ms
// and the other to the nanosecond, so that for a second or less it is rough.
func (s seen) others() (float64, error) {
	busy, err := s.rate(busyTime)
	if err != nil {
		return 0, err
	}
	own, err := s.rate(trialTime)
	return max(0, busy-own), err
}

// pressureCPU is the part of the time in which some task waited for a CPU.
func (s seen) pressureCPU() (float64, error) {
	if s.awake {
		return 0, errors.New("the spinners that keep the CPUs awake always wait for a CPU when there is work")
	}
	return s.share(waitCPU)
}

// clock is a clock that was seen.
func (s seen) clock(mhz float64) (float64, error) {
	if mhz == 0 {
		return 0, errors.New("neither the kernel nor the processor tells the present clock")
	}
	return mhz, nil
}
