//go:build unix

package host

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// usedCPU adds up the CPU time of this process, of all processes that it has reaped, and of
// the living ones with the ids given. A process that ends is then counted among the reaped,
// so that the sum only grows; it is read again if one was reaped meanwhile. An id without a
// process is one that has ended.
func usedCPU(pids []int) (time.Duration, error) {
	for range 10 {
		before, err := reapedCPU()
		if err != nil {
			return 0, err
		}
		living, err := livingCPU(pids)
		if err != nil {
			return 0, err
		}
		self, err := selfCPU()
		if err != nil {
			return 0, err
		}
		after, err := reapedCPU()
		if err != nil {
			return 0, err
		}
		if before == after {
			return self + living + after, nil
		}
	}
	return 0, errors.New("processes of the trial end too fast to be counted")
}

// livingCPU adds up the CPU time of the processes that are there.
func livingCPU(pids []int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		used, err := ProcessCPU(pid)
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// reapedCPU returns the CPU time of all processes that this one has started and reaped.
func reapedCPU() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		return 0, fmt.Errorf("getrusage of ended children: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
