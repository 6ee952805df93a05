package host

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"time"

	"benchd/worker/bench"
)

// A Verdict says what is to be thought of something that was checked.
type Verdict string

// The verdicts.
const (
	Fine    Verdict = "ok"      // as it should be
	Change  Verdict = "change"  // it spoils figures; the finding says what to do
	Note    Verdict = "note"    // it moves figures, and is to be known when they are read
	Unknown Verdict = "unknown" // the machine does not tell
)

// A Finding is one thing of a host that matters to measuring.
type Finding struct {
	Check   string  `json:"check"`             // a short stable word: "governor"
	State   Verdict `json:"state"`             // ok, change, note or unknown
	Value   *string `json:"value"`             // what was read; null when it is unknown
	Why     string  `json:"why"`               // why it matters
	Advice  string  `json:"advice,omitempty"`  // what to do about it
	Command string  `json:"command,omitempty"` // the command that does it
	Reason  string  `json:"reason,omitempty"`  // why it is unknown
}

// DoctorOptions say what to examine.
type DoctorOptions struct {
	// Watch is for how long the host is watched for what changes.
	Watch time.Duration
	// Temp is the folder of temporary files, in which children work.
	Temp string
}

// Examine checks this machine before something is measured on it. It changes nothing.
func Examine(ctx context.Context, o DoctorOptions) []Finding {
	w := NewWatch(WatchOptions{})
	w.Start(ctx, func() []int { return nil })
	select {
	case <-time.After(o.Watch):
	case <-ctx.Done():
	}
	n := w.Stop()
	if runtime.GOOS != "linux" {
		return tellNoFinding(n)
	}
	return diagnose(tree{files: os.DirFS("/"), hypervisor: chipHypervisor()}, o.Temp, n)
}

// tellNoFinding gives all checks without a finding, for platforms on which there is none.
func tellNoFinding(n bench.Noise) []Finding {
	all := Diagnose(emptyFS{}, "/", n)
	for i := range all {
		all[i] = Finding{Check: all[i].Check, State: Unknown, Why: all[i].Why, Reason: fmt.Sprintf("it is checked on linux only, this is %s", runtime.GOOS)}
	}
	return all
}

// emptyFS is a machine that tells nothing.
type emptyFS struct{}

// Open finds nothing.
func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Diagnose makes the findings of what was read of a Linux machine: of its file system, as in
// Options, and of a watch while nothing was measured. Temp is the folder of temporary files.
func Diagnose(root fs.FS, temp string, n bench.Noise) []Finding {
	return diagnose(tree{files: root}, temp, n)
}

func diagnose(t tree, temp string, n bench.Noise) []Finding {
	x := &examination{tree: t, noise: n, temp: path.Clean("/" + temp), cpus: max(1, t.online(t.cpuinfo()))}
	x.machine, x.machineErr = t.virtualization()
	var all []Finding
	for _, c := range x.checks() {
		f := Finding{Check: c.name, Why: c.why}
		v, err := c.look()
		if err != nil {
			f.State, f.Reason = Unknown, err.Error()
		} else {
			f.State, f.Value, f.Advice, f.Command = v.state, &v.value, v.advice, v.command
		}
		all = append(all, f)
	}
	return all
}

// An examination is a host under examination.
type examination struct {
	tree       tree
	noise      bench.Noise
	temp       string
	cpus       int    // online
	machine    string // what it is virtual by, "none" on metal
	machineErr error
}

// metal tells whether the host is known to be no virtual machine and no container, so that
// its switches do something.
func (x *examination) metal() bool { return x.machineErr == nil && x.machine == "none" }

// A check looks at one thing.
type check struct {
	name, why string
	look      func() (view, error)
}

// A view is what a check saw. The error that comes in its place says why there is nothing
// to be seen.
type view struct {
	state                  Verdict
	value, advice, command string
}

// good is the view of what is as it should be.
func good(format string, args ...any) (view, error) {
	return view{state: Fine, value: fmt.Sprintf(format, args...)}, nil
}

// checks lists all checks in the order in which they are told: the processors, what runs
// beside, memory, and the rest.
func (x *examination) checks() []check {
	return []check{
		{"cpus", "Client, server and the worker itself each need a CPU; on one they take turns, and waiting is measured.", x.cpuCount},
		{"governor", "A governor that follows the load lowers the clock whenever a kernel waits, and differently each time.", x.governor},
		{"frequency", "A clock that moves takes every figure with it.", x.frequency},
		{"turbo", "Clocks beyond nominal last until the chip is warm: the first forks are faster than the last.", x.turbo},
		{"smt", "Two threads of one core share it: a figure depends on what the other one does.", x.smt},
		{"idle", "A CPU that halts takes long to wake: a round trip over loopback pays for it twice, several-fold on virtual machines.", x.idle},
		{"clock_source", "The clock is read around each operation; a source that needs the kernel costs more than a short operation takes.", x.clockSource},
		{"aslr", "Memory laid out anew in each fork averages out the luck of one layout; without it all forks share that luck.", x.aslr},
		{"virtualization", "What else runs on the metal is not seen from inside; only machines of the same kind and size compare.", x.virtualization},
		{"cpu_limit", "A limit stops all threads for the rest of each period of 100 ms once it is used up.", x.cpuLimit},
		{"load", "Other processes take CPU time, caches and memory bandwidth from what is measured.", x.load},
		{"steal", "The hypervisor runs somebody else while this machine believes to run.", x.steal},
		{"pressure", "Tasks that wait for a CPU, for memory or for a disk make what is measured wait too.", x.pressure},
		{"throttling", "A CPU that is held back measures its limit, or its cooling.", x.throttling},
		{"memory_limit", "A fork that meets the limit is slowed down by reclaim, or killed.", x.memoryLimit},
		{"swap", "Memory that went to swap comes back at the speed of a disk.", x.swap},
		{"huge_pages", "With \"always\" the kernel makes huge pages of ordinary ones when it finds the time: two forks of one program differ.", x.hugePages},
		{"numa_balancing", "The kernel moves memory between nodes in the middle of a measurement.", x.numaBalancing},
		{"power", "On battery the firmware lowers the clocks.", x.power},
		{"temp", "Database kernels keep their files in the folder of temporary files; on a memory file system a commit costs nothing.", x.tempFolder},
	}
}
