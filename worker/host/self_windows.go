package host

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// selfCPU returns the CPU time of this process, user and kernel of all its threads.
func selfCPU() (time.Duration, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return 0, fmt.Errorf("GetProcessTimes: %w", err)
	}
	return span(kernel) + span(user), nil
}

// span turns a count of 100 ns into a duration. Filetime.Nanoseconds will not do: it counts
// from the epoch of Unix, and this is a length of time.
func span(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
