//go:build !linux

package host

import (
	"fmt"
	"runtime"
)

// AllowedCPUs is nil: only on Linux are processes placed on CPUs.
func AllowedCPUs() []int { return nil }

// PinThread fails: only on Linux are threads placed on CPUs.
func PinThread(int) error {
	return fmt.Errorf("threads are placed on CPUs on linux only, this is %s", runtime.GOOS)
}

// PlaceThread fails: only on Linux are threads placed on CPUs.
func PlaceThread([]int) (back func() error, err error) { return nil, PinThread(0) }

// LowerProcess fails: only Linux has a policy below all others.
func LowerProcess() error {
	return fmt.Errorf("the lowest priority is given on linux only, this is %s", runtime.GOOS)
}

// RaiseSession has nothing to undo.
func RaiseSession(int) error { return nil }
