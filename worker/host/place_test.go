package host_test

import (
	"runtime"
	"slices"
	"testing"

	"benchd/worker/bench"
	"benchd/worker/host"
)

func TestFormatCPUs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		cpus []int
		want string
	}{
		{nil, bench.NoCPUs},
		{[]int{0}, "0"},
		{[]int{0, 1}, "0-1"},
		{[]int{0, 2}, "0,2"},
		{[]int{0, 1, 2, 3, 8, 10, 11}, "0-3,8,10-11"},
	} {
		if got := bench.FormatCPUs(row.cpus); got != row.want {
			t.Errorf("%v is written %q, want %q", row.cpus, got, row.want)
		}
	}
}

// A thread that is placed on one CPU leaves the process its CPUs, and is put back.
func TestPlaceThread(t *testing.T) {
	if runtime.GOOS != "linux" {
		if list := host.CPUList(); list != bench.NoCPUs || host.PinThread(0) == nil {
			t.Errorf("CPU %s may be used on %s", list, runtime.GOOS)
		}
		t.Skip("threads are placed on linux only")
	}
	all := host.AllowedCPUs()
	if len(all) == 0 || !slices.IsSorted(all) {
		t.Fatalf("CPUs %v", all)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		back, err := host.PlaceThread(all[:1])
		if err != nil {
			done <- err
			return
		}
		if now := host.AllowedCPUs(); !slices.Equal(now, all) {
			t.Errorf("with a thread on CPU %d the process has %v, want %v", all[0], now, all)
		}
		done <- back()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if p, err := bench.ParsePlacement("one", false, host.CPUList()); err != nil || !slices.Equal(p.Client, all[len(all)-1:]) {
		t.Errorf("CPU list %q is read as %+v, %v", host.CPUList(), p, err)
	}
}
