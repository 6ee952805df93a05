package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"benchd/worker/bench"
)

// maxCPUs is more CPUs than any kernel can be built for: its own bound is 8192.
const maxCPUs = 8192

// AllowedCPUs are the CPUs that this process may run on, in ascending order, as its control
// group and whoever started it left them; nil where the platform cannot tell. They are those
// of all its threads together, since some may be placed on fewer just now.
func AllowedCPUs() []int {
	all := unix.NewCPUSet(maxCPUs)
	for _, id := range threads() {
		set := unix.NewCPUSet(maxCPUs)
		if err := unix.SchedGetaffinityDynamic(id, set); err != nil {
			continue // a thread may have ended since
		}
		for i := range set {
			all[i] |= set[i]
		}
	}
	return members(all)
}

// PinThread puts the calling thread on one CPU. The caller has locked its goroutine to the
// thread, and lets the thread end with the goroutine: it is not unlocked again.
func PinThread(cpu int) error {
	_, err := PlaceThread([]int{cpu})
	return err
}

// PlaceThread restricts the calling thread to some CPUs. A process that it starts then is
// restricted in the same way from its first instruction, with all threads that it will have.
// The function returned puts the thread back where it was, as does an error. The caller has
// locked its goroutine to the thread.
func PlaceThread(cpus []int) (back func() error, err error) {
	before := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, before); err != nil {
		return nil, fmt.Errorf("read the CPUs of a thread: %w", err)
	}
	back = func() error { return restrict(members(before)) }
	if err := restrict(cpus); err != nil {
		return nil, errors.Join(err, back()) // some of the CPUs may have been there
	}
	return back, nil
}

// restrict gives the calling thread just these CPUs. The kernel itself passes over CPUs that
// it does not have, which would hide a wrong number.
func restrict(cpus []int) error {
	set := unix.NewCPUSet(maxCPUs)
	for _, n := range cpus {
		if n < 0 || n >= maxCPUs {
			return fmt.Errorf("put a thread on CPU %d: CPUs are numbered from 0 to %d", n, maxCPUs-1)
		}
		set.Set(n)
	}
	if err := unix.SchedSetaffinityDynamic(0, set); err != nil {
		return fmt.Errorf("put a thread on CPU %s: %w", bench.FormatCPUs(cpus), err)
	}
	now := unix.NewCPUSet(maxCPUs)
	if err := unix.SchedGetaffinityDynamic(0, now); err != nil {
		return fmt.Errorf("read the CPUs of a thread: %w", err)
	}
	for _, n := range cpus {
		if !now.IsSet(n) {
			return fmt.Errorf("put a thread on CPU %s: the system allows CPU %s only", bench.FormatCPUs(cpus), bench.FormatCPUs(members(now)))
		}
	}
	return nil
}

// members lists a set's CPUs in ascending order.
func members(set unix.CPUSetDynamic) []int {
	var cpus []int
	for n := range maxCPUs {
		if set.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return cpus
}

// LowerProcess gives all threads of this process the policy SCHED_IDLE; see sched(7). They
// then run only when a CPU has nothing else to do, and so do the threads that they start.
//
// The policy counts among the processes of one session only where the kernel shares out the
// CPUs by session first (autogroups). So the process leads a session of its own, whose share
// is made the smallest there is; else it would have half of a CPU on which a process of
// another session works.
func LowerProcess() error {
	if err := lowerSession(); err != nil {
		return err
	}
	lowered := map[int]bool{}
	for {
		ids := threads()
		before := len(lowered)
		for _, id := range ids {
			if lowered[id] {
				continue
			}
			err := unix.SchedSetAttr(id, &unix.SchedAttr{Policy: unix.SCHED_IDLE}, 0)
			if err != nil && !errors.Is(err, unix.ESRCH) { // a thread may have ended since
				return fmt.Errorf("give a thread the lowest priority: %w", err)
			}
			lowered[id] = true
		}
		if len(lowered) == before {
			return nil // nobody started a thread meanwhile
		}
	}
}

// lowerSession makes the CPU share of this process's session the smallest, where sessions
// have one. The kernel takes such changes ten times in a second from all users together.
func lowerSession() error {
	const attempts = 20
	var err error
	for range attempts {
		if err = share("self", "19"); !errors.Is(err, unix.EAGAIN) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// RaiseSession gives the session of a process that was lowered an ordinary CPU share again,
// so that it can end on a busy host. A process that is gone needs none.
func RaiseSession(pid int) error { return share(strconv.Itoa(pid), "0") }

// share sets the niceness of a process's session as a whole; see sched(7), where it is that
// of an autogroup. Kernels without them share out by other means.
func share(pid, nice string) error {
	f, err := os.OpenFile("/proc/"+pid+"/autogroup", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString(nice)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("set the CPU share of a session: %w", err)
	}
	return nil
}

// threads lists the ids of this process's threads, of the first one alone when they cannot
// be listed.
func threads() []int {
	ids := []int{os.Getpid()}
	entries, _ := os.ReadDir("/proc/self/task")
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil && id != ids[0] {
			ids = append(ids, id)
		}
	}
	return ids
}
