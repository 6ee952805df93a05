package child

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"benchd/worker/bench"
	"benchd/worker/host"
)

// spinnerEnv keeps the runtime of a spinner from interrupting its loops a hundred times a
// second, which would be work on CPUs that shall have none.
const spinnerEnv = "GODEBUG=asyncpreemptoff=1"

// spin keeps the CPUs of this process from halting until ctx ends: a thread on each turns
// round at the lowest priority there is, so that it runs only when the CPU has nothing else
// to do and gives way at once to whatever comes. So do the runtime's own threads, which look
// after the loops now and then.
//
// A loop that cannot be interrupted would hold up the garbage collector for ever, and one
// that holds each of the runtime's processors would hold up everything else. So there is no
// collection, and one processor more than there are loops.
func (c *worker) spin(ctx context.Context) {
	cpus := host.AllowedCPUs()
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(len(cpus) + 1)
	var s spinner
	defer s.all.Wait()
	defer s.stop.Store(true)
	for _, cpu := range cpus {
		if err := s.begin(cpu); err != nil {
			c.fail("cannot_spin", fmt.Errorf("keep CPU %d awake: %w", cpu, err))
			return
		}
	}
	// Last, since whatever comes after it has to wait on a busy host.
	if err := host.LowerProcess(); err != nil {
		c.fail("cannot_spin", fmt.Errorf("keep the CPUs awake: %w", err))
		return
	}
	c.tell(Event{Ready: bench.FormatCPUs(cpus)})
	<-ctx.Done()
}

// A spinner is a set of loops that end together.
type spinner struct {
	all  sync.WaitGroup
	stop atomic.Bool
}

// begin starts the loop on one CPU and returns when it turns, or cannot.
func (s *spinner) begin(cpu int) error {
	begun := make(chan error)
	s.all.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its loop
		err := host.PinThread(cpu)
		begun <- err
		if err == nil {
			s.turn()
		}
	})
	return <-begun
}

// turn works at something that takes a CPU long and needs little of it: a chain of
// divisions, each of which waits for the one before, leaves nearly all of a core to the
// other thread that may share it.
func (s *spinner) turn() {
	const dividend = 1<<63 - 25
	x := uint64(dividend)
	for !s.stop.Load() {
		for range 64 {
			x = dividend / (x | 1)
		}
	}
	runtime.KeepAlive(x)
}
