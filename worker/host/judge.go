package host

import (
	"fmt"

	"benchd/worker/bench"
)

// What a noise may show without being a reason to doubt the figures measured beside it. The
// bounds for others and for stolen time are in cores. Both grow with the host, since the same
// work of others is less likely to meet a trial on many CPUs, but not below what can be told
// from the ticks of 10 ms in which the kernel counts.
const (
	othersFloor, othersPart = 0.10, 0.02  // a worker, an API and a Redis at rest use 1 to 3 % of a core
	stolenFloor, stolenPart = 0.02, 0.005 // 1 % of the CPU time of a host with two CPUs
	throttledPart           = 0.001       // of the time: one period of 100 ms held back lengthens a tail
	swappedRate             = 1.0         // pages in a second: fewer are somebody else's coming back
	clockPart               = 0.05        // as much as a score moves with it
	waitPart                = 0.10        // of the time
	waitMemoryPart          = 0.01        // of the time: a trial that waits for memory measures the disk
)

// Doubts gives the reasons to doubt what was measured while a host with so many CPUs was as
// noisy as n says, each a code, a colon and a sentence part. What n does not know is no
// reason. Pressure on input and output is none either: the trial's own commits make it.
func Doubts(n bench.Noise, cores int) []string {
	j := judge{noise: n, cores: max(1, cores)}
	j.others()
	j.steal()
	j.throttled()
	j.swapped()
	j.clocks()
	j.pressure()
	return j.reasons
}

// Worst gives the largest of each reading over several watches; of the clocks' low the least.
func Worst(list []bench.Noise) bench.Noise {
	var w bench.Noise
	for _, n := range list {
		w.Elapsed = max(w.Elapsed, n.Elapsed)
		for _, f := range []struct{ worst, seen **float64 }{
			{&w.Steal, &n.Steal},
			{&w.Others, &n.Others},
			{&w.PressureCPU, &n.PressureCPU},
			{&w.PressureMemory, &n.PressureMemory},
			{&w.PressureIO, &n.PressureIO},
			{&w.MHzHigh, &n.MHzHigh},
			{&w.ClockDrop, &n.ClockDrop},
			{&w.Throttled, &n.Throttled},
			{&w.ContextSwitches, &n.ContextSwitches},
			{&w.Interrupts, &n.Interrupts},
			{&w.Load1, &n.Load1},
		} {
			larger(f.worst, *f.seen)
		}
		larger(&w.ThermalEvents, n.ThermalEvents)
		larger(&w.Swapped, n.Swapped)
		if n.MHzLow != nil && (w.MHzLow == nil || *n.MHzLow < *w.MHzLow) {
			w.MHzLow = n.MHzLow
		}
	}
	return w
}

func larger[T int64 | float64](worst **T, v *T) {
	if v != nil && (*worst == nil || *v > **worst) {
		*worst = v
	}
}

// A judge collects the reasons.
type judge struct {
	noise   bench.Noise
	cores   int
	busy    bool // host_busy is told, with the pressure
	reasons []string
}

func (j *judge) doubt(code, format string, args ...any) {
	j.reasons = append(j.reasons, code+": "+fmt.Sprintf(format, args...))
}

// others doubts a host that did other work; the load average stands beside it where known.
func (j *judge) others() {
	v := j.noise.Others
	if v == nil || *v <= max(othersFloor, othersPart*float64(j.cores)) {
		return
	}
	beside := ""
	if load := j.noise.Load1; load != nil {
		beside = fmt.Sprintf(" (load average %.1f on %d CPUs)", *load, j.cores)
	}
	if wait := j.noise.PressureCPU; wait != nil && *wait > waitPart {
		beside += fmt.Sprintf(", and tasks waited for a CPU in %.0f %% of the time", 100**wait)
	}
	j.busy = true
	j.doubt("host_busy", "other processes used %s%s", inCores(*v), beside)
}

// steal doubts a virtual machine whose hypervisor ran somebody else.
func (j *judge) steal() {
	v := j.noise.Steal
	if v == nil || *v*float64(j.cores) <= max(stolenFloor, stolenPart*float64(j.cores)) {
		return
	}
	j.doubt("stolen", "the hypervisor gave %.1f %% of the CPU time of this machine to others", 100**v)
}

// throttled doubts a host that was slowed down, by a limit or by its temperature.
func (j *judge) throttled() {
	if v := j.noise.Throttled; v != nil && *v > throttledPart*j.noise.Elapsed {
		j.doubt("throttled", "the CPU limit of the control group held tasks back for %.2f s in %.1f s", *v, j.noise.Elapsed)
	}
	if v := j.noise.ThermalEvents; v != nil && *v > 0 {
		j.doubt("overheated", "cores slowed down for their temperature %d times", *v)
	}
}

// swapped doubts a host that moved memory to and from its swap.
func (j *judge) swapped() {
	if v := j.noise.Swapped; v != nil && float64(*v) >= max(1, swappedRate*j.noise.Elapsed) {
		j.doubt("swapped", "%d pages were swapped in or out", *v)
	}
}

// clocks doubts a host whose fastest CPU did not keep its clock.
func (j *judge) clocks() {
	v := j.noise.ClockDrop
	if v == nil || *v <= clockPart {
		return
	}
	between := ""
	if high := j.noise.MHzHigh; high != nil {
		between = fmt.Sprintf(" from %.0f to %.0f MHz", *high, *high*(1-*v))
	}
	j.doubt("frequency_changed", "the clock of the fastest CPU fell by %.0f %%%s", 100**v, between)
}

// pressure doubts a host on which tasks waited. A trial makes its own tasks wait for a CPU:
// those of one client and its server on two CPUs in half of the time, on one CPU in nearly all
// of it. So that counts only while others worked too, however many CPUs the host has.
func (j *judge) pressure() {
	n := j.noise
	if !j.busy && n.PressureCPU != nil && n.Others != nil && *n.PressureCPU > waitPart && *n.Others > othersFloor {
		j.doubt("cpu_pressure", "tasks waited for a CPU in %.0f %% of the time, while other processes used %s", 100**n.PressureCPU, inCores(*n.Others))
	}
	if v := n.PressureMemory; v != nil && *v > waitMemoryPart {
		j.doubt("memory_pressure", "tasks waited for memory in %.0f %% of the time", 100**v)
	}
}

// inCores writes an amount of CPU as a person says it: "38 % of a core", "12.4 cores".
func inCores(v float64) string {
	if v < 0.995 {
		return fmt.Sprintf("%.0f %% of a core", 100*v)
	}
	return fmt.Sprintf("%.1f cores", v)
}
