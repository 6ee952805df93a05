//go:build unix

package host

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// selfCPU returns the CPU time of this process, user and system of all its threads.
func selfCPU() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
