package host

import (
	"errors"
	"fmt"
	"path"
	"time"
)

// A counter is one of the kernel's counters that a watch reads at its start and at its end.
type counter string

const (
	busyTime      counter = "busy"     // seconds of all CPUs together
	stolenTime    counter = "stolen"   // seconds that the hypervisor gave to others
	allTime       counter = "all"      // seconds, idle and stolen ones too
	trialTime     counter = "trial"    // CPU seconds of the trial's own processes
	switches      counter = "switches" // context switches
	interrupts    counter = "interrupts"
	waitCPU       counter = "wait_cpu" // seconds in which some task waited
	waitMemory    counter = "wait_memory"
	waitIO        counter = "wait_io"
	throttledTime counter = "throttled" // seconds
	thermalEvents counter = "thermal"
	swappedPages  counter = "swapped"
)

// A count is the state of a counter, or why it is not known.
type count struct {
	value float64
	err   error
}

// counters are all counters at one moment.
type counters struct {
	at     time.Time
	counts map[counter]count
}

// read reads all counters.
func (w *Watch) read() counters {
	c := counters{at: w.options.Now(), counts: map[counter]count{}}
	used, err := w.options.Used(w.pids())
	c.counts[trialTime] = count{used.Seconds(), err}
	c.readStat(w.tree)
	for name, resource := range map[counter]string{waitCPU: "cpu", waitMemory: "memory", waitIO: "io"} {
		v, err := w.tree.pressure(resource)
		c.counts[name] = count{v, err}
	}
	v, err := w.tree.throttled()
	c.counts[throttledTime] = count{v, err}
	v, err = w.tree.thermal()
	c.counts[thermalEvents] = count{v, err}
	v, err = w.tree.swapped()
	c.counts[swappedPages] = count{v, err}
	return c
}

// readStat reads the counters of /proc/stat.
func (c *counters) readStat(t tree) {
	text, err := t.text("proc/stat")
	var s stat
	if err == nil {
		s, err = parseStat([]byte(text))
	}
	for name, v := range map[counter]float64{
		busyTime: s.busy.Seconds(), stolenTime: s.stolen.Seconds(), allTime: s.all.Seconds(),
		switches: float64(s.switches), interrupts: float64(s.interrupts),
	} {
		c.counts[name] = count{v, err}
	}
}

// pressure reads for how many seconds some task has waited for a resource.
func (t tree) pressure(resource string) (float64, error) {
	name := "proc/pressure/" + resource
	text, err := t.text(name)
	if err != nil {
		return 0, err
	}
	waited, ok := parsePressure([]byte(text))
	if !ok {
		return 0, fmt.Errorf("read /%s: it has no total of its line \"some\"", name)
	}
	return waited.Seconds(), nil
}

// throttled adds up for how long the limits of the control groups have held tasks back: of
// this process's group and of all above it, since each may have a limit.
func (t tree) throttled() (float64, error) {
	h, err := t.hierarchy("cpu")
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	found := false
	for _, dir := range h.groups() {
		text, err := t.text(path.Join(dir, "cpu.stat"))
		if err != nil {
			continue // the topmost group of a host has none
		}
		if held, ok := parseThrottled([]byte(text)); ok {
			sum, found = sum+held, true
		}
	}
	if !found {
		return 0, errNoLimit
	}
	return sum.Seconds(), nil
}

// thermal adds up how often cores, and packages as each of their cores saw it, slowed down
// for their temperature.
func (t tree) thermal() (float64, error) {
	sum, found := 0.0, false
	for _, name := range t.glob("sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count") {
		if n, err := t.number(name, 0); err == nil {
			sum, found = sum+n, true
		}
	}
	if !found {
		return 0, errors.New("the kernel does not count here how often cores slow down for their temperature")
	}
	return sum, nil
}

// swapped reads how many pages were swapped in and out.
func (t tree) swapped() (float64, error) {
	text, err := t.text("proc/vmstat")
	if err != nil {
		return 0, err
	}
	pages, ok := parseSwapped([]byte(text))
	if !ok {
		return 0, errors.New("/proc/vmstat counts no swapped pages: the kernel is built without swap")
	}
	return float64(pages), nil
}
