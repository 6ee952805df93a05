//go:build !linux

package child

// limitMemory does nothing: only Linux can bound a process's private memory as Go uses it.
func limitMemory(int64) error { return nil }

// PeakRSS cannot be told here.
func PeakRSS(int) *int64 { return nil }
