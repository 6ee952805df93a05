package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/worker/bench"
)

// measured makes a result of some size.
func measured(tr bench.Trial) *bench.TrialResult {
	value, low, samples := 21034.25, 20990.125, make([]float64, 500)
	for i := range samples {
		samples[i] = 20000 + float64(i*i%997)/8
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	return &bench.TrialResult{
		ID: tr.ID, Host: tr.Host, Kernel: tr.Kernel, Params: tr.Params, Repeat: tr.Repeat, State: bench.Succeeded, Attempt: 1, Started: &at, Finished: &at,
		Score:   &bench.Score{Metric: "throughput", Unit: "call/s", Better: "higher", Value: &value, Low: &low, Confidence: 0.95, N: 500, Reason: "no upper bound"},
		Metrics: []bench.Score{{Metric: "time_per_call", Unit: "us", Better: "lower"}},
		Latency: &bench.Latency{Unit: "ns", Count: 3, Percentiles: map[string]int64{"50": 46900}, HDR: strings.Repeat("HISTFAAA", 50)},
		Forks: []bench.Fork{{
			Samples: samples, Slices: []bench.Slice{{Operations: 10, Elapsed: 1e9}},
			Warmup: bench.Warmup{Slices: 1, Samples: []float64{1}},
		}},
		Validity: bench.Validity{Valid: true, Reasons: []string{}},
	}
}

// testResult ends a run's trials as measured, failed and canceled, and reads its result.
func testResult(t *testing.T, s *store.Store) {
	run := create(t, s, "blue", 3)
	r := report(run, 0, 1)
	r.Kind, r.Result, r.Snapshot = bench.Finished, measured(run.Trials[0]), bench.HostSnapshot{Fingerprint: "5f0c", Facts: bench.Facts{CPUModel: "x", Threads: 2}}
	want := *r.Result
	if ok, err := s.RecordFinished(t.Context(), r); !ok || err != nil {
		t.Fatal(ok, err)
	}
	finish(t, s, run, 1, 1, bench.Failed)
	if _, err := s.CancelRun(t.Context(), run.ID, bench.CancelAsked); err != nil {
		t.Fatal(err)
	}
	got, err := s.Result(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Trials[0]); diff != "" {
		t.Errorf("measured trial (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bench.HostSnapshot{"blue": r.Snapshot}, got.Hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	ended := read(t, s, run.ID)
	if got.State != bench.Canceled || got.Schema != bench.Schema || len(got.Trials) != 3 || !got.Finished.Equal(*ended.Finished) {
		t.Errorf("result %s, schema %d, %d trials", got.State, got.Schema, len(got.Trials))
	}
	last := got.Trials[2]
	if last.State != bench.Canceled || last.Score != nil || last.Error == nil || last.Metrics == nil || last.Forks == nil || last.Validity.Valid || len(last.Validity.Reasons) == 0 {
		t.Errorf("trial that was never measured: %+v", last)
	}
	if diff := cmp.Diff(run.Trials[2].Params, last.Params); diff != "" {
		t.Errorf("its parameters (-want +got):\n%s", diff)
	}
}

func testNotFinished(t *testing.T, s *store.Store) {
	run := create(t, s, "blue", 2)
	for _, step := range []func(){
		func() {},
		func() { start(t, s, run, 0, 1) },
		func() { finish(t, s, run, 0, 1, bench.Succeeded) },
		func() { start(t, s, run, 1, 1) },
		func() {
			if _, err := s.CancelRun(t.Context(), run.ID, bench.CancelAsked); err != nil {
				t.Fatal(err)
			}
		},
	} {
		step()
		_, err := s.Result(t.Context(), run.ID)
		wantError(t, err, bench.Conflict, "not_finished")
	}
	finish(t, s, run, 1, 1, bench.Canceled)
	if _, err := s.Result(t.Context(), run.ID); err != nil {
		t.Error(err)
	}
}

func testHosts(t *testing.T, s *store.Store) {
	blue := bench.Host{Name: "blue", Live: true, Labels: map[string]string{"zone": "a"}, Limits: bench.DefaultLimits(4), Version: "1", LastSeen: time.Unix(1e9, 0).UTC()}
	green := bench.Host{Name: "green", Snapshot: bench.HostSnapshot{Fingerprint: "f", Unknown: map[string]string{"turbo": "no such file"}}}
	if hosts, err := s.Hosts(t.Context()); err != nil || hosts == nil || len(hosts) != 0 {
		t.Errorf("an empty store has hosts %v, error %v", hosts, err)
	}
	for _, h := range []bench.Host{green, {Name: "blue"}, blue} {
		if err := s.SaveHost(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	hosts, err := s.Hosts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bench.Host{blue, green}, hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if got, err := s.Host(t.Context(), "green"); err != nil || got.Snapshot.Fingerprint != "f" {
		t.Errorf("host %+v, error %v", got, err)
	}
}

func testEpoch(t *testing.T, s *store.Store) {
	for _, want := range []string{"", "first", "second"} {
		if want != "" {
			if err := s.SetEpoch(t.Context(), want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Epoch(t.Context()); err != nil || got != want {
			t.Errorf("epoch %q, error %v, want %q", got, err, want)
		}
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// testWatch checks for each kind of change that it wakes the watcher of its run and of all
// runs, and only then, and that the version grows with it.
func testWatch(t *testing.T, s *store.Store) {
	run, other := create(t, s, "", 2), create(t, s, "", 1)
	host := newHost()
	mine, stopMine := s.Watch(run.ID)
	defer stopMine()
	others, stopOthers := s.Watch(other.ID)
	defer stopOthers()
	version, err := s.Version(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		changes bool
		do      func() error
	}{
		{"reason", true, func() error { return s.SetReason(t.Context(), run.ID, "why") }},
		{"same reason", false, func() error { return s.SetReason(t.Context(), run.ID, "why") }},
		{"host", false, func() error { return s.SaveHost(t.Context(), bench.Host{Name: host}) }},
		{"assign", true, func() error { return s.Assign(t.Context(), run.ID, host) }},
		{"start", true, func() error { start(t, s, run, 0, 1); return nil }},
		{"same start", false, func() error { start(t, s, run, 0, 1); return nil }},
		{"finish", true, func() error { finish(t, s, run, 0, 1, bench.Succeeded); return nil }},
		{"same finish", false, func() error { finish(t, s, run, 0, 1, bench.Succeeded); return nil }},
		{"cancel", true, func() error { _, err := s.CancelRun(t.Context(), run.ID, bench.CancelAsked); return err }},
	} {
		all := s.Changes()
		if err := row.do(); err != nil {
			t.Fatal(row.name, err)
		}
		now, err := s.Version(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if woken, anyWoken := ready(mine), ready(all); woken != row.changes || anyWoken != row.changes || (now > version) != row.changes {
			t.Errorf("%s: run's watcher woken %v, all's %v, version %d after %d; want a change: %v", row.name, woken, anyWoken, now, version, row.changes)
		}
		version = now
	}
	if ready(others) {
		t.Error("the watcher of another run was woken")
	}
	all := s.Changes()
	create(t, s, "blue", 1)
	if !ready(all) {
		t.Error("a new run woke nobody")
	}
}

// ready tells whether a channel has something to receive now.
func ready(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func testCounts(t *testing.T, s *store.Store) {
	done, running := create(t, s, "blue", 2), create(t, s, "blue", 3)
	create(t, s, "blue", 4)
	finish(t, s, done, 0, 1, bench.Succeeded)
	finish(t, s, done, 1, 1, bench.Failed)
	start(t, s, running, 0, 1)
	runs, trials, err := s.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := func(counts ...int64) map[bench.State]int64 {
		m := make(map[bench.State]int64)
		for i, state := range bench.States() {
			m[state] = counts[i]
		}
		return m
	}
	if diff := cmp.Diff(want(1, 1, 0, 0, 1, 0, 0), runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want(6, 1, 0, 1, 1, 0, 0), trials); diff != "" {
		t.Errorf("trials (-want +got):\n%s", diff)
	}
}
