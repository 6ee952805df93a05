package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchd/worker"
	"benchd/worker/bench"
	"benchd/worker/child"
	"benchd/worker/queue"
	"benchd/worker/queue/embedded"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Arg {
		os.Exit(child.Main(families(), os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

// A bed is a queue with somebody who collects, for workers to be tried on.
type bed struct {
	t       *testing.T
	queue   *queue.Queue
	reports chan bench.Report
	lock    string
	limits  bench.Limits
	memory  int64

	services map[string]string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{
		t: t, reports: make(chan bench.Report, 100), lock: filepath.Join(t.TempDir(), "lock"),
		limits: bench.Limits{Clients: 8, Threads: 2, TrialTime: bench.Duration(time.Minute), Bytes: 1 << 20},
	}
	r, err := embedded.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	b.queue = b.open(r.URL())
	return b
}

func (b *bed) open(url string) *queue.Queue {
	b.t.Helper()
	q, err := queue.Open(b.t.Context(), queue.Options{URL: url, Logger: slog.New(slog.DiscardHandler), Embedded: true})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = q.Close() })
	return q
}

// collect takes reports until the test ends.
func (b *bed) collect() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.queue.Collect(ctx, func(_ context.Context, r bench.Report) error {
			b.reports <- r
			return nil
		})
	}()
	b.t.Cleanup(func() { cancel(); <-done })
}

// work starts a worker and returns what stops it.
func (b *bed) work(name, data string) (stop func()) {
	b.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	w, err := worker.New(b.t.Context(), worker.Config{
		Name: name, Limits: b.limits, Services: b.services, Version: "test", Exe: exe, Data: data, Lock: b.lock, Memory: b.memory,
		Catalog: bench.NewCatalog(families()), Queue: b.queue, Logger: slog.New(slog.DiscardHandler),
	}, name+"-"+b.t.Name())
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.Run(ctx); err != nil {
			b.t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	b.t.Cleanup(stop)
	return stop
}

func plan() bench.Plan {
	return bench.Plan{
		Forks: 1, Slices: 8, Slice: bench.Duration(20 * time.Millisecond), Warmup: bench.WarmupTime(20 * time.Millisecond),
		Confidence: 0.95, Interval: bench.Bootstrap, Order: bench.Sequential, Pin: bench.PinFree,
		Limit: bench.Duration(20 * time.Second),
	}
}

func (b *bed) order(host, trial, kernel string, change func(*bench.Order)) bench.Order {
	b.t.Helper()
	o := bench.Order{
		Run: "run-" + trial, Trial: trial, Host: host, Attempt: 1, Plan: plan(),
		Case: bench.Case{Kernel: kernel, Params: map[string]string{"clients": "1"}},
	}
	if change != nil {
		change(&o)
	}
	if err := b.queue.Enqueue(b.t.Context(), o); err != nil {
		b.t.Fatal(err)
	}
	return o
}

// next waits for the next report of a kind.
func (b *bed) next(kind bench.ReportKind) bench.Report {
	b.t.Helper()
	late := time.After(60 * time.Second)
	for {
		select {
		case r := <-b.reports:
			if r.Kind == kind {
				return r
			}
		case <-late:
			b.t.Fatalf("no %s report came", kind)
		}
	}
}

// free fails the test unless nobody holds the host's lock: then no child is left, since each
// inherits it.
func (b *bed) free() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Millisecond)
	defer cancel()
	l, err := child.Acquire(ctx, b.lock, nil)
	if err != nil {
		b.t.Fatalf("a process of the trial is still there: %v", err)
	}
	if err := l.Release(); err != nil {
		b.t.Fatal(err)
	}
}

func TestResult(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.served", func(o *bench.Order) {
		o.Plan.Forks = 2
		o.Case.Params["clients"] = "3"
	})
	r := b.next(bench.Finished)
	got := r.Result
	if got.State != bench.Succeeded || got.Error != nil {
		t.Fatalf("state %s, error %+v", got.State, got.Error)
	}
	if got.Attempt != 1 || r.Attempt != 1 || got.Host != "blue" || r.Instance == "" || got.Started == nil || !got.Finished.After(*got.Started) {
		t.Errorf("result %+v", got)
	}
	s := got.Score
	bounded := s.Low == nil || *s.Low <= *s.Value && *s.Value <= *s.High // samples too far apart have no interval
	if s.Unit != "call/s" || s.N != 16 || !bounded || *s.Value < 30 || *s.Value > 3000 {
		t.Errorf("three lanes of 1 ms score %s", show(s))
	}
	if m := got.Metrics[0]; m.Metric != "time_per_call" || m.Unit != "us" || *m.Value < 1000 {
		t.Errorf("metric %s", show(m))
	}
	if l := got.Latency; l.Percentiles["50"] < 1e6 || l.Percentiles["99.99"] > l.Max || l.Min > l.Percentiles["50"] {
		t.Errorf("latency %s", show(l))
	}
	checkForks(t, got.Forks)
	// What the machine did meanwhile is not the trial's.
	own := slices.DeleteFunc(slices.Clone(got.Validity.Reasons), func(s string) bool {
		code, _, _ := strings.Cut(s, ": ")
		return slices.Contains([]string{"host_busy", "cpu_pressure", "memory_pressure", "io_pressure", "stolen", "throttled", "swapped", "frequency_changed", "autocorrelated", "bimodal", "imprecise"}, code)
	})
	// That slices are alike does no harm where the interval counts forks.
	harmed := slices.ContainsFunc(got.Validity.Reasons, func(s string) bool { return !strings.HasPrefix(s, "autocorrelated: ") })
	if len(own) > 0 || got.Validity.Valid == harmed {
		t.Errorf("validity %+v", got.Validity)
	}
	if r.Snapshot.Fingerprint == "" || r.Snapshot.Volatile.ClockOffset == nil {
		t.Errorf("snapshot %s", show(r.Snapshot))
	}
	b.free()
}

func checkForks(t *testing.T, forks []bench.Fork) {
	t.Helper()
	if len(forks) != 2 {
		t.Fatalf("%d forks, want 2", len(forks))
	}
	for _, f := range forks {
		if f.Server == nil || f.CPU.Client == nil || len(f.Samples) != 8 || f.Warmup.Slices != 1 {
			t.Errorf("fork %s", show(f))
		}
		if runtime.GOOS == "linux" && (f.CPU.Server == nil || f.CPU.System == nil || *f.Usage.MaxRSS < 1<<20 || *f.Server.MaxRSS < 1<<20) {
			t.Errorf("fork without the figures that Linux tells: %s", show(f))
		}
	}
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(b)
}

// TestTrialsThatFail has every way in which what is measured can go wrong: each is a result
// with a code and a sentence, and the host takes the next trial.
func TestTrialsThatFail(t *testing.T) {
	b := newBed(t)
	b.memory = 1 << 30
	b.collect()
	b.work("blue", t.TempDir())
	for _, tt := range []struct {
		name, kernel, code, says string
		change                   func(*bench.Order)
	}{
		{"it hangs", "odd.hang", "timed_out", "longer than its limit of 1s; 0 of 1 forks were done, and in the next the first operation of lane 1 of 1 did not end", func(o *bench.Order) {
			o.Plan.Limit, o.Plan.Slices = bench.Duration(time.Second), 1
		}},
		{"it panics", "odd.panic", "child_died", "something terrible", nil},
		{"it exits", "odd.exit", "child_died", "exit status 3", nil},
		{"it cannot be opened", "odd.refuses", "open_failed", "nobody is at home", nil},
		{"its server fails", "odd.mute", "server_failed", "the port is taken", nil},
		{"there is no such kernel", "odd.none", "unknown_kernel", "has no kernel \"odd.none\"", nil},
		{"it asks for too much", "odd.sleep", "beyond_limits", "clients must be a whole number from 1 to 8", func(o *bench.Order) {
			o.Case.Params["clients"] = "9"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b.order("blue", "trial-"+tt.kernel+tt.code, tt.kernel, tt.change)
			r := b.next(bench.Finished).Result
			if r.State != bench.Failed || r.Error.Code != tt.code || !strings.Contains(r.Error.Message, tt.says) {
				t.Errorf("%s %+v\nwant failed %s with %q", r.State, r.Error, tt.code, tt.says)
			}
			if r.Score != nil || r.Validity.Valid {
				t.Errorf("score %s, validity %+v", show(r.Score), r.Validity)
			}
			b.free()
		})
	}
	b.order("blue", "last", "odd.sleep", nil)
	if r := b.next(bench.Finished).Result; r.State != bench.Succeeded {
		t.Errorf("after all that the host answers %s %+v", r.State, r.Error)
	}
}

func TestMemoryLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux bounds a child's memory")
	}
	b := newBed(t)
	b.memory = 1 << 30 // the race detector needs some hundred MB for itself
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.hog", nil)
	r := b.next(bench.Finished).Result
	said := r.Error != nil && (strings.Contains(r.Error.Message, "memory") || strings.Contains(r.Error.Message, "failed to allocate")) // the race detector's words
	if r.State != bench.Failed || r.Error.Code != "child_died" || !said {
		t.Errorf("%s %+v, want failed for want of memory", r.State, r.Error)
	}
}

func TestFailedOperationsAreTold(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.flaky", nil)
	r := b.next(bench.Finished).Result
	if r.State != bench.Succeeded || r.Failures == nil || r.Failures.Classes["fault"] == 0 {
		t.Fatalf("%s, failures %+v", r.State, r.Failures)
	}
	if r.Validity.Valid || !strings.HasPrefix(r.Validity.Reasons[0], "operations_failed: ") {
		t.Errorf("validity %+v", r.Validity)
	}
}

// TestCancel shows that a canceled trial runs once and is reported only when its processes
// are gone, and that the next trial does not begin before.
func TestCancel(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	o := b.order("blue", "t1", "odd.served", func(o *bench.Order) { o.Plan.Slices = 500 })
	b.order("blue", "t2", "odd.sleep", nil)
	b.next(bench.Started)
	if err := b.queue.Cancel(t.Context(), "blue", o.Trial, bench.CancelAsked); err != nil {
		t.Fatal(err)
	}
	r := b.next(bench.Finished)
	if r.Trial != "t1" || r.Result.State != bench.Canceled || r.Result.Error.Code != "canceled" {
		t.Fatalf("%s %s %+v", r.Trial, r.Result.State, r.Result.Error)
	}
	if r := b.next(bench.Finished); r.Trial != "t2" || r.Result.State != bench.Succeeded {
		t.Errorf("the next is %s %s %+v", r.Trial, r.Result.State, r.Result.Error)
	}
	select {
	case r := <-b.reports:
		t.Errorf("one report too many: %s of %s", r.Kind, r.Trial)
	case <-time.After(300 * time.Millisecond):
	}
	b.free()
}

func TestCanceledBeforeItsStart(t *testing.T) {
	b := newBed(t)
	b.collect()
	for _, tt := range []struct {
		reason bench.CancelReason
		state  bench.State
		code   string
	}{
		{bench.CancelAsked, bench.Canceled, "canceled"},
		{bench.CancelTimeout, bench.Failed, "run_timed_out"},
		{bench.CancelLost, bench.Lost, "given_up"},
	} {
		trial := "trial-" + string(tt.reason)
		if err := b.queue.Cancel(t.Context(), "blue", trial, tt.reason); err != nil {
			t.Fatal(err)
		}
		b.order("blue", trial, "odd.panic", nil)
	}
	b.work("blue", t.TempDir())
	for range 3 {
		r := b.next(bench.Finished).Result
		if r.Error.Code == "child_died" {
			t.Errorf("%s was started", r.ID)
		}
		if r.ID == "trial-timeout" && (r.State != bench.Failed || r.Error.Code != "run_timed_out") {
			t.Errorf("%s %+v", r.State, r.Error)
		}
	}
}

// TestOneMeasurementPerHost has two workers on one host: the lock lets one measure at a time.
func TestOneMeasurementPerHost(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.work("green", t.TempDir())
	for i := range 3 {
		b.order("blue", fmt.Sprint("b", i), "odd.alone", nil)
		b.order("green", fmt.Sprint("g", i), "odd.alone", nil)
	}
	for range 6 {
		if r := b.next(bench.Finished).Result; r.State != bench.Succeeded {
			t.Errorf("%s on %s: %s %+v", r.ID, r.Host, r.State, r.Error)
		}
	}
}

// TestStop shows what SIGTERM does: the trial is lost, its processes are gone, and nobody
// runs it again.
func TestStop(t *testing.T) {
	b := newBed(t)
	b.collect()
	stop := b.work("blue", t.TempDir())
	o := b.order("blue", "t1", "odd.served", func(o *bench.Order) { o.Plan.Slices = 500 })
	b.next(bench.Started)
	stop()
	b.free()
	r := b.next(bench.Finished).Result
	if r.State != bench.Lost || r.Error.Code != "worker_stopped" {
		t.Errorf("%s %+v", r.State, r.Error)
	}
	if there, err := b.queue.Queued(t.Context(), o); err != nil || there {
		t.Errorf("the order is still queued: %v %v", there, err)
	}
	b.work("blue", t.TempDir())
	b.order("blue", "t2", "odd.sleep", nil)
	if r := b.next(bench.Finished); r.Trial != "t2" {
		t.Errorf("after the restart %s runs", r.Trial)
	}
}

// TestTakenOnce: an order that comes again after it was started is not measured again.
func TestTakenOnce(t *testing.T) {
	b := newBed(t)
	b.collect()
	o := bench.Order{Run: "r", Trial: "t1", Host: "blue", Attempt: 1, Plan: plan(), Case: bench.Case{Kernel: "odd.sleep"}}
	if _, err := b.queue.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	b.order("blue", "t1", "odd.sleep", nil)
	b.order("blue", "t2", "odd.sleep", nil)
	b.work("blue", t.TempDir())
	if r := b.next(bench.Finished); r.Trial != "t2" {
		t.Errorf("%s was measured a second time", r.Trial)
	}
}

// TestOutbox: a result waits on disk until somebody acknowledges it, over a restart too.
func TestOutbox(t *testing.T) {
	b := newBed(t)
	data := t.TempDir()
	stop := b.work("blue", data)
	b.order("blue", "t1", "odd.sleep", nil)
	waiting := func() int {
		files, err := filepath.Glob(filepath.Join(data, "outbox", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	until(t, "the result is on disk", func() bool { return waiting() == 1 })
	stop()
	if waiting() != 1 {
		t.Fatal("the result was dropped though nobody has it")
	}
	b.work("blue", data)
	until(t, "a heartbeat tells of it", func() bool {
		beats, err := b.queue.Beats(t.Context())
		return err == nil && len(beats) == 1 && len(beats[0].Outbox) == 1 && beats[0].Outbox[0] == "t1"
	})
	b.collect()
	if r := b.next(bench.Finished); r.Trial != "t1" || r.Result.State != bench.Succeeded {
		t.Errorf("%s %s", r.Trial, r.Result.State)
	}
	until(t, "the acknowledged result is dropped", func() bool { return waiting() == 0 })
}

// TestOutboxBroken: a result that the disk does not take arrives all the same.
func TestOutboxBroken(t *testing.T) {
	b := newBed(t)
	data := t.TempDir()
	b.work("blue", data)
	box := filepath.Join(data, "outbox")
	if err := os.RemoveAll(box); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(box, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.order("blue", "t1", "odd.sleep", nil)
	until(t, "a heartbeat tells of the result", func() bool {
		beats, err := b.queue.Beats(t.Context())
		return err == nil && len(beats) == 1 && len(beats[0].Outbox) == 1
	})
	b.collect()
	if r := b.next(bench.Finished); r.Trial != "t1" || r.Result.State != bench.Succeeded {
		t.Errorf("%s %s", r.Trial, r.Result.State)
	}
	until(t, "the acknowledged result is dropped", func() bool {
		beats, err := b.queue.Beats(t.Context())
		return err == nil && len(beats) == 1 && len(beats[0].Outbox) == 0
	})
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestPhases(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.sleep", func(o *bench.Order) { o.Plan.Slices, o.Plan.Slice = 10, bench.Duration(100*time.Millisecond) })
	var seen bench.Phase
	until(t, "the trial tells how far it is", func() bool {
		phases, err := b.queue.Phases(t.Context(), []string{"t1"})
		if err != nil {
			t.Fatal(err)
		}
		seen = phases["t1"]
		return seen.Name == "measure" && seen.Slice > 1
	})
	if seen.Fork != 1 || seen.Forks != 1 || seen.Slices != 10 || seen.Percent <= 0 || seen.Percent > 100 || *seen.Value <= 0 {
		t.Errorf("phase %s", show(seen))
	}
}
