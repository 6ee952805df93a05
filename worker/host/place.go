package host

import "benchd/worker/bench"

// CPUList writes the CPUs that this process may run on as Linux does, "0-3,8", or
// bench.NoCPUs where the platform cannot place processes. It is what a worker tells of its
// host in Limits.CPUs.
func CPUList() string { return bench.FormatCPUs(AllowedCPUs()) }
