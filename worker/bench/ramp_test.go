package bench_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/worker/bench"
)

// ramped resolves a request for kernels with lanes and a rate, and with neither.
func ramped(body string) (bench.Spec, error) {
	spec, present, err := bench.ParseSpec([]byte(body))
	if err != nil {
		return spec, err
	}
	whole := func(name string, high int64) kernels.Param {
		return kernels.Param{Name: name, Kind: kernels.Int, Default: "1", Max: high}
	}
	none := whole("rate", 1e6)
	none.Default = "0"
	c := bench.NewCatalog([]kernels.Family{{Name: "call", Kernels: []kernels.Kernel{
		described{kernels.Info{Name: "call.echo", Lanes: "clients", Rate: "rate", Params: []kernels.Param{whole("clients", 4096), none}}},
		described{kernels.Info{Name: "call.alone", Params: []kernels.Param{}}},
	}}})
	spec, _, err = c.Resolve(spec, present, bench.DefaultLimits(4))
	return spec, err
}

// TestRampDefaults: a ramp has no target and no warm-up that the samples end, unless they are
// asked for, and the filled request says so and can be posted again.
func TestRampDefaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		warmup     string
		operations int
	}{
		{"nothing said of the warm-up", `{"cases":[{"kernel":"call.echo","params":{"clients":8}}],"plan":{"ramp":2}}`, "0s", 0},
		{"a fixed warm-up", `{"cases":[{"kernel":"call.echo"}],"plan":{"ramp":1,"warmup":"1s","operations":200}}`, "1s", 200},
		{"no ramp", `{"cases":[{"kernel":"call.echo"}],"plan":{"operations":200}}`, "auto", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, err := ramped(tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if p := spec.Plan; p.Warmup.String() != tt.warmup || p.Operations != tt.operations || p.TargetError != nil {
				t.Errorf("warm-up %s, %d operations, target %v", p.Warmup, p.Operations, p.TargetError)
			}
			text, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			again, err := ramped(string(text))
			if d := cmp.Diff(spec, again); err != nil || d != "" {
				t.Errorf("posted again it is another request: %v %s", err, d)
			}
		})
	}
}

func TestRampRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, code, pointer, says string }{
		{"operations below none", `{"cases":[{"kernel":"call.echo"}],"plan":{"operations":-1}}`, "out_of_range", "/plan/operations", "from 0 to 10000000"},
		{"operations without end", `{"cases":[{"kernel":"call.echo"}],"plan":{"operations":10000001}}`, "out_of_range", "/plan/operations", "from 0 to 10000000"},
		{"half an operation", `{"cases":[{"kernel":"call.echo"}],"plan":{"operations":1.5}}`, "wrong_type", "/plan/operations", "whole number"},
		{"a ramp in words", `{"cases":[{"kernel":"call.echo"}],"plan":{"ramp":"1"}}`, "wrong_type", "/plan/ramp", "whole number"},
		{"a ramp down", `{"cases":[{"kernel":"call.echo"}],"plan":{"ramp":-1}}`, "out_of_range", "/plan/ramp", "from 0 to 10000"},
		{"operations at a rate", `{"cases":[{"kernel":"call.echo","params":{"rate":[0,100]}}],"plan":{"operations":200}}`, "operations_at_rate", "/plan/operations", "clients=1 rate=100 has a rate of 100"},
		{"a case's own operations at a rate", `{"cases":[{"kernel":"call.echo","params":{"rate":100},"operations":5}]}`, "operations_at_rate", "/plan/operations", "leave one of the two out"},
		{"a ramp at a rate", `{"cases":[{"kernel":"call.echo","params":{"rate":100}}],"plan":{"ramp":1}}`, "ramp_at_rate", "/plan/ramp", "leave one of the two out"},
		{"a ramp of one lane", `{"cases":[{"kernel":"call"}],"plan":{"ramp":1}}`, "ramp_without_lanes", "/plan/ramp", "call.alone has one lane"},
		{"a ramp that warms up by its samples", `{"cases":[{"kernel":"call.echo"}],"plan":{"ramp":1,"warmup":"auto"}}`, "ramp_warmup", "/plan/warmup", "must be a time"},
		{"a ramp with a target", `{"cases":[{"kernel":"call.echo"}],"plan":{"ramp":1,"target_error":0.02}}`, "ramp_target", "/plan/target_error", "must be null"},
		{"a ramp that cannot end in time", `{"cases":[{"kernel":"call.echo","params":{"clients":[1,200]}}],"plan":{"ramp":1,"forks":1,"slices":10}}`, "plan_over_limit", "/plan/limit", "200 steps of call.echo clients=200 rate=0"},
		{"a warm-up that cannot end in time", `{"cases":[{"kernel":"call.echo"}],"plan":{"operations":1,"warmup":"2m"}}`, "plan_over_limit", "/plan/limit", "without any of their slices of operations"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ramped(tt.body)
			e := bench.AsError(err)
			if e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.says) || len(e.Fields) != 1 || e.Fields[0].Pointer != tt.pointer {
				t.Errorf("%+v, want %s at %s with %q", e, tt.code, tt.pointer, tt.says)
			}
		})
	}
	// The time of slices of operations is nobody's to know: only the limit of the trial ends them.
	if _, err := ramped(`{"cases":[{"kernel":"call.echo"}],"plan":{"operations":10000000,"slices":1000,"slice":"10m","warmup":"0s"}}`); err != nil {
		t.Error(err)
	}
}

// TestSteps: a ramp begins with its own number of lanes, adds no more than that in a step, and
// ends with all.
func TestSteps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := bench.Plan{Ramp: rapid.IntRange(0, 50).Draw(t, "ramp")}
		lanes := rapid.IntRange(1, 300).Draw(t, "lanes")
		steps, before := p.Steps(lanes), 0
		for k := 1; k <= steps; k++ {
			now := p.LanesAt(k, lanes)
			if now <= before || p.Ramp > 0 && now-before > p.Ramp || k < steps && now != k*p.Ramp {
				t.Fatalf("step %d of %d has %d lanes after %d", k, steps, now, before)
			}
			before = now
		}
		if before != lanes || p.Ramp == 0 && steps != 1 {
			t.Fatalf("the last of %d steps has %d of %d lanes", steps, before, lanes)
		}
	})
}

// TestProgressUntimed: how much is done is known while there are slices of operations to come;
// how long they take is not.
func TestProgressUntimed(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*bench.Plan){func(p *bench.Plan) { p.Operations = 10 }, func(p *bench.Plan) { p.Ramp = 1 }} {
		plan := bench.DefaultPlan()
		change(&plan)
		p := bench.ComputeProgress(bench.Spec{Plan: plan}, []bench.Trial{
			{Host: "a", State: bench.Succeeded},
			{Host: "a", State: bench.Running, Phase: &bench.Phase{Percent: 50}},
		})
		if p.Percent != 75 || p.ETA != nil {
			t.Errorf("%v %% done, %v left; want 75 and unknown", p.Percent, p.ETA)
		}
	}
	own := 10
	mixed := bench.Spec{Plan: bench.DefaultPlan(), Cases: []bench.CaseSpec{{Kernel: "a.b", Operations: &own}, {Kernel: "a.c"}}}
	list := []bench.Trial{{Kernel: "a.b", State: bench.Succeeded}, {Kernel: "a.c", State: bench.Queued}}
	if p := bench.ComputeProgress(mixed, list); p.ETA == nil || *p.ETA != bench.Duration(mixed.Plan.TrialTime().Round(time.Second)) {
		t.Errorf("%v left, though only a trial of a known time is", p.ETA)
	}
}

// TestSamples: the samples of a ramp are those of the step that its score is of.
func TestSamples(t *testing.T) {
	t.Parallel()
	r := bench.TrialResult{Forks: []bench.Fork{
		{Samples: []float64{1, 2, 3, 4}, Slices: []bench.Slice{{Lanes: 1}, {Lanes: 1}, {Lanes: 2}, {Lanes: 2}}},
		{Samples: []float64{5, 6, 7}, Slices: []bench.Slice{{Lanes: 1}, {Lanes: 1}, {Lanes: 2}}},
	}}
	if d := cmp.Diff([][]float64{{1, 2, 3, 4}, {5, 6, 7}}, r.Samples()); d != "" {
		t.Error(d)
	}
	r.Series = &bench.Series{Scored: 2}
	if d := cmp.Diff([][]float64{{3, 4}, {7}}, r.Samples()); d != "" {
		t.Error(d)
	}
}
