package host_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"benchd/worker/host"
)

func TestSleeper(t *testing.T) {
	t.Parallel()
	s, err := host.NewSleeper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, d := range []time.Duration{-time.Second, 0, time.Microsecond, 3 * time.Millisecond} {
		start := time.Now()
		if err := s.Sleep(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < d || took > d+10*time.Second {
			t.Errorf("slept %s of %s", took, d)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := s.Sleep(ctx, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a sleep that was broken off says %v", err)
	}
}

// BenchmarkSleeper reports how late a sleeper and the runtime's own timer are.
func BenchmarkSleeper(b *testing.B) {
	s, err := host.NewSleeper()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	const d = 500 * time.Microsecond
	late := func(sleep func()) time.Duration {
		start := time.Now()
		sleep()
		return time.Since(start) - d
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		ours = append(ours, late(func() { _ = s.Sleep(b.Context(), d) }))
		theirs = append(theirs, late(func() { time.Sleep(d) }))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	b.ReportMetric(float64(ours[len(ours)/2])/1e3, "us-late")
	b.ReportMetric(float64(theirs[len(theirs)/2])/1e3, "us-late-runtime")
}
