package host

import (
	"bytes"
	"errors"
	"time"
)

// A stat is what a watch wants of /proc/stat.
type stat struct {
	busy, stolen, all    time.Duration // of all CPUs together
	switches, interrupts int64
}

var errStat = errors.New("read /proc/stat: it has not the lines that every kernel writes")

// parseStat reads /proc/stat; see proc_stat(5).
func parseStat(text []byte) (stat, error) {
	var s stat
	busy, ok1 := parseBusy(text)
	ok2 := s.parseTimes(text)
	switches, ok3 := lineInt(text, "ctxt")
	interrupts, ok4 := lineInt(text, "intr")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return stat{}, errStat
	}
	s.busy, s.switches, s.interrupts = busy, switches, interrupts
	return s, nil
}

// parseTimes adds up the first eight columns of the line of all CPUs; the eighth is the
// stolen time. Older kernels than 2.6.11 have fewer.
func (s *stat) parseTimes(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line, ok := bytes.CutPrefix(line, []byte("cpu "))
	for range 8 {
		if !ok {
			return false
		}
		var n int64
		n, line, ok = cutInt(line)
		ok = ok && n < maxTicks
		s.stolen = time.Duration(n) * tick
		s.all += s.stolen
	}
	return ok
}

// maxTicks is more than a machine's CPUs are counted in a lifetime, and few enough that the
// sum of all columns can be held.
const maxTicks = 1 << 36

// lineInt finds the line that begins with a name and a space and reads the number behind it.
func lineInt(text []byte, name string) (int64, bool) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			n, _, ok := cutInt(rest)
			return n, ok
		}
	}
	return 0, false
}

// parsePressure reads the time in which some task waited from a file of /proc/pressure; see
// accounting/psi.rst of the kernel:
//
//	some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
//	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
//
// The total is in microseconds.
func parsePressure(text []byte) (time.Duration, bool) {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("some ")) {
			continue
		}
		_, total, found := bytes.Cut(line, []byte(" total="))
		n, _, ok := cutInt(total)
		return micro(n), found && ok
	}
	return 0, false
}

// parseThrottled reads for how long a control group's limit has held back its tasks from its
// cpu.stat: in microseconds in version 2, in nanoseconds in version 1.
func parseThrottled(text []byte) (time.Duration, bool) {
	if n, ok := lineInt(text, "throttled_usec"); ok {
		return micro(n), true
	}
	n, ok := lineInt(text, "throttled_time")
	return time.Duration(n), ok
}

// micro makes a duration of microseconds, the longest there is of more than it can hold.
func micro(n int64) time.Duration {
	const most = 1<<63 - 1
	if n > most/int64(time.Microsecond) {
		return most
	}
	return time.Duration(n) * time.Microsecond
}

// parseSwapped adds up the pages swapped in and out of /proc/vmstat.
func parseSwapped(text []byte) (int64, bool) {
	in, ok1 := lineInt(text, "pswpin")
	out, ok2 := lineInt(text, "pswpout")
	return in + out, ok1 && ok2
}

// parseClocks reads the lowest and highest clock in MHz of the lines "cpu MHz" of
// /proc/cpuinfo; 0 where there are none.
func parseClocks(text []byte) (low, high float64) {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte("cpu MHz"))
		if !ok {
			continue
		}
		whole, rest, ok := cutInt(bytes.TrimLeft(rest, " \t:"))
		if !ok || whole > maxMHz {
			continue
		}
		mhz := float64(whole)
		if fraction, found := bytes.CutPrefix(rest, []byte(".")); found {
			if n, after, ok := cutInt(fraction); ok {
				mhz += float64(n) / pow10(len(fraction)-len(after))
			}
		}
		low, high = wider(low, high, mhz)
	}
	return low, high
}

// maxMHz is a clock that no CPU has; what lies beyond is no clock.
const maxMHz = 1 << 20

// wider widens a range by a clock. A range of zeros is empty.
func wider(low, high, mhz float64) (float64, float64) {
	if mhz <= 0 {
		return low, high
	}
	if low == 0 || mhz < low {
		low = mhz
	}
	return low, max(high, mhz)
}

func pow10(n int) float64 {
	p := 1.0
	for range n {
		p *= 10
	}
	return p
}
