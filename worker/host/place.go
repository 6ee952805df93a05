package host

import (
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// CPUList writes the CPUs that this process may run on as Linux does, "0-3,8", or
// bench.NoCPUs where the platform cannot place processes. It is what a worker tells of its
// host in Limits.CPUs.
func CPUList() string { return FormatCPUs(AllowedCPUs()) }

// FormatCPUs writes ascending numbers of CPUs as Linux does: "0-3,8". No CPUs at all are
// bench.NoCPUs.
func FormatCPUs(cpus []int) string {
	if len(cpus) == 0 {
		return bench.NoCPUs
	}
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		part := strconv.Itoa(cpus[i])
		if last > i {
			part += "-" + strconv.Itoa(cpus[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}
