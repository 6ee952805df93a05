package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"benchd/worker/bench"
)

// What collectors and workers do to a run, played by hand.

func (s *service) cancel(id string) bench.Run {
	s.t.Helper()
	return read[bench.Run](s.t, s.ask(http.MethodDelete, "/v1/runs/"+id, ""), http.StatusAccepted)
}

func (s *service) report(run bench.Run, i int, kind bench.ReportKind, result *bench.TrialResult) bench.Report {
	t := run.Trials[i]
	return bench.Report{
		Kind: kind, Run: run.ID, Trial: t.ID, Attempt: 1, Host: t.Host, Instance: "test", At: time.Now().UTC(), Snapshot: snapshot(), Result: result,
	}
}

// started tells that a trial was started.
func (s *service) started(run bench.Run, i int) {
	s.t.Helper()
	if err := s.store.RecordStarted(context.Background(), s.report(run, i, bench.Started, nil)); err != nil {
		s.t.Fatal(err)
	}
}

// finish brings every trial of a run to its end.
func (s *service) finish(run bench.Run, state bench.State) {
	s.t.Helper()
	for i := range run.Trials {
		s.started(run, i)
		if ok, err := s.store.RecordFinished(context.Background(), s.report(run, i, bench.Finished, measured(state))); err != nil || !ok {
			s.t.Fatal(ok, err)
		}
	}
}

// measured is what a trial brings, with a figure in every field that can be null.
func measured(state bench.State) *bench.TrialResult {
	f := func(v float64) *float64 { return &v }
	n := func(v int64) *int64 { return &v }
	score := bench.Score{Metric: "throughput", Unit: "call/s", Better: "higher", Value: f(100), Low: f(100), High: f(100), Confidence: 0.95, N: 6}
	usage := bench.Usage{User: 1, System: 0.5, MaxRSS: n(30 << 20)}
	failures := &bench.Failures{Count: 1, Classes: map[string]int64{"timeout": 1}, Sample: "too late"}
	now := time.Now().UTC()
	r := &bench.TrialResult{
		State: state, Attempt: 1, Started: &now, Finished: &now, Score: &score, Metrics: []bench.Score{{Metric: "time", Unit: "us", Better: "lower", Reason: "not known"}},
		Latency: &bench.Latency{Unit: "ns", Count: 6, Min: 1, Mean: 2, Max: 3, Percentiles: map[string]int64{"50": 2, "99.9": 3}, HDR: "HISTFAAA"},
		Forks: []bench.Fork{{
			Samples: []float64{100, 100, 100, 100, 100, 100},
			Slices:  []bench.Slice{{Operations: 10, Elapsed: 100, Client: 50, Server: n(40), System: n(90), GC: 1}, {Operations: 10, Elapsed: 100}},
			Warmup:  bench.Warmup{Slices: 1, Operations: 10, Samples: []float64{90}},
			CPU:     bench.CPU{Client: f(0.7), System: f(0.6), Reason: "there is no server"}, Usage: usage, Server: &usage, Failures: failures,
		}, {Samples: []float64{}, Slices: []bench.Slice{}, Warmup: bench.Warmup{Samples: []float64{}}}},
		Failures: failures, Validity: bench.Validity{Valid: true, Reasons: []string{}},
	}
	if state == bench.Failed {
		r.Score, r.Latency, r.Error = nil, nil, &bench.TrialError{Code: "open_failed", Message: "it did not open"}
	}
	return r
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
