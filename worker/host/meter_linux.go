package host

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// processClocks tells that this platform gives the CPU time of other processes.
const processClocks = true

// ProcessCPU returns the CPU time that the process with the given id has used, user and
// system of all its threads, in the scheduler's own nanoseconds. It fails when there is no
// such process.
func ProcessCPU(pid int) (time.Duration, error) {
	// The clock of a process is named by its id; see clock_getcpuclockid(3) and the
	// macros of linux/posix-timers.h. The low bits mean the scheduler's clock, whole process.
	const sched = 2
	// An id beyond the kernel's own limit would name another clock by overflow.
	const maxPID = 1 << 22
	if pid <= 0 || pid > maxPID {
		return 0, fmt.Errorf("read the CPU time of process %d: a process id is from 1 to %d", pid, maxPID)
	}
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|sched), &ts)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ESRCH) {
		return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, os.ErrProcessDone)
	}
	if err != nil {
		return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// openStat opens the file that tells the busy time of all CPUs.
func openStat() (*os.File, error) {
	return os.Open("/proc/stat")
}
