package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// TestApart: a case in slices of time, in slices of operations and in a ramp has a history, a
// place on a leaderboard and a noise for each of the three, and they are not compared.
func TestApart(t *testing.T) {
	s := known(t)
	planned := func(plan string) string { return strings.Replace(onBlue, `"labels"`, `"plan":`+plan+`,"labels"`, 1) }
	var runs []bench.Run
	for i, plan := range []string{`{}`, `{"operations":200}`, `{"ramp":1,"warmup":"1s"}`, `{"operations":200,"slice":"1m"}`} {
		runs = append(runs, s.score(planned(plan), float64(100*(i+1)), 50))
	}
	h := read[bench.History](t, s.ask(http.MethodGet, "/v1/history?kernel=scimark.fft", ""), http.StatusOK)
	var got []string
	for _, b := range h.Series {
		for _, p := range b.Points {
			got = append(got, fmt.Sprintf("%d %d %s %v", b.Operations, b.Ramp, p.Slice, p.Value))
		}
	}
	if d := cmp.Diff([]string{"200 0 0s 200", "200 0 0s 400", "0 1 200ms 300", "0 0 200ms 100"}, got); d != "" {
		t.Errorf("histories: %s", d)
	}
	l := read[bench.Leaderboard](t, s.ask(http.MethodGet, "/v1/leaderboard?kernel=scimark.fft", ""), http.StatusOK)
	got = nil
	for _, b := range l.Boards {
		got = append(got, fmt.Sprintf("%d %d %d %v", b.Operations, b.Ramp, len(b.Rows), b.Rows[0].Value))
	}
	if d := cmp.Diff([]string{"0 0 1 100", "0 1 1 300", "200 0 1 400"}, got); d != "" {
		t.Errorf("boards: %s", d)
	}
	for head, facts := range []string{"", "plan.operations", "plan.ramp"} {
		c := read[bench.Comparison](t, s.ask(http.MethodGet, "/v1/compare?base="+runs[0].ID+"&head="+runs[head].ID, ""), http.StatusOK)
		differs := ""
		for _, d := range c.Cases[0].Differs {
			if d.Excluded && d.Fact != "plan.warmup" {
				differs += d.Fact
			}
		}
		if differs != facts {
			t.Errorf("against run %d: %q keeps them apart, not %q", head, differs, facts)
		}
	}
}

// TestRampResult: a ramp's steps reach the client as the document says, no composite is made of
// ramps, and none is set beside published figures.
func TestRampResult(t *testing.T) {
	s := known(t)
	run := s.post(strings.Replace(onBlue, `"labels"`, `"plan":{"ramp":1,"forks":1},"labels"`, 1))
	if run.Spec.Plan.Ramp != 1 || run.Spec.Plan.Warmup != 0 {
		t.Errorf("plan %+v", run.Spec.Plan)
	}
	for i := range run.Trials {
		r := measured(bench.Succeeded)
		r.Score.Unit = "Mflop/s"
		r.Series = &bench.Series{Kind: bench.Ramp, Scored: 1, Reason: "one step tells no rise", Steps: []bench.Step{
			{Lanes: 1, Throughput: *r.Score, CPU: r.Forks[0].CPU, Latency: &bench.StepLatency{Count: 6, P50: 2, P99: 3, Max: 3}},
			{Lanes: 2, Throughput: bench.Score{Metric: "throughput", Unit: "Mflop/s", Better: "higher", Reason: "not known"}, Failures: 3},
		}}
		if ok, err := s.store.RecordFinished(context.Background(), s.report(run, i, bench.Finished, r)); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	result := read[bench.Result](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results", ""), http.StatusOK)
	series := result.Trials[0].Series
	if series == nil || len(series.Steps) != 2 || series.Stops != nil || series.Steps[0].Latency.P99 != 3 || series.Steps[1].Throughput.Value != nil {
		t.Errorf("series %+v", series)
	}
	if len(result.Composites) != 0 || result.Trials[0].Standing != nil {
		t.Errorf("composites %+v, standing %+v", result.Composites, result.Trials[0].Standing)
	}
}
