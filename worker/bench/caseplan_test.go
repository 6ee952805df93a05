package bench_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// TestPlanOf: a case's own operations go before the plan's, in the cases of its entry only.
func TestPlanOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       []string // case and operations
	}{
		{
			"none has its own", `{"cases":[{"kernel":"math"}],"plan":{"operations":7}}`,
			[]string{"math.add size=small threads=1: 7", "math.mul threads=1: 7"},
		},
		{
			"one has its own, also none at all", `{"cases":[{"kernel":"math.mul","operations":3},{"kernel":"math.add","operations":0},{"kernel":"net.echo","operations":null}],"plan":{"operations":7}}`,
			[]string{"math.mul threads=1: 3", "math.add size=small threads=1: 0", "net.echo bytes=1KB clients=1 keepalive=true: 7"},
		},
		{
			"entries of one kernel", `{"cases":[{"kernel":"net.echo","params":{"clients":[1,4]},"operations":10},{"kernel":"net.echo","params":{"clients":8},"operations":20}]}`,
			[]string{"net.echo bytes=1KB clients=1 keepalive=true: 10", "net.echo bytes=1KB clients=4 keepalive=true: 10", "net.echo bytes=1KB clients=8 keepalive=true: 20"},
		},
		{
			"a family leaves the further values of its kernels to others", `{"cases":[{"kernel":"net"},{"kernel":"net.echo","params":{"clients":[1,4]},"operations":20}]}`,
			[]string{"net.echo bytes=1KB clients=1 keepalive=true: 0", "net.echo bytes=1KB clients=4 keepalive=true: 20"},
		},
		{
			"a family with its own", `{"cases":[{"kernel":"math","params":{"size":"large"},"operations":5},{"kernel":"math.add"}],"plan":{"operations":7}}`,
			[]string{"math.add size=large threads=1: 5", "math.mul threads=1: 5", "math.add size=small threads=1: 7"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, cases, err := resolve(tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, operations(spec, cases)); d != "" {
				t.Error(d)
			}
			again, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			spec, cases, err = resolve(string(again))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, operations(spec, cases)); d != "" {
				t.Errorf("posted again, %s:\n%s", again, d)
			}
		})
	}
}

func operations(spec bench.Spec, cases []bench.Case) []string {
	var out []string
	for _, c := range cases {
		out = append(out, fmt.Sprintf("%s: %d", c.Key(), spec.PlanOf(c).Operations))
	}
	return out
}

// TestPlanOfKeepsTheRest: nothing but the operations is the case's own.
func TestPlanOfKeepsTheRest(t *testing.T) {
	t.Parallel()
	spec, cases, err := resolve(`{"cases":[{"kernel":"math.mul","operations":3}],"plan":{"slice":"70ms","slices":41,"pin":"0"}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := spec.Plan
	want.Operations = 3
	if d := cmp.Diff(want, spec.PlanOf(cases[0])); d != "" {
		t.Error(d)
	}
	if spec.Plan.Slice != bench.Duration(70*time.Millisecond) || spec.Plan.Operations != 0 {
		t.Errorf("the run's own plan is %+v", spec.Plan)
	}
}

// TestBadOperations: a case's operations are checked as the plan's.
func TestBadOperations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, operations, code string }{
		{"negative", "-1", "out_of_range"},
		{"too many", "10000001", "out_of_range"},
		{"a part", "1.5", "wrong_type"},
		{"a text", `"200"`, "wrong_type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := resolve(`{"cases":[{"kernel":"math.add"},{"kernel":"math.mul","operations":` + tt.operations + `}]}`)
			e := bench.AsError(err)
			if e == nil || len(e.Fields) != 1 || e.Fields[0].Pointer != "/cases/1/operations" || e.Fields[0].Code != tt.code {
				t.Errorf("%v, want %s at /cases/1/operations", err, tt.code)
			}
		})
	}
}
