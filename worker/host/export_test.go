package host

import "time"

// A Stat is what is read of /proc/stat, for tests.
type Stat struct {
	Busy, Stolen, All    time.Duration
	Switches, Interrupts int64
}

// ParseStat opens the parser of /proc/stat to tests.
func ParseStat(text []byte) (Stat, error) {
	s, err := parseStat(text)
	return Stat{s.busy, s.stolen, s.all, s.switches, s.interrupts}, err
}

// ParsePressure opens the parser of /proc/pressure to tests.
func ParsePressure(text []byte) (time.Duration, bool) { return parsePressure(text) }

// ParseThrottled opens the parser of cpu.stat to tests.
func ParseThrottled(text []byte) (time.Duration, bool) { return parseThrottled(text) }

// ParseSwapped opens the parser of /proc/vmstat to tests.
func ParseSwapped(text []byte) (int64, bool) { return parseSwapped(text) }

// ParseClocks opens the parser of the clocks in /proc/cpuinfo to tests.
func ParseClocks(text []byte) (low, high float64) { return parseClocks(text) }

// ReapedAndLiving opens the sum of the trial's CPU time to tests.
func ReapedAndLiving(pids []int) (time.Duration, error) { return usedCPU(pids) }
