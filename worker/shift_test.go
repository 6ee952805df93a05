package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// together sends one order that carries the trials of the kernels, as the collector sends an
// interleaved run, and those that are carried on their own after it.
func (b *bed) together(kernels []string, change func(*bench.Plan)) {
	b.t.Helper()
	var all []bench.Order
	for i, kernel := range kernels {
		o := bench.Order{
			Run: "run", Trial: fmt.Sprint("t", i), Host: "blue", Attempt: 1, Plan: plan(), Repeat: 1,
			Case: bench.Case{Kernel: kernel, Params: map[string]string{"clients": "1"}},
		}
		o.Plan.Order, o.Plan.Forks = bench.Interleaved, 3
		if change != nil {
			change(&o.Plan)
		}
		all = append(all, o)
	}
	first := all[0]
	first.With = all[1:]
	for _, o := range append([]bench.Order{first}, all[1:]...) {
		if err := b.queue.Enqueue(b.t.Context(), o); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestInterleaved(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.together([]string{"odd.sleep", "odd.refuses", "odd.served"}, nil)
	type turn struct {
		trial string
		began time.Time
	}
	var turns []turn
	for range 3 {
		r := b.next(bench.Finished)
		want := bench.Succeeded
		if r.Trial == "t1" {
			want = bench.Failed // and the others go on
		}
		if r.Result.State != want {
			t.Errorf("%s is %s %+v", r.Trial, r.Result.State, r.Result.Error)
		}
		for _, f := range r.Result.Forks {
			turns = append(turns, turn{r.Trial, f.Began})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return a.began.Compare(b.began) })
	got := ""
	for _, t := range turns {
		got += t.trial + " "
	}
	if want := "t0 t2 t0 t2 t0 t2 "; got != want {
		t.Errorf("forks were measured in the order %s, want %s", got, want)
	}
	b.free()
	select {
	case r := <-b.reports:
		t.Errorf("a trial that was carried was measured again: %s %s", r.Trial, r.Kind)
	case <-time.After(2 * time.Second):
	}
}

func TestInterleavedCanceled(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.together([]string{"odd.sleep", "odd.sleep", "odd.served"}, func(p *bench.Plan) { p.Slices = 300 })
	b.next(bench.Started)
	for _, trial := range []string{"t0", "t1", "t2"} {
		if err := b.queue.Cancel(t.Context(), "blue", trial, bench.CancelAsked); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if r := b.next(bench.Finished); r.Result.State != bench.Canceled {
			t.Errorf("%s is %s %+v, want canceled", r.Trial, r.Result.State, r.Result.Error)
		}
	}
	b.free()
}

func TestWarmupAuto(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.lazy", func(o *bench.Order) {
		o.Plan.Warmup, o.Plan.Slices, o.Plan.Slice = bench.WarmupAuto, 40, bench.Duration(40*time.Millisecond)
	})
	r := b.next(bench.Finished).Result
	if r.State != bench.Succeeded {
		t.Fatalf("%s %+v", r.State, r.Error)
	}
	f := r.Forks[0]
	if f.Steady == nil || *f.Steady == bench.Flat {
		t.Fatalf("a kernel that is slow at first is classed %v", f.Steady)
	}
	if n := len(f.Samples) + len(f.Warmup.Samples); n != 40 || len(f.Slices) != len(f.Samples) || f.Warmup.Slices != len(f.Warmup.Samples) {
		t.Errorf("%d samples count and %d are apart, of 40 slices: something was dropped", len(f.Samples), len(f.Warmup.Samples))
	}
	if r.Steady.Class == nil || *r.Steady.Class != *f.Steady {
		t.Errorf("the trial is %+v, its one fork %s", r.Steady, *f.Steady)
	}
	if *f.Steady != bench.WarmedUp { // a loaded machine may have its moods, which the class then tells
		t.Skipf("the series was %s: warm-up %v, then %v", *f.Steady, f.Warmup.Samples, f.Samples)
	}
	if f.Warmup.Operations < 20 || f.Warmup.Operations > 120 || *r.Steady.Operations != float64(f.Warmup.Operations) {
		t.Errorf("steady after %d operations, the first 40 are slow; the trial says %v", f.Warmup.Operations, *r.Steady.Operations)
	}
	if w := r.WithWarmup; w == nil || w.Score.N != 40 || w.Latency.Count <= r.Latency.Count || *w.Score.Value > *r.Score.Value*1.2 {
		t.Errorf("with warm-up: %+v; without: %s", w, show(r.Score))
	}
}

func TestTargetError(t *testing.T) {
	rows := []struct {
		name, kernel string
		target       float64
		limit        time.Duration
		met          bool
		says         string
	}{
		{"reached at once", "odd.sleep", 0.5, 20 * time.Second, true, "reached after 1 fork"},
		{"never", "odd.moody", 0.0001, 6 * time.Second, false, "the limit of 6s"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b := newBed(t)
			b.collect()
			b.work("blue", t.TempDir())
			b.order("blue", "t1", row.kernel, func(o *bench.Order) {
				o.Plan.Forks, o.Plan.TargetError, o.Plan.Limit = 1, new(row.target), bench.Duration(row.limit)
			})
			r := b.next(bench.Finished).Result
			p := r.Precision
			if r.State != bench.Succeeded || p == nil || p.Met != row.met || p.Target != row.target || !strings.Contains(p.Reason, row.says) {
				t.Fatalf("%s %+v, precision %+v", r.State, r.Error, p)
			}
			if !row.met && len(r.Forks) < 2 {
				t.Errorf("%d forks; there was time for more", len(r.Forks))
			}
			if doubted := slices.ContainsFunc(r.Validity.Reasons, func(s string) bool { return strings.HasPrefix(s, "imprecise: ") }); doubted == row.met {
				t.Errorf("met %v, doubts %q", row.met, r.Validity.Reasons)
			}
		})
	}
}

func TestPlacement(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux places processes")
	}
	b := newBed(t)
	b.limits.CPUs = "0"
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.served", func(o *bench.Order) { o.Plan.Pin, o.Plan.Awake = "0/0", true })
	r := b.next(bench.Finished).Result
	if r.State != bench.Succeeded {
		t.Fatalf("%s %+v", r.State, r.Error)
	}
	if p := r.Placement; p.Pin != "0/0" || !p.Awake || !slices.Equal(p.Client, []int{0}) || !slices.Equal(p.Server, []int{0}) {
		t.Errorf("placement %+v", p)
	}
	b.order("blue", "t2", "odd.sleep", func(o *bench.Order) { o.Plan.Pin = "7" })
	if r := b.next(bench.Finished).Result; r.State != bench.Failed || !strings.Contains(r.Error.Message, "names CPU 7; the host lets processes run on CPU 0") {
		t.Errorf("%s %+v", r.State, r.Error)
	}
	b.free()
}

// TestFallsAsleep: a figure of CPUs that did not stay awake is not passed off as another.
func TestFallsAsleep(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps CPUs awake")
	}
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	// Killed, it still needs a CPU to end on, which on a busy machine it gets last of all: that
	// may be some forks later.
	b.order("blue", "t1", "odd.sleep", func(o *bench.Order) { o.Plan.Awake, o.Plan.Forks = true, 20 })
	late := time.Now().Add(30 * time.Second)
	for !killSpinner(t) {
		if time.Now().After(late) {
			t.Fatal("no spinner was seen")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if r := b.next(bench.Finished).Result; r.State != bench.Failed || r.Error.Code != "fell_asleep" {
		t.Errorf("%s %+v", r.State, r.Error)
	}
	b.free()
}

// killSpinner kills a child of this process whose policy is that of idle work, once there is
// another child, which is measured: before that the spinner has not told yet that it is ready.
func killSpinner(t *testing.T) bool {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var spinner *os.Process
	measured := false
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// proc(5): after the name in brackets field 3 is the state, 4 the parent, 41 the policy.
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 39 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		if fields[38] != "5" {
			measured = true
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		if spinner, err = os.FindProcess(pid); err != nil {
			return false
		}
	}
	return spinner != nil && measured && spinner.Kill() == nil
}

func TestRate(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	at := func(trial, rate string) *bench.TrialResult {
		b.order("blue", trial, "odd.sleep", func(o *bench.Order) {
			o.Case.Params["rate"], o.Plan.Slice = rate, bench.Duration(100*time.Millisecond)
		})
		r := b.next(bench.Finished).Result
		if r.State != bench.Succeeded || r.ServiceTime == nil || r.StartLateness == nil || len(r.Metrics) != 0 {
			t.Fatalf("%s %+v, service time %+v, start lateness %+v, metrics %+v", r.State, r.Error, r.ServiceTime, r.StartLateness, r.Metrics)
		}
		if r.Latency.Count != r.ServiceTime.Count || r.Latency.Mean < r.ServiceTime.Mean {
			t.Errorf("latency %+v is less than the service time %+v", r.Latency, r.ServiceTime)
		}
		return r
	}
	missed := func(r *bench.TrialResult) bool {
		return slices.ContainsFunc(r.Validity.Reasons, func(s string) bool { return strings.HasPrefix(s, "rate_missed: ") })
	}
	if r := at("t1", "100000"); !missed(r) || r.Validity.Valid || r.Latency.Max < int64(100*time.Millisecond) {
		t.Errorf("a sleeper of a millisecond at 100,000 a second: latency up to %s, doubts %q", time.Duration(r.Latency.Max), r.Validity.Reasons)
	}
	if r := at("t2", "20"); missed(r) || *r.Score.Value < 15 || *r.Score.Value > 25 {
		t.Errorf("a sleeper of a millisecond at 20 a second: score %s, doubts %q", show(r.Score), r.Validity.Reasons)
	}
}
