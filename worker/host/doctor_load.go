package host

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// known gives a reading of the watch, or the reason why it is null.
func (x *examination) known(name string) (float64, error) {
	n := x.noise
	if v := *readings(&n)[name]; v != nil {
		return *v, nil
	}
	if reason := n.Unknown[name]; reason != "" {
		return 0, errors.New(reason)
	}
	return 0, errors.New("the watch does not tell")
}

// judged makes a change of the doubts that the watch raises by certain codes, and otherwise
// finds the value good. The bounds are those by which trials are judged.
func (x *examination) judged(value, advice, command string, codes ...string) (view, error) {
	for _, doubt := range Doubts(x.noise, x.cpus) {
		code, _, _ := strings.Cut(doubt, ":")
		for _, c := range codes {
			if c == code {
				return view{Change, value, advice, command}, nil
			}
		}
	}
	return good("%s", value)
}

// load looks at what other processes use.
func (x *examination) load() (view, error) {
	others, err := x.known("others")
	if err != nil {
		return view{}, err
	}
	value := fmt.Sprintf("other processes use %s (%d CPUs)", inCores(others), x.cpus)
	if load := x.noise.Load1; load != nil {
		value += fmt.Sprintf(", load average %.2f", *load)
	}
	return x.judged(value, "Stop what is not needed, or wait for its end.", "ps -eo pid,pcpu,comm --sort=-pcpu | head", "host_busy")
}

// steal looks at what the hypervisor gave to others.
func (x *examination) steal() (view, error) {
	stolen, err := x.known("steal")
	if err != nil {
		return view{}, err
	}
	return x.judged(fmt.Sprintf("%.1f %% of the CPU time", 100*stolen), "Measure on a machine with CPUs of its own.", "", "stolen")
}

// pressureIO is the part of the time in which tasks may wait for a disk while nothing is
// measured.
const pressureIO = 0.10

// pressure looks at what tasks waited for. Nothing is measured now, so that every wait is
// somebody else's.
func (x *examination) pressure() (view, error) {
	cpu, err1 := x.known("pressure_cpu")
	memory, err2 := x.known("pressure_memory")
	io, err3 := x.known("pressure_io")
	if err := errors.Join(err1, err2, err3); err != nil {
		return view{}, err1
	}
	value := fmt.Sprintf("tasks waited for a CPU in %.1f %%, for memory in %.1f %%, for a disk in %.1f %% of the time", 100*cpu, 100*memory, 100*io)
	if cpu > waitPart || memory > waitMemoryPart || io > pressureIO {
		return view{Change, value, "Stop what is not needed, or wait for its end.", "ps -eo pid,stat,pcpu,comm --sort=-pcpu | head"}, nil
	}
	return good("%s", value)
}

// throttling looks at whether the CPUs were held back while the host was watched, and for
// their temperature since it was started.
func (x *examination) throttling() (view, error) {
	held, err1 := x.known("throttled_s")
	since, err2 := x.tree.thermal()
	if err1 != nil && err2 != nil {
		return view{}, err2
	}
	var told []string
	if err1 == nil {
		told = append(told, fmt.Sprintf("held back by a limit for %.2f s just now", held))
	}
	if err2 == nil {
		told = append(told, fmt.Sprintf("slowed down for their temperature %.0f times since the start", since))
	}
	v, err := x.judged(strings.Join(told, ", "), "Raise the limit, or better the cooling.", "", "throttled", "overheated")
	if v.state == Fine && since > 0 {
		v.state, v.advice = Note, "See whether it happens again under load; better the cooling if it does."
	}
	return v, err
}

// cpuLimit looks at the control groups' limits of CPU time.
func (x *examination) cpuLimit() (view, error) {
	h, err := x.tree.hierarchy("cpu")
	if err != nil {
		return view{}, err
	}
	least, where := 0.0, ""
	for _, dir := range h.groups() {
		if cores, ok := x.tree.quota(dir, h.v2); ok && (where == "" || cores < least) {
			least, where = cores, dir
		}
	}
	if where == "" {
		return good("none")
	}
	command := "echo max | sudo tee /" + path.Join(where, "cpu.max")
	if !h.v2 {
		command = "echo -1 | sudo tee /" + path.Join(where, "cpu.cfs_quota_us")
	}
	return view{Change, fmt.Sprintf("%.2f cores of %d", least, x.cpus), "Give whole CPUs instead: with containers --cpuset-cpus, not --cpus.", command}, nil
}
