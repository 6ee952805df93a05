package measure_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/measure"
)

// counted is a plan of slices of operations after no warm-up.
func counted(slices, operations int) bench.Plan {
	p := plan(slices, 50*time.Millisecond, 0)
	p.Operations = operations
	return p
}

// TestOperations: a slice is as many operations of each lane as the plan says, and as long as
// they take, in a time that only they move.
func TestOperations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int64
		f := &fake{info: kernels.Info{Name: "fake.sleep", Unit: "call/s", Lanes: "clients"}, do: func(_ context.Context, n int) error {
			done.Add(int64(n))
			time.Sleep(3 * time.Millisecond)
			return nil
		}}
		rec := run(t, f, kernels.Params{"clients": "2"}, counted(4, 200))
		for i, s := range rec.Fork.Slices {
			if s.Operations != 400 || s.Lanes != 2 || time.Duration(s.Elapsed) != 600*time.Millisecond || math.Abs(rec.Fork.Samples[i]-2/0.003) > 1e-6 {
				t.Errorf("slice %d: %+v, sample %v", i, s, rec.Fork.Samples[i])
			}
		}
		if done.Load() != 2+4*400 { // each lane's first operation comes before
			t.Errorf("%d operations were done in all", done.Load())
		}
		if n := decode(t, rec.Times.Latency).TotalCount(); n != 1600 {
			t.Errorf("the histogram holds %d", n)
		}
	})
}

// TestOperationsUntilSteady: with slices of operations the work until steady is as exact as a
// slice; a fixed warm-up stays a time.
func TestOperationsUntilSteady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := -1 // without the first, which opens
		f := &fake{info: kernels.Info{Name: "fake.lazy", Unit: "call/s"}, do: func(context.Context, int) error {
			if n++; n <= 100 {
				time.Sleep(5 * time.Millisecond)
			} else {
				time.Sleep(time.Millisecond)
			}
			return nil
		}}
		p := counted(40, 10)
		p.Warmup = bench.WarmupAuto
		rec := run(t, f, nil, p)
		if w := rec.Fork.Warmup; rec.Fork.Steady == nil || *rec.Fork.Steady != bench.WarmedUp || w.Slices != 10 || w.Operations != 100 {
			t.Errorf("steady %v after %+v, want 100 operations", rec.Fork.Steady, w)
		}
		n = math.MinInt32
		p.Warmup = bench.WarmupTime(100 * time.Millisecond) // two slices' time of 50 ms, of 5 ms each
		rec = run(t, f, nil, p)
		if w := rec.Fork.Warmup; w.Slices != 2 || w.Operations != 20 || rec.Fork.Slices[0].Operations != 10 {
			t.Errorf("a warm-up of 100 ms was %+v", w)
		}
	})
}

// TestFailuresAreDone: an operation that failed counts as one of the slice's number, so that
// the slice ends, and not among those that succeeded.
func TestFailuresAreDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		f := &fake{info: kernels.Info{Name: "fake.flaky", Unit: "call/s"}, do: func(context.Context, int) error {
			time.Sleep(time.Millisecond)
			if n++; n%4 == 0 {
				return errors.New("no")
			}
			return nil
		}}
		rec := run(t, f, nil, counted(3, 100))
		for i, s := range rec.Fork.Slices {
			if s.Operations != 75 || time.Duration(s.Elapsed) != 100*time.Millisecond || math.Abs(rec.Fork.Samples[i]-750) > 1e-9 {
				t.Errorf("slice %d: %+v, sample %v", i, s, rec.Fork.Samples[i])
			}
		}
		if f := rec.Fork.Failures; f == nil || f.Count != 75 {
			t.Errorf("failures %+v", f)
		}
	})
}

// TestBatchesWithin: batches of any size make exactly the number of operations, and no time at
// all is no infinite rate.
func TestBatchesWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		operations := rapid.IntRange(1, 3000).Draw(rt, "operations")
		each := time.Duration(rapid.SampledFrom([]int{0, 1, 7000, 3_000_000}).Draw(rt, "ns"))
		lanes := rapid.IntRange(1, 3).Draw(rt, "lanes")
		var wrong string // rapid's own word is for its own goroutine
		synctest.Test(t, func(t *testing.T) {
			var done, calibrated atomic.Int64
			f := &fake{info: kernels.Info{Name: "fake.batch", Unit: "op/s", Batched: true, Lanes: "threads"}, do: func(_ context.Context, n int) error {
				done.Add(int64(n))
				time.Sleep(time.Duration(n) * each)
				return nil
			}}
			fork := measure.Fork{Kernel: f, Params: kernels.Params{"threads": fmt.Sprint(lanes)}, Plan: counted(3, operations), Meter: meter(t)}
			fork.Progress = func(_ string, slice, _ int, _ float64) {
				if slice == 1 {
					calibrated.Store(done.Load() - int64(lanes*operations))
				}
			}
			rec, err := fork.Run(t.Context())
			if err != nil {
				wrong = err.Error()
				return
			}
			if total := done.Load() - calibrated.Load(); total != int64(3*lanes*operations) {
				wrong = fmt.Sprintf("%d operations were done, not 3 x %d x %d", total, lanes, operations)
			}
			for i, s := range rec.Fork.Slices {
				if s.Operations != int64(lanes*operations) || s.Elapsed <= 0 || math.IsInf(rec.Fork.Samples[i], 0) || time.Duration(s.Elapsed) != max(1, time.Duration(operations)*each) {
					wrong = fmt.Sprintf("slice %d: %+v, sample %v", i, s, rec.Fork.Samples[i])
				}
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// TestOperationsEndWithTheirContext: a slice of operations may be long, and a kernel need not
// look at its context.
func TestOperationsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("the parent is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(gone) })
		f := &fake{info: kernels.Info{Name: "fake.deaf", Unit: "call/s"}, do: sleeper(time.Millisecond)}
		begun := time.Now()
		_, err := measure.Fork{Kernel: f, Plan: counted(1, 10_000_000), Meter: meter(t)}.Run(ctx)
		if took := time.Since(begun); !errors.Is(err, gone) || took > 52*time.Millisecond {
			t.Errorf("ended after %s with %v", took, err)
		}
	})
}

// crowded is a server that serves so many clients at once, each call in a time that is known;
// further ones wait.
func crowded(places int, each time.Duration) *fake {
	free := make(chan struct{}, places)
	return &fake{info: kernels.Info{Name: "fake.crowded", Unit: "call/s", Lanes: "clients"}, do: func(_ context.Context, n int) error {
		free <- struct{}{}
		time.Sleep(time.Duration(n) * each)
		<-free
		return nil
	}}
}

// TestRamp: the lanes begin step by step, each step has its own slices, and the throughput is
// that of the lanes at work, up to the number that the server serves at once.
func TestRamp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := plan(6, 100*time.Millisecond, 100*time.Millisecond)
		p.Ramp = 2
		f := crowded(3, time.Millisecond)
		var seen []string
		var warm int64
		rec, err := measure.Fork{
			Kernel: f, Params: kernels.Params{"clients": "5"}, Plan: p, Meter: meter(t),
			Progress: func(phase string, slice, slices int, _ float64) {
				if phase == "warmup" {
					warm = f.opened.Load()
				}
				if slice%6 == 1 {
					seen = append(seen, fmt.Sprintf("%s %d/%d %d", phase, slice, slices, f.opened.Load()))
				}
			},
		}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"warmup 1/1 2", "measure 1/18 2", "measure 7/18 4", "measure 13/18 5"}, seen); d != "" || warm != 2 {
			t.Errorf("phases with the lanes that were open: %s", d)
		}
		if f.opened.Load() != 5 || f.closed.Load() != 5 || f.checks.Load() != 10 {
			t.Errorf("opened %d, closed %d, checked %d times; want 5, 5, and each twice", f.opened.Load(), f.closed.Load(), f.checks.Load())
		}
		truth := map[int]float64{2: 2000, 4: 3000, 5: 3000}
		for i, s := range rec.Fork.Slices {
			if want := truth[s.Lanes]; math.Abs(rec.Fork.Samples[i]/want-1) > 0.03 {
				t.Errorf("slice %d with %d lanes: %v calls a second, truth %v", i, s.Lanes, rec.Fork.Samples[i], want)
			}
		}
		var told []string
		var counted int64
		for _, step := range rec.Steps {
			n := decode(t, step.Times.Latency).TotalCount()
			counted += n
			told = append(told, fmt.Sprintf("%d lanes", step.Lanes))
			if step.Elapsed < 600*time.Millisecond || step.Elapsed > 620*time.Millisecond { // the last call of a slice is not cut
				t.Errorf("%d lanes: six slices of 100 ms took %s", step.Lanes, step.Elapsed)
			}
			if step.CPU.Server != nil || step.CPU.Client == nil {
				t.Errorf("%d lanes: CPU %+v, without a server child", step.Lanes, step.CPU)
			}
		}
		if d := cmp.Diff([]string{"2 lanes", "4 lanes", "5 lanes"}, told); d != "" {
			t.Error(d)
		}
		if all := decode(t, rec.Times.Latency).TotalCount(); all != counted {
			t.Errorf("the steps' histograms hold %d, that of all %d", counted, all)
		}
		if rec.Fork.Steady != nil || rec.Fork.Warmup.Slices != 1 {
			t.Errorf("steady %v, warm-up %+v", rec.Fork.Steady, rec.Fork.Warmup)
		}
	})
}

// TestRampOpensOutside: a lane that takes a second to open takes no measured time.
func TestRampOpensOutside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := counted(2, 10)
		p.Ramp = 1
		f := slowToOpen{crowded(9, time.Millisecond)}
		rec, err := measure.Fork{Kernel: f, Params: kernels.Params{"clients": "3"}, Plan: p, Meter: meter(t)}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range rec.Fork.Slices {
			if time.Duration(s.Elapsed) != 10*time.Millisecond {
				t.Errorf("slice %d of %d lanes took %s", i, s.Lanes, time.Duration(s.Elapsed))
			}
		}
	})
}

type slowToOpen struct{ *fake }

func (f slowToOpen) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	time.Sleep(time.Second)
	return f.fake.Open(ctx, p)
}

// TestRampFails: a lane that cannot be opened ends the fork and says which it was, and all that
// are open are closed.
func TestRampFails(t *testing.T) {
	t.Parallel()
	f := &refusing{fake: crowded(9, time.Microsecond), from: 3}
	p := counted(1, 1)
	p.Ramp = 1
	_, err := measure.Fork{Kernel: f, Params: kernels.Params{"clients": "4"}, Plan: p, Meter: meter(t)}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "open lane 3 of 4: no more") {
		t.Errorf("error %v", err)
	}
	if f.opened.Load() != 2 || f.closed.Load() != 2 {
		t.Errorf("opened %d, closed %d", f.opened.Load(), f.closed.Load())
	}
}

// refusing opens so many lanes less one.
type refusing struct {
	*fake
	from int
}

func (f *refusing) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	if p.Int(kernels.Lane)+1 >= f.from {
		return nil, errors.New("no more")
	}
	return f.fake.Open(ctx, p)
}
