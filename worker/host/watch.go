package host

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"sync"
	"time"

	"benchd/worker/bench"
)

// WatchOptions say what to watch.
type WatchOptions struct {
	// Root is the root of the file system of the Linux machine to watch, as in Options; nil
	// means the machine that this process runs on, whatever its system.
	Root fs.FS
	// Used tells the CPU time that the trial's processes have used, those with the ids given
	// and this one with all that it has reaped; nil means to ask the kernel.
	Used func(pids []int) (time.Duration, error)
	// Awake tells that spinners keep the CPUs awake. They always wait for a CPU when there is
	// work, by design, so that the pressure on the CPUs is then null.
	Awake bool
	// Now gives the time; nil means time.Now.
	Now func() time.Time
}

// A Watch sees what else the host does while a fork is measured. It reads the kernel's
// counters at its start and at its end; only the clocks of the CPUs, of which there is no
// counter, are looked at about once a second in between. So it costs next to nothing,
// however long it watches.
//
// It is used once, by one goroutine: Start, then Stop.
type Watch struct {
	options WatchOptions
	tree    tree
	pids    func() []int
	before  counters
	clocks  *clocks
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// watchEvery is the time between two looks at the clocks of the CPUs.
const watchEvery = time.Second

// NewWatch makes a watch.
func NewWatch(o WatchOptions) *Watch {
	w := &Watch{options: o, cancel: func() {}}
	if o.Now == nil {
		w.options.Now = time.Now
	}
	if o.Used == nil {
		w.options.Used = usedCPU
	}
	w.tree.files = o.Root
	if o.Root == nil {
		w.tree.files = os.DirFS("/")
	}
	return w
}

// watched tells whether there is anything to be read.
func (w *Watch) watched() bool { return w.options.Root != nil || runtime.GOOS == "linux" }

// Start begins to watch. It asks pids at the start and at the end for the ids of the
// processes that belong to the trial and are alive then: the server's, the client's, the
// spinner's. This process, and those that it has reaped by then, are known. Nothing is
// sampled any more once ctx ends; Stop is due all the same.
func (w *Watch) Start(ctx context.Context, pids func() []int) {
	w.pids = pids
	if !w.watched() {
		w.before.at = w.options.Now()
		return
	}
	w.clocks = openClocks(w.tree)
	w.clocks.look()
	ctx, w.cancel = context.WithCancel(ctx)
	w.done.Go(func() { w.sample(ctx) })
	w.before = w.read()
}

// sample looks at the clocks until ctx ends.
func (w *Watch) sample(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.clocks.sample()
		case <-ctx.Done():
			return
		}
	}
}

// Stop ends the watch and tells what it saw. A reading that the machine does not give is
// null, and the noise's Unknown says why.
func (w *Watch) Stop() bench.Noise {
	w.cancel()
	w.done.Wait()
	n := bench.Noise{Unknown: map[string]string{}}
	if !w.watched() {
		n.Elapsed = w.options.Now().Sub(w.before.at).Seconds()
		tellNothing(&n)
		return n
	}
	after := w.read()
	w.clocks.look()
	defer w.clocks.close()
	n.Elapsed = after.at.Sub(w.before.at).Seconds()
	if n.Elapsed <= 0 {
		n.Elapsed = 0
	}
	s := seen{tree: w.tree, before: w.before, after: after, clocks: w.clocks, elapsed: n.Elapsed, awake: w.options.Awake}
	s.fill(&n)
	return n
}

// tellNothing gives the reason for every reading of a platform that has none of them.
func tellNothing(n *bench.Noise) {
	reason := fmt.Sprintf("it is watched on linux only, this is %s", runtime.GOOS)
	for name := range maps.Keys(readings(n)) {
		n.Unknown[name] = reason
	}
	for name := range maps.Keys(counts(n)) {
		n.Unknown[name] = reason
	}
}

// readings gives where the readings of a noise are, by their names in JSON.
func readings(n *bench.Noise) map[string]**float64 {
	return map[string]**float64{
		"steal": &n.Steal, "others": &n.Others,
		"pressure_cpu": &n.PressureCPU, "pressure_memory": &n.PressureMemory, "pressure_io": &n.PressureIO,
		"mhz_low": &n.MHzLow, "mhz_high": &n.MHzHigh, "clock_drop": &n.ClockDrop,
		"throttled_s": &n.Throttled, "context_switches": &n.ContextSwitches, "interrupts": &n.Interrupts, "load1": &n.Load1,
	}
}

// counts gives where the counts of a noise are, by their names in JSON.
func counts(n *bench.Noise) map[string]**int64 {
	return map[string]**int64{"thermal_events": &n.ThermalEvents, "swapped_pages": &n.Swapped}
}
