package bench_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"benchd/worker/bench"
)

// TestWholeNumbers: an integer is what JSON Schema takes for one, however it is written.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		written string
		want    int
	}{
		{"7", 7},
		{"7.0", 7},
		{"7e0", 7},
		{"1e2", 100},
		{"1E+2", 100},
		{"1.0e1", 10},
		{"2.5e1", 25},
		{"700e-2", 7},
		{"0.07e2", 7},
		{"70.00e-1", 7},
		{"7." + strings.Repeat("0", 1000), 7},
	} {
		spec, cases, err := resolve(fmt.Sprintf(
			`{"cases":[{"kernel":"net.echo","params":{"clients":[%[1]s,%[2]d]},"operations":%[1]s}],"plan":{"forks":%[1]s,"slices":1,"warmup":0},"repeat":%[1]s}`, tt.written, tt.want))
		if err != nil {
			t.Errorf("%s: %v", tt.written, err)
			continue
		}
		if spec.Plan.Forks != tt.want || spec.Repeat != tt.want || *spec.Cases[0].Operations != tt.want || len(cases) != 1 || cases[0].Params.Int("clients") != tt.want {
			t.Errorf("%s is %d forks, %d operations, %d repeats, %v", tt.written, spec.Plan.Forks, *spec.Cases[0].Operations, spec.Repeat, keys(cases))
		}
	}
	spec, cases, err := resolve(`{"cases":[{"kernel":"net.echo","params":{"bytes":[1e3,1000.0,"1000B"]}}],"plan":{"operations":-0.0,"slice":2e7,"warmup":1.5e8}}`)
	if err != nil || len(cases) != 1 || spec.Plan.Slice.Std() != 20*time.Millisecond || time.Duration(spec.Plan.Warmup) != 150*time.Millisecond {
		t.Errorf("%v, %v, plan %+v", err, keys(cases), spec.Plan)
	}
}

// TestWholeNumbersRefused: a whole number that is too large is told its bounds, and only what
// is none is said to be none.
func TestWholeNumbersRefused(t *testing.T) {
	t.Parallel()
	const between = "must be from "
	for _, tt := range []struct{ field, written, code, says string }{
		{"operations", "2147483648", "out_of_range", between + "0 to 10000000, not 2147483648"},
		{"operations", "-2147483649", "out_of_range", between + "0 to 10000000"},
		{"operations", "10000001.0", "out_of_range", between + "0 to 10000000"},
		{"ramp", "9223372036854775808", "out_of_range", between + "0 to 10000, not 9223372036854775808"},
		{"ramp", "-9223372036854775809", "out_of_range", between + "0 to 10000"},
		{"forks", "1e300000000000000000", "out_of_range", between + "1 to 100, not 1e300000000000000000"},
		{"slices", "1e30", "out_of_range", between + "1 to 1000"},
		{"forks", "1e-30", "wrong_type", "whole number, not 1e-30"},
		{"forks", "1e-300000000000000000", "wrong_type", "whole number"},
		{"forks", "1.0000000000000000000001", "wrong_type", "whole number"},
		{"forks", "15e-1", "wrong_type", "whole number"},
		{"forks", `"3"`, "wrong_type", `whole number, not the string "3"`},
		{"forks", "true", "wrong_type", "whole number, not true"},
		{"forks", "null", "wrong_type", "whole number, not null"},
	} {
		_, _, err := resolve(fmt.Sprintf(`{"cases":[{"kernel":"net.echo"}],"plan":{%q:%s}}`, tt.field, tt.written))
		e := bench.AsError(err)
		if e == nil || e.Code != tt.code || !strings.Contains(e.Message, tt.says) || len(e.Fields) != 1 || e.Fields[0].Pointer != "/plan/"+tt.field {
			t.Errorf("%s of %s: %+v, want %s with %q", tt.field, tt.written, e, tt.code, tt.says)
		}
	}
	for _, body := range []string{
		`{"cases":[{"kernel":"net.echo","operations":1e10}]}`, `{"cases":[{"kernel":"net.echo"}],"repeat":1e10}`,
		`{"cases":[{"kernel":"net.echo","params":{"clients":9223372036854775808}}]}`, `{"cases":[{"kernel":"net.echo","params":{"clients":1.5}}]}`,
	} {
		_, _, err := resolve(body)
		if e := bench.AsError(err); e == nil || e.Code != "out_of_range" {
			t.Errorf("%s: %+v", body, e)
		}
	}
}
