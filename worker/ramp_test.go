package worker_test

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// TestRamp has a kernel with a server in a ramp of two forks: there are the steps of both, put
// together, and the score is that of one of them.
func TestRamp(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.served", func(o *bench.Order) {
		o.Plan.Forks, o.Plan.Ramp = 2, 2
		o.Case.Params["clients"] = "5"
	})
	got := b.next(bench.Finished).Result
	if got.State != bench.Succeeded || got.Series == nil || len(got.Series.Steps) != 3 || got.Series.Kind != bench.Ramp {
		t.Fatalf("state %s, error %+v, series %s", got.State, got.Error, show(got.Series))
	}
	var scored *bench.Step
	var count int64
	for i, step := range got.Series.Steps {
		if step.Lanes != []int{2, 4, 5}[i] || step.Throughput.N != 16 || step.Throughput.Value == nil || step.Throughput.Unit != "call/s" {
			t.Errorf("step %s", show(step))
		}
		if step.CPU.Client == nil || runtime.GOOS == "linux" && (step.CPU.Server == nil || step.CPU.System == nil || *step.CPU.System > 1) {
			t.Errorf("%d lanes: CPU %s", step.Lanes, show(step.CPU))
		}
		if l := step.Latency; l.P50 < 1e6 || l.P50 > l.P99 || l.P99 > l.Max || l.Max > got.Latency.Max {
			t.Errorf("%d lanes: latency %s", step.Lanes, show(l))
		}
		count += step.Latency.Count
		if step.Lanes == got.Series.Scored {
			scored = &got.Series.Steps[i]
		}
	}
	if count != got.Latency.Count || len(got.Forks) != 2 || len(got.Forks[0].Samples) != 24 {
		t.Errorf("the steps have %d operations, the whole %d; forks %s", count, got.Latency.Count, show(got.Forks))
	}
	if scored == nil || show(scored.Throughput) != show(got.Score) {
		t.Errorf("the score %s is not that of the step %s", show(got.Score), show(scored))
	}
	each := *got.Metrics[0].Value / 1e6 * *got.Score.Value // seconds of a call, by calls a second, is the lanes at work
	if math.Abs(each/float64(got.Series.Scored)-1) > 0.2 {
		t.Errorf("%s with %d lanes at %s", show(got.Metrics[0]), got.Series.Scored, show(got.Score))
	}
	if got.Steady.Class != nil || !strings.Contains(got.Steady.Reason, "on purpose") || got.WithWarmup != nil {
		t.Errorf("steady %s, with the warm-up %s", show(got.Steady), show(got.WithWarmup))
	}
	b.free()
}

// TestRampFailures: the failures of the steps are those of the trial, and a kernel without a
// server has no CPU of one.
func TestRampFailures(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.flaky", func(o *bench.Order) {
		o.Plan.Ramp, o.Plan.Operations, o.Plan.Warmup = 1, 30, 0
		o.Case.Params["clients"] = "2"
	})
	got := b.next(bench.Finished).Result
	if got.State != bench.Succeeded || got.Series == nil || got.Failures == nil {
		t.Fatalf("state %s, error %+v", got.State, got.Error)
	}
	var failed int64
	for _, step := range got.Series.Steps {
		failed += step.Failures
		if step.Failures == 0 || step.CPU.Server != nil || step.CPU.Reason == "" {
			t.Errorf("step %s", show(step))
		}
	}
	if failed != got.Failures.Count {
		t.Errorf("%d failed in the steps, %d in all", failed, got.Failures.Count)
	}
	for _, s := range got.Forks[0].Slices {
		if s.Operations > int64(30*s.Lanes) || s.Operations < int64(15*s.Lanes) {
			t.Errorf("a slice of 30 operations of %d lanes has %d that succeeded", s.Lanes, s.Operations)
		}
	}
}

// TestOperationsOverLimit: slices of operations that are too many end with the trial's limit,
// and how far they came is told.
func TestOperationsOverLimit(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.sleep", func(o *bench.Order) {
		o.Plan.Operations, o.Plan.Limit = 400, bench.Duration(2*time.Second)
	})
	got := b.next(bench.Finished).Result
	if got.State != bench.Failed || got.Error == nil || got.Error.Code != "timed_out" || !strings.Contains(got.Error.Message, " of 8 of the measuring did not end") {
		t.Errorf("state %s, error %+v", got.State, got.Error)
	}
	b.free()
}
