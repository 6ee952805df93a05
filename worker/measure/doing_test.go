package measure_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/measure"
)

// TestDoing: each thing is told before it is done, so that of what hangs it is known where.
func TestDoing(t *testing.T) {
	t.Parallel()
	n := 0
	f := &fake{
		info:  kernels.Info{Name: "fake.call", Unit: "call/s", Lanes: "clients"},
		check: func() error { return nil },
		do: func(context.Context, int) error {
			if n++; n == 3 { // in the warm-up
				return errors.New("once")
			}
			time.Sleep(100 * time.Microsecond)
			return nil
		},
	}
	var seen []string
	_, err := measure.Fork{
		Kernel: f, Params: kernels.Params{"clients": "1"}, Plan: plan(2, 20*time.Millisecond, 20*time.Millisecond), Meter: meter(t),
		Doing: func(what string, failed *bench.Failures) {
			if failed != nil {
				what += fmt.Sprintf(" (%d failed: %s)", failed.Count, failed.Sample)
			}
			seen = append(seen, what)
		},
		Progress: func(phase string, slice, slices int, _ float64) {
			seen = append(seen, measure.SliceOf(phase, slice+1, slices))
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"the opening of lane 1 of 1", "the first operation of lane 1 of 1",
		"slice 1 of 1 of the warm-up", "slice 1 of 1 of the warm-up (1 failed: once)", "the end of the warm-up",
		"slice 1 of 2 of the measuring (1 failed: once)", "slice 2 of 2 of the measuring", "the end of the measuring",
	}, "\n")
	var told []string
	for _, s := range seen {
		if !strings.HasPrefix(s, "the check ") {
			told = append(told, s)
		}
	}
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("told\n%s\nwant\n%s", got, want)
	}
}
