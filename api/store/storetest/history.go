package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

// A score is a trial that succeeded, as these tests make it.
type score struct {
	host, kernel string
	params       kernels.Params
	value        float64
	doubt        bool
	pin          string
	better       string
	repeat       int // of so many in the run; 0 for 1 of 1
	repeats      int
	fingerprint  string
	labels       map[string]string
	forks        [][]float64
	at           time.Time
	slice        bench.Duration // 0 for the default plan's
	operations   int            // of the plan
	ramp         int            // of the plan
	n            int            // samples; 0 for 6
}

// fft is the case of most scores here.
func fft(value float64) score {
	return score{host: "blue", kernel: "scimark.fft", params: kernels.Params{"size": "small", "threads": "1"}, value: value, better: "higher", fingerprint: "f"}
}

// keep stores a run of one trial with a score, and gives the run's id.
func keep(t tester, s *store.Store, c score) string {
	t.Helper()
	run := NewRun(c.host, 1)
	tr := &run.Trials[0]
	tr.Kernel, tr.Params, tr.Repeat = c.kernel, c.params, max(1, c.repeat)
	run.Spec.Labels, run.Spec.Repeat = c.labels, max(1, c.repeats)
	if c.slice > 0 {
		run.Spec.Plan.Slice = c.slice
	}
	run.Spec.Plan.Operations, run.Spec.Plan.Ramp = c.operations, c.ramp
	createRun(t, s, run)
	r := report(run, 0, 1)
	r.Kind, r.Snapshot = bench.Finished, bench.HostSnapshot{Fingerprint: c.fingerprint}
	low := c.value - 1
	if c.n == 0 {
		c.n = 6
	}
	r.Result = &bench.TrialResult{
		State: bench.Succeeded, Attempt: 1, Placement: bench.Placement{Pin: c.pin},
		Score:    &bench.Score{Metric: "throughput", Unit: "op/s", Better: c.better, Value: &c.value, Low: &low, Confidence: 0.95, N: c.n},
		Validity: bench.Validity{Valid: !c.doubt},
	}
	if !c.at.IsZero() {
		r.Result.Finished = &c.at
	}
	for _, f := range c.forks {
		r.Result.Forks = append(r.Result.Forks, bench.Fork{Samples: f})
	}
	if ok, err := s.RecordFinished(context.Background(), r); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return run.ID
}

// testHistory follows cases over several runs: what belongs to one series and what does not.
func testHistory(t *testing.T, s *store.Store) {
	with := func(change func(*score)) score {
		c := fft(1)
		change(&c)
		return c
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ids []string
	for i, value := range []float64{100, 101, 102} {
		ids = append(ids, keep(t, s, with(func(c *score) {
			c.value, c.at, c.labels = value, begin.Add(time.Duration(i)*time.Hour), map[string]string{"commit": fmt.Sprint("c", i), "branch": "main"}
		})))
	}
	keep(t, s, with(func(c *score) { c.pin = bench.PinOne }))
	keep(t, s, with(func(c *score) { c.host = "green" }))
	keep(t, s, with(func(c *score) { c.params = kernels.Params{"size": "large", "threads": "1"} }))
	keep(t, s, with(func(c *score) { c.kernel, c.doubt = "soap.echo", true }))
	keep(t, s, with(func(c *score) { c.kernel = "scimarkfft" }))
	for _, way := range [][2]int{{200, 0}, {100, 0}, {0, 1}, {0, 2}, {100, 2}} {
		keep(t, s, with(func(c *score) {
			c.operations, c.ramp, c.kernel, c.labels = way[0], way[1], "soap.echo", map[string]string{"way": "own"}
		}))
	}
	failed := create(t, s, "blue", 1)
	finish(t, s, failed, 0, 1, bench.Failed)
	for _, row := range []struct {
		name   string
		filter store.SeriesFilter
		series int
	}{
		{"all", store.SeriesFilter{Limit: 99}, 11},
		{"kernel", store.SeriesFilter{Kernel: "scimark.fft", Limit: 99}, 4},
		{"family", store.SeriesFilter{Kernel: "scimark", Limit: 99}, 4},
		{"host", store.SeriesFilter{Host: "green", Limit: 99}, 1},
		{"parameter", store.SeriesFilter{Params: map[string]string{"size": "large"}, Limit: 99}, 1},
		{"parameter that no case has", store.SeriesFilter{Params: map[string]string{"colour": "red"}, Limit: 99}, 0},
		{"label", store.SeriesFilter{Labels: map[string]string{"branch": "main"}, Limit: 99}, 1},
		{"each number of operations and each ramp", store.SeriesFilter{Labels: map[string]string{"way": "own"}, Limit: 99}, 5},
		{"labels that no run has together", store.SeriesFilter{Labels: map[string]string{"branch": "main", "commit": "c9"}, Limit: 99}, 0},
		{"cut", store.SeriesFilter{Limit: 2}, 2},
	} {
		got, more, err := s.History(t.Context(), row.filter)
		if err != nil || len(got) != row.series || more != (row.name == "cut") {
			t.Errorf("%s: %d series, more %v, error %v; want %d", row.name, len(got), more, err, row.series)
		}
	}
	got, _, err := s.History(t.Context(), store.SeriesFilter{Labels: map[string]string{"branch": "main"}, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	ways, _, err := s.History(t.Context(), store.SeriesFilter{Labels: map[string]string{"way": "own"}, Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	var told [][3]int64
	for _, w := range ways { // the one measured last comes first
		told = append(told, [3]int64{int64(w.Operations), int64(w.Ramp), int64(w.Points[0].Slice)})
	}
	slice := int64(bench.DefaultPlan().Slice)
	if diff := cmp.Diff([][3]int64{{100, 2, 0}, {0, 2, slice}, {0, 1, slice}, {100, 0, 0}, {200, 0, 0}}, told); diff != "" {
		t.Errorf("operations, ramp and slice (-want +got):\n%s", diff)
	}
	want := []bench.HistorySeries{{
		Host: "blue", Kernel: "scimark.fft", Params: kernels.Params{"size": "small", "threads": "1"}, Pin: "free", Metric: "throughput", Unit: "op/s", Better: "higher", Total: 3,
	}}
	for i, id := range ids {
		low := 99 + float64(i)
		want[0].Points = append(want[0].Points, bench.Point{
			Run: id, Repeat: 1, Finished: begin.Add(time.Duration(i) * time.Hour), Value: 100 + float64(i), Low: &low, Confidence: 0.95, N: 6, Valid: true,
			Fingerprint: "f", Slice: bench.DefaultPlan().Slice, Warmup: bench.DefaultPlan().Warmup, Commit: fmt.Sprint("c", i),
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// testHistoryWindow lets a series grow past what is read of it: the first point stays for
// hundreds of new ones.
func testHistoryWindow(t *testing.T, s *store.Store) {
	begin := time.Unix(1e9, 0)
	first := make(map[float64]int)
	for i := range 1700 {
		c := fft(float64(i))
		c.at = begin.Add(time.Duration(i) * time.Second)
		keep(t, s, c)
		if i < 1400 || i%50 > 1 {
			continue
		}
		got, _, err := s.History(t.Context(), store.SeriesFilter{Limit: 1})
		if err != nil || len(got) != 1 || got[0].Total != i+1 {
			t.Fatalf("after %d: %+v, error %v", i, got, err)
		}
		p := got[0].Points
		if p[len(p)-1].Value != float64(i) || len(p) > 1500 || len(p) < 1000 {
			t.Fatalf("after %d: %d points, the last %v", i, len(p), p[len(p)-1].Value)
		}
		first[p[0].Value]++
	}
	if len(first) != 2 || first[0] == 0 || first[500] == 0 {
		t.Errorf("first points and how often: %v", first)
	}
}

// testLeaders asks for the best of each series: without doubts before with, and by the unit's
// direction.
func testLeaders(t *testing.T, s *store.Store) {
	for _, value := range []float64{100, 130, 120} {
		keep(t, s, fft(value))
	}
	doubtful := fft(500)
	doubtful.doubt = true
	keep(t, s, doubtful)
	doubtful.host = "green"
	keep(t, s, doubtful)
	for _, value := range []float64{7, 5, 6} {
		c := fft(value)
		c.kernel, c.better = "page.load", "lower"
		keep(t, s, c)
	}
	got, more, err := s.Leaders(t.Context(), store.SeriesFilter{Limit: 9})
	if err != nil || more {
		t.Fatal(more, err)
	}
	values := make(map[string]float64)
	for _, b := range got {
		values[b.Kernel+" on "+b.Host] = b.Points[0].Value
	}
	want := map[string]float64{"scimark.fft on blue": 130, "scimark.fft on green": 500, "page.load on blue": 5}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("best (-want +got):\n%s", diff)
	}
	if got, more, err := s.Leaders(t.Context(), store.SeriesFilter{Limit: 1}); err != nil || !more || len(got) != 1 {
		t.Errorf("cut: %d, more %v, error %v", len(got), more, err)
	}
}

// testPast asks for scores by which noise can be told: of calibrations where there are any,
// on a host that was as it is.
func testPast(t *testing.T, s *store.Store) {
	key := store.PastKey{Host: "blue", Case: bench.Case{Kernel: "scimark.fft", Params: kernels.Params{"size": "small", "threads": "1"}}, Metric: "throughput", Unit: "op/s", Better: "higher", Fingerprint: "f", Slice: bench.DefaultPlan().Slice, Warmup: bench.DefaultPlan().Warmup, Samples: 6, Least: 3}
	look := func(want bool, values ...float64) []store.PastScore {
		t.Helper()
		got, calibrated, err := s.Past(t.Context(), key)
		var have []float64
		for _, p := range got {
			have = append(have, p.Value)
		}
		if diff := cmp.Diff(values, have, cmpopts.EquateEmpty()); diff != "" || err != nil || calibrated != want {
			t.Errorf("calibrated %v, error %v, past (-want +got):\n%s", calibrated, err, diff)
		}
		return got
	}
	look(false)
	c := fft(100)
	c.forks = [][]float64{{3, 1, 2}, {1, 2, 3, 4}, {}}
	first := keep(t, s, c)
	second := keep(t, s, fft(101))
	for _, change := range []func(*score){
		func(c *score) { c.fingerprint = "g" }, func(c *score) { c.pin = bench.PinOne },
		func(c *score) { c.host = "green" }, func(c *score) { c.params = kernels.Params{"size": "large"} },
		func(c *score) { c.slice = bench.Duration(10 * time.Millisecond) }, func(c *score) { c.n = 5 },
		func(c *score) { c.operations = 200 }, func(c *score) { c.ramp = 1 },
	} {
		other := fft(999)
		change(&other)
		keep(t, s, other)
	}
	got := look(false, 101, 100)
	if diff := cmp.Diff(store.PastScore{Run: first, Repeat: 1, Value: 100, Forks: []float64{2, 2.5}}, got[1]); diff != "" {
		t.Errorf("past score (-want +got):\n%s", diff)
	}
	key.Except = []string{second, "none"}
	look(false, 100)
	key.Operations, key.Slice = 200, 0 // the length of a slice of operations is nobody's wish
	look(false, 999)
	key.Operations, key.Slice = 0, bench.DefaultPlan().Slice
	few := [][]float64{{200, 100}, {201, 200, 100}}
	for i := range 3 {
		c := fft(float64(200 + i))
		c.repeat, c.repeats = i+1, 3
		keep(t, s, c)
		if i < 2 {
			look(false, few[i]...) // too few repeats to tell by
		}
	}
	if got := look(true, 202, 201, 200); got[0].Repeat != 3 {
		t.Errorf("%+v", got[0])
	}
}
