//go:build !linux

package child

import "os/exec"

// leadSession does nothing: only Linux shares out CPUs by session.
func leadSession(*exec.Cmd) {}

// limitMemory does nothing: only Linux can bound a process's private memory as Go uses it.
func limitMemory(int64) error { return nil }

// PeakRSS cannot be told here.
func PeakRSS(int) *int64 { return nil }
