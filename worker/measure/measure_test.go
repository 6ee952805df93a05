package measure_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"go.uber.org/goleak"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/host"
	"benchd/worker/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a kernel whose operation is a function.
type fake struct {
	info    kernels.Info
	do      func(ctx context.Context, n int) error
	openErr error
	check   func() error
	flops   float64

	opened, closed, checks atomic.Int64
}

func (f *fake) Info() kernels.Info { return f.info }

func (f *fake) Open(context.Context, kernels.Params) (kernels.Trial, error) {
	if f.openErr != nil {
		return nil, f.openErr
	}
	f.opened.Add(1)
	return fakeTrial{f}, nil
}

type fakeTrial struct{ *fake }

func (t fakeTrial) Do(ctx context.Context, n int) error { return t.do(ctx, n) }
func (t fakeTrial) Count() kernels.Work                 { return kernels.Work{Flops: t.flops} }
func (t fakeTrial) Close() error                        { t.closed.Add(1); return nil }

func (t fakeTrial) Check() error {
	t.checks.Add(1)
	if t.check != nil {
		return t.check()
	}
	return nil
}

// sleeper is an operation of a known length.
func sleeper(d time.Duration) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		time.Sleep(time.Duration(n) * d)
		return nil
	}
}

func meter(t *testing.T) *host.Meter {
	t.Helper()
	m, err := host.NewMeter(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func plan(slices int, slice, warmup time.Duration) bench.Plan {
	return bench.Plan{Forks: 1, Slices: slices, Slice: bench.Duration(slice), Warmup: bench.WarmupTime(warmup), Confidence: 0.95, Limit: bench.Duration(time.Minute)}
}

func TestSlicesAndWarmup(t *testing.T) {
	t.Parallel()
	f := &fake{info: kernels.Info{Name: "fake.sleep", Unit: "call/s"}, do: sleeper(2 * time.Millisecond)}
	var seen []string
	rec, err := measure.Fork{
		Kernel: f, Plan: plan(4, 30*time.Millisecond, 50*time.Millisecond), Meter: meter(t),
		Progress: func(phase string, slice, slices int, sample float64) {
			seen = append(seen, fmt.Sprint(phase, slice, "/", slices))
			if sample <= 0 {
				t.Errorf("%s slice %d has the sample %v", phase, slice, sample)
			}
		},
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(seen), "[warmup1/2 warmup2/2 measure1/4 measure2/4 measure3/4 measure4/4]"; got != want {
		t.Errorf("progress %s, want %s", got, want)
	}
	if n := len(rec.Fork.Samples); n != 4 || len(rec.Fork.Slices) != 4 {
		t.Errorf("%d samples, want 4", n)
	}
	if w := rec.Fork.Warmup; w.Slices != 2 || len(w.Samples) != 2 || w.Operations < 2 {
		t.Errorf("warm-up %+v, want two slices kept", w)
	}
	var ops int64
	for i, s := range rec.Fork.Slices {
		ops += s.Operations
		if time.Duration(s.Elapsed) < 30*time.Millisecond {
			t.Errorf("slice %d lasted %s, less than a slice", i, time.Duration(s.Elapsed))
		}
		want := float64(s.Operations) / (float64(s.Elapsed) / 1e9)
		if math.Abs(rec.Fork.Samples[i]-want) > 1e-6*want {
			t.Errorf("sample %d is %v, operations by time are %v", i, rec.Fork.Samples[i], want)
		}
	}
	h, err := hdrhistogram.Decode([]byte(rec.Times.Latency.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != ops {
		t.Errorf("the histogram holds %d operations, the slices %d: the warm-up must be apart", h.TotalCount(), ops)
	}
	if least := time.Duration(h.Min()); least < 1990*time.Microsecond {
		t.Errorf("an operation that sleeps 2 ms is said to take %s", least)
	}
	if f.opened.Load() != f.closed.Load() || f.checks.Load() != 2 {
		t.Errorf("opened %d, closed %d, checked %d times; want equal, and 2", f.opened.Load(), f.closed.Load(), f.checks.Load())
	}
}

func TestLanesAddUp(t *testing.T) {
	t.Parallel()
	// In a time that only sleepers move, whatever else the machine does.
	synctest.Test(t, func(t *testing.T) {
		f := &fake{info: kernels.Info{Name: "fake.sleep", Unit: "call/s", Lanes: "clients"}, do: sleeper(5 * time.Millisecond)}
		one := run(t, f, kernels.Params{"clients": "1"}, plan(3, 60*time.Millisecond, 0))
		four := run(t, f, kernels.Params{"clients": "4"}, plan(3, 60*time.Millisecond, 0))
		if f.opened.Load() != 5 {
			t.Errorf("%d lanes were opened, want 1 and 4", f.opened.Load())
		}
		if ratio := four.Fork.Samples[1] / one.Fork.Samples[1]; math.Abs(ratio-4) > 1e-9 {
			t.Errorf("four sleeping lanes do %.2f x one, want 4", ratio)
		}
	})
}

func run(t *testing.T, f *fake, p kernels.Params, pl bench.Plan) measure.Record {
	t.Helper()
	rec, err := measure.Fork{Kernel: f, Params: p, Plan: pl, Meter: meter(t)}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestFlops works the unit out by hand: flops of one operation x operations / time.
func TestFlops(t *testing.T) {
	t.Parallel()
	f := &fake{info: kernels.Info{Name: "fake.flops", Unit: "Mflop/s", Batched: true}, flops: 2e6, do: sleeper(time.Millisecond)}
	rec := run(t, f, nil, plan(2, 50*time.Millisecond, 0))
	for i, s := range rec.Fork.Slices {
		want := float64(s.Operations) * 2e6 / 1e6 / (float64(s.Elapsed) / 1e9)
		if math.Abs(rec.Fork.Samples[i]-want) > 1e-6*want {
			t.Errorf("sample %d is %v Mflop/s, want %v", i, rec.Fork.Samples[i], want)
		}
	}
	if rec.Times != nil {
		t.Error("a batched kernel has a latency histogram")
	}
}

// TestLongOperation has operations longer than a slice: each slice holds one whole operation.
func TestLongOperation(t *testing.T) {
	t.Parallel()
	f := &fake{info: kernels.Info{Name: "fake.long", Unit: "call/s"}, do: sleeper(40 * time.Millisecond)}
	rec := run(t, f, nil, plan(3, 10*time.Millisecond, 0))
	for i, s := range rec.Fork.Slices {
		if s.Operations != 1 || time.Duration(s.Elapsed) < 39*time.Millisecond {
			t.Errorf("slice %d: %d operations in %s, want one whole", i, s.Operations, time.Duration(s.Elapsed))
		}
	}
}

func TestFailuresAreData(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	f := &fake{info: kernels.Info{Name: "fake.flaky", Unit: "call/s"}, do: func(context.Context, int) error {
		time.Sleep(100 * time.Microsecond)
		if n.Add(1)%3 == 0 {
			return &kernels.Failure{Class: "fault", Err: errors.New("the service said no")}
		}
		return nil
	}}
	rec := run(t, f, nil, plan(2, 20*time.Millisecond, 0))
	fails := rec.Fork.Failures
	if fails == nil || fails.Count == 0 || fails.Classes["fault"] != fails.Count || fails.Sample != "fault: the service said no" {
		t.Fatalf("failures %+v", fails)
	}
	h, err := hdrhistogram.Decode([]byte(rec.Times.Latency.HDR))
	if err != nil {
		t.Fatal(err)
	}
	if got := rec.Fork.Slices[0].Operations + rec.Fork.Slices[1].Operations; h.TotalCount() != got {
		t.Errorf("the histogram holds %d, %d succeeded", h.TotalCount(), got)
	}
}

func TestNoRecord(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	first := true
	for _, tt := range []struct {
		name string
		fake *fake
		want error
	}{
		{"open fails", &fake{openErr: broken}, broken},
		{"the first operation fails", &fake{do: func(context.Context, int) error { return broken }}, broken},
		{"the answer is wrong", &fake{do: sleeper(time.Millisecond), check: func() error { return broken }}, measure.ErrCheck},
		{"everything fails after the first", &fake{do: func(context.Context, int) error {
			if first {
				first = false
				return nil
			}
			return broken
		}}, measure.ErrNothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.fake.info = kernels.Info{Name: "fake.bad", Unit: "call/s"}
			_, err := measure.Fork{Kernel: tt.fake, Plan: plan(2, 10*time.Millisecond, 0), Meter: meter(t)}.Run(t.Context())
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if tt.fake.opened.Load() != tt.fake.closed.Load() {
				t.Errorf("opened %d, closed %d", tt.fake.opened.Load(), tt.fake.closed.Load())
			}
		})
	}
}

func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	gone := errors.New("the parent is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	f := &fake{info: kernels.Info{Name: "fake.sleep", Unit: "call/s", Lanes: "clients"}, do: func(ctx context.Context, _ int) error {
		select {
		case <-time.After(time.Millisecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	time.AfterFunc(50*time.Millisecond, func() { cancel(gone) })
	_, err := measure.Fork{Kernel: f, Params: kernels.Params{"clients": "3"}, Plan: plan(1000, time.Second, 0), Meter: meter(t)}.Run(ctx)
	if !errors.Is(err, gone) {
		t.Errorf("error %v, want the cause %v", err, gone)
	}
	if f.closed.Load() != 3 {
		t.Errorf("%d lanes were closed, want 3", f.closed.Load())
	}
}

func TestClass(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"the kernel's own word", fmt.Errorf("call: %w", &kernels.Failure{Class: "fault", Err: io.EOF}), "fault"},
		{"a deadline of a connection", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "timeout"},
		{"a deadline of a context", context.DeadlineExceeded, "timeout"},
		{"nobody listens", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "refused"},
		{"the other side reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, "reset"},
		{"the other side closed", io.ErrUnexpectedEOF, "closed"},
		{"anything else", errors.New("?"), "other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := measure.Class(tt.err); got != tt.want {
				t.Errorf("class %q, want %q", got, tt.want)
			}
		})
	}
}

// BenchmarkLane shows what the harness adds to an operation that does nothing: one reading
// of the clock and one recording.
func BenchmarkLane(b *testing.B) {
	f := &fake{info: kernels.Info{Name: "fake.nothing", Unit: "call/s"}, do: func(context.Context, int) error { return nil }}
	m, err := host.NewMeter(0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	var ops int64
	var elapsed int64
	for b.Loop() {
		rec, err := measure.Fork{Kernel: f, Plan: plan(1, 50*time.Millisecond, 0), Meter: m}.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		ops += rec.Fork.Slices[0].Operations
		elapsed += rec.Fork.Slices[0].Elapsed
	}
	b.ReportMetric(float64(elapsed)/float64(ops), "ns/operation")
}
