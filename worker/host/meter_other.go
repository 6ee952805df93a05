//go:build !linux

package host

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// processClocks tells that this platform does not give the CPU time of other processes.
const processClocks = false

// ProcessCPU fails: only Linux names a clock for another process.
func ProcessCPU(int) (time.Duration, error) {
	return 0, fmt.Errorf("the CPU time of another process is read on linux only, this is %s", runtime.GOOS)
}

// openStat fails: only Linux has /proc/stat.
func openStat() (*os.File, error) {
	return nil, fmt.Errorf("the busy time of all CPUs is read on linux only, this is %s", runtime.GOOS)
}
