package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/worker/bench"
)

// described is a kernel that can only be asked for.
type described struct{ info kernels.Info }

func (d described) Info() kernels.Info { return d.info }

func (d described) Open(context.Context, kernels.Params) (kernels.Trial, error) {
	return nil, fmt.Errorf("%s is only described", d.info.Name)
}

// catalog has two families with a parameter of each kind.
func catalog() *bench.Catalog {
	size := kernels.Param{Name: "size", Kind: kernels.Word, Default: "small", Values: []string{"small", "large"}}
	threads := kernels.Param{Name: "threads", Kind: kernels.Int, Default: "1", Min: 1, Max: 1024}
	return bench.NewCatalog([]kernels.Family{
		{Name: "math", Kernels: []kernels.Kernel{
			described{kernels.Info{Name: "math.add", Lanes: "threads", Params: []kernels.Param{size, threads}}},
			described{kernels.Info{Name: "math.mul", Lanes: "threads", Params: []kernels.Param{threads}}},
		}},
		{Name: "net", Kernels: []kernels.Kernel{
			described{kernels.Info{Name: "net.echo", Lanes: "clients", Params: []kernels.Param{
				{Name: "bytes", Kind: kernels.Size, Default: "1KB", Min: 16, Max: 1 << 30},
				{Name: "keepalive", Kind: kernels.Bool, Default: "true"},
				{Name: "clients", Kind: kernels.Int, Default: "1", Min: 1, Max: 4096},
			}}},
		}},
	})
}

func resolve(body string) (bench.Spec, []bench.Case, error) {
	spec, present, err := bench.ParseSpec([]byte(body))
	if err != nil {
		return spec, nil, err
	}
	limits := bench.DefaultLimits(4)
	return catalog().Resolve(spec, present, limits)
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{
			"a kernel with its defaults", `{"cases":[{"kernel":"net.echo"}]}`,
			[]string{"net.echo bytes=1KB clients=1 keepalive=true"},
		},
		{
			"a family is all its kernels, a parameter goes where it fits", `{"cases":[{"kernel":"math","params":{"size":"large"}}]}`,
			[]string{"math.add size=large threads=1", "math.mul threads=1"},
		},
		{
			"a matrix, the last parameter fastest", `{"cases":[{"kernel":"net.echo","params":{"bytes":["1KB",2048],"clients":[1,4]}}]}`,
			[]string{
				"net.echo bytes=1KB clients=1 keepalive=true", "net.echo bytes=1KB clients=4 keepalive=true",
				"net.echo bytes=2KB clients=1 keepalive=true", "net.echo bytes=2KB clients=4 keepalive=true",
			},
		},
		{
			"the same case once, however it is written", `{"cases":[{"kernel":"net.echo","params":{"bytes":["1KB",1024,"1024B"]}},{"kernel":"net.echo"},{"kernel":"net"}]}`,
			[]string{"net.echo bytes=1KB clients=1 keepalive=true"},
		},
		{
			"a bool as JSON writes it", `{"cases":[{"kernel":"net.echo","params":{"keepalive":[false,true]}}]}`,
			[]string{"net.echo bytes=1KB clients=1 keepalive=false", "net.echo bytes=1KB clients=1 keepalive=true"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, cases, err := resolve(tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, keys(cases)); d != "" {
				t.Error(d)
			}
			again, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			spec2, cases2, err := resolve(string(again))
			if err != nil {
				t.Fatalf("the filled request cannot be posted again: %v\n%s", err, again)
			}
			if d := cmp.Diff(spec, spec2); d != "" {
				t.Errorf("posted again it is another request: %s", d)
			}
			if d := cmp.Diff(keys(cases), keys(cases2)); d != "" {
				t.Errorf("posted again it makes other cases: %s", d)
			}
		})
	}
}

func keys(cases []bench.Case) []string {
	var out []string
	for _, c := range cases {
		out = append(out, c.Key())
	}
	return out
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	spec, _, err := resolve(`{"cases":[{"kernel":"math"}],"plan":{"slices":4,"warmup":0}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := bench.DefaultPlan()
	want.Slices, want.Warmup = 4, 0
	if d := cmp.Diff(want, spec.Plan); d != "" {
		t.Error(d)
	}
	if spec.Timeout != bench.DefaultTimeout {
		t.Errorf("timeout %s", spec.Timeout)
	}
}

func TestPlacementByHost(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, cpus, plan, says string
	}{
		{"anywhere", "none", `{"pin":"free"}`, ""},
		{"one", "0-3", `{"pin":"one"}`, ""},
		{"chosen", "0-3", `{"pin":"0,2-3/1"}`, ""},
		{"awake", "0-3", `{"awake":true}`, ""},
		{"a CPU that may not be used", "0-1,4", `{"pin":"0/2"}`, "names CPU 2; the host lets processes run on CPU 0-1,4"},
		{"not known yet", "", `{"pin":"17"}`, ""},
		{"one where nothing can be placed", "none", `{"pin":"one"}`, "cannot place processes on CPUs"},
		{"chosen where nothing can be placed", "none", `{"pin":"0"}`, "cannot place processes on CPUs"},
		{"awake where nothing can be placed", "none", `{"awake":true}`, "cannot keep its CPUs awake"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			spec, present, err := bench.ParseSpec([]byte(`{"cases":[{"kernel":"math"}],"plan":` + row.plan + `}`))
			if err != nil {
				t.Fatal(err)
			}
			limits := bench.DefaultLimits(4)
			limits.CPUs = row.cpus
			_, _, err = catalog().Resolve(spec, present, limits)
			if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v, want %q", err, row.says)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	wide := make([]string, 40)
	for i := range wide {
		wide[i] = fmt.Sprint(i + 1)
	}
	many := strings.Join(wide, ",")
	for _, tt := range []struct {
		name, body, code, pointer, says string
	}{
		{"nothing", ``, "not_json", "", "ends in the middle"},
		{"not JSON", `{"cases":oops}`, "not_json", "", "not JSON"},
		{"cut short", `{"cases":[`, "not_json", "", "ends in the middle"},
		{"two documents", `{"suite":"quick"} {"suite":"quick"}`, "not_json", "", "send one document"},
		{"a name twice", `{"suite":"quick","suite":"full"}`, "repeated_name", "", "/suite"},
		{"too deep", strings.Repeat("[", 100) + strings.Repeat("]", 100), "not_json", "", "deep"},
		{"not an object", `[]`, "wrong_type", "", "must be an object, not a list"},
		{"empty", `{}`, "nothing_asked", "", "give \"suite\" or \"cases\""},
		{"unknown field", `{"cases":[{"kernel":"math"}],"plam":{}}`, "unknown_field", "/plam", "cases, hosts, labels, params, plan, repeat, suite, timeout"},
		{"unknown field deep down", `{"cases":[{"kernel":"math","param":{}}]}`, "unknown_field", "/cases/0/param", "kernel, operations, params"},
		{"unknown kernel", `{"cases":[{"kernel":"math.sub"}]}`, "unknown_kernel", "/cases/0/kernel", "math.add, math.mul, net.echo, math, net"},
		{"unknown suite", `{"suite":"quik"}`, "unknown_suite", "/suite", "quick, full"},
		{"unknown parameter", `{"cases":[{"kernel":"net.echo","params":{"clints":1}}]}`, "unknown_param", "/cases/0/params/clints", "bytes, keepalive, clients"},
		{"a word that is not allowed", `{"cases":[{"kernel":"math","params":{"size":["small","huge"]}}]}`, "unknown_value", "/cases/0/params/size/1", "small or large"},
		{"more clients than the host allows", `{"cases":[{"kernel":"net.echo","params":{"clients":257}}]}`, "out_of_range", "/cases/0/params/clients", "from 1 to 256"},
		{"more threads than cores", `{"cases":[{"kernel":"math","params":{"threads":5}}]}`, "out_of_range", "/cases/0/params/threads", "from 1 to 4"},
		{"no clients", `{"cases":[{"kernel":"net.echo","params":{"clients":0}}]}`, "out_of_range", "/cases/0/params/clients", "from 1"},
		{"a size beyond the host's limit", `{"cases":[{"kernel":"net.echo","params":{"bytes":"1GB"}}]}`, "out_of_range", "/cases/0/params/bytes", "16B to 64MB"},
		{"a negative size", `{"cases":[{"kernel":"net.echo","params":{"bytes":-1}}]}`, "out_of_range", "/cases/0/params/bytes", "a size from"},
		{"a parameter of the harness", `{"cases":[{"kernel":"net.echo","params":{"_addr":"10.0.0.1:80"}}]}`, "unknown_param", "/cases/0/params/_addr", "no parameter"},
		{"an object as a value", `{"cases":[{"kernel":"net.echo","params":{"bytes":{}}}]}`, "wrong_type", "/cases/0/params/bytes", "not an object"},
		{"an empty matrix", `{"cases":[{"kernel":"net.echo","params":{"bytes":[]}}]}`, "empty_list", "/cases/0/params/bytes", "no case"},
		{"a list of values without end", `{"cases":[{"kernel":"net.echo","params":{"bytes":[1` + strings.Repeat(",1", 100_000) + `]}}]}`, "too_many_trials", "/cases/0/params/bytes", "at most 1000"},
		{"cases without end", `{"cases":[{"kernel":"math"}` + strings.Repeat(`,{"kernel":"math"}`, 30_000) + `]}`, "too_many_trials", "/cases", "has 30001 elements"},
		{"a case without a kernel", `{"cases":[{"params":{}}]}`, "no_kernel", "/cases/0", "names no kernel"},
		{"a label of control characters", `{"cases":[{"kernel":"math"}],"labels":{"a\u0000b":"c"}}`, "bad_label", "/labels/a\x00b", "without control characters"},
		{"no forks", `{"cases":[{"kernel":"math"}],"plan":{"forks":0}}`, "out_of_range", "/plan/forks", "from 1 to 100"},
		{"half a fork", `{"cases":[{"kernel":"math"}],"plan":{"forks":1.5}}`, "wrong_type", "/plan/forks", "whole number"},
		{"a slice too short", `{"cases":[{"kernel":"math"}],"plan":{"slice":"1ms"}}`, "out_of_range", "/plan/slice", "from 10ms"},
		{"a bad duration", `{"cases":[{"kernel":"math"}],"plan":{"slice":"soon"}}`, "wrong_type", "/plan/slice", "a duration like"},
		{"a limit beyond the host's", `{"cases":[{"kernel":"math"}],"plan":{"limit":"2h"}}`, "out_of_range", "/plan/limit", "to 1h"},
		{"a plan that cannot end in time", `{"cases":[{"kernel":"math"}],"plan":{"slices":100,"slice":"10s"}}`, "plan_over_limit", "/plan/limit", "over the limit of 5m"},
		{"confidence one", `{"cases":[{"kernel":"math"}],"plan":{"confidence":1}}`, "out_of_range", "/plan/confidence", "0.9999"},
		{"a negative warm-up", `{"cases":[{"kernel":"math"}],"plan":{"warmup":"-1s"}}`, "out_of_range", "/plan/warmup", "not negative"},
		{"the sentinel of auto", `{"cases":[{"kernel":"math"}],"plan":{"warmup":-1}}`, "out_of_range", "/plan/warmup", "not negative"},
		{"a warm-up in words", `{"cases":[{"kernel":"math"}],"plan":{"warmup":"automatic"}}`, "wrong_type", "/plan/warmup", "must be \"auto\", a duration"},
		{"a target of nothing", `{"cases":[{"kernel":"math"}],"plan":{"target_error":0}}`, "out_of_range", "/plan/target_error", "from 0.0001"},
		{"an unknown interval", `{"cases":[{"kernel":"math"}],"plan":{"interval":"t"}}`, "unknown_value", "/plan/interval", "bootstrap or pooled_t"},
		{"an unknown order", `{"cases":[{"kernel":"math"}],"plan":{"order":"random"}}`, "unknown_value", "/plan/order", "sequential or interleaved"},
		{"awake in words", `{"cases":[{"kernel":"math"}],"plan":{"awake":"yes"}}`, "wrong_type", "/plan/awake", "true or false"},
		{"a pin of nothing", `{"cases":[{"kernel":"math"}],"plan":{"pin":""}}`, "cannot_place", "/plan/pin", "is no list of CPUs"},
		{"a pin without end", `{"cases":[{"kernel":"math"}],"plan":{"pin":"0-99999999999"}}`, "cannot_place", "/plan/pin", "is no list of CPUs"},
		{"two servers", `{"cases":[{"kernel":"math"}],"plan":{"pin":"0/1/2"}}`, "cannot_place", "/plan/pin", "is no list of CPUs"},
		{"no trials of a case", `{"cases":[{"kernel":"math"}],"repeat":0}`, "out_of_range", "/repeat", "from 1 to 100"},
		{"too many trials by repeats", `{"cases":[{"kernel":"net.echo","params":{"clients":[` + many + `]}}],"repeat":26}`, "too_many_trials", "/cases", "1040 trials; at most 1000"},
		{"a host twice", `{"cases":[{"kernel":"math"}],"hosts":{"names":["a","a"]}}`, "repeated_host", "/hosts/names/1", "twice"},
		{"a timeout of nothing", `{"cases":[{"kernel":"math"}],"timeout":0}`, "out_of_range", "/timeout", "from 1s"},
		{"labels of numbers", `{"cases":[{"kernel":"math"}],"labels":{"n":1}}`, "wrong_type", "/labels/n", "must be a string"},
		{"one matrix of too many", `{"cases":[{"kernel":"net.echo","params":{"clients":[` + many + `],"bytes":[` + strings.ReplaceAll(many, "1", "10") + `]}}]}`, "out_of_range", "", ""},
		{
			"too many trials by hosts", `{"cases":[{"kernel":"net.echo","params":{"clients":[` + many + `]}}],"hosts":{"names":[` + names(30) + `]}}`,
			"too_many_trials", "/cases", "1200 trials; at most 1000",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, cases, err := resolve(tt.body)
			e := bench.AsError(err)
			if e == nil {
				t.Fatalf("accepted as %v, error %v", keys(cases), err)
			}
			if e.Code != tt.code || !strings.Contains(e.Message, tt.says) {
				t.Errorf("%s: %s\nwant %s with %q", e.Code, e.Message, tt.code, tt.says)
			}
			if tt.pointer != "" && !slices.ContainsFunc(e.Fields, func(f bench.FieldError) bool { return f.Pointer == tt.pointer }) {
				t.Errorf("no error points at %s: %+v", tt.pointer, e.Fields)
			}
		})
	}
}

func names(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"host%d"`, i)
	}
	return strings.Join(list, ",")
}

// FuzzParseSpec: whatever is posted, the answer is an *Error or a request that can be posted
// again with the same meaning.
func FuzzParseSpec(f *testing.F) {
	f.Add(`{"suite":"quick","plan":{"forks":3,"warmup":"1s"},"labels":{"commit":"abc"},"timeout":"30m"}`)
	f.Add(`{"cases":[{"kernel":"net.echo","params":{"bytes":["1KB","2.5MB"],"clients":[1,4],"keepalive":false}}],"hosts":{"labels":{"zone":"a"}}}`)
	f.Add(`{"cases":[{"kernel":"math","params":{"threads":1e0}}]}`)
	f.Add(`{"cases":[{"kernel":"math"}],"plan":{"slice":9223372036854775807}}`)
	f.Add("{\"labels\":{\"\x00\":\"\\ud800\"}}")
	f.Fuzz(func(t *testing.T, body string) {
		spec, cases, err := resolve(body)
		if err != nil {
			if bench.AsError(err) == nil {
				t.Fatalf("not an error for a client: %v", err)
			}
			return
		}
		if len(cases) == 0 || len(cases) > bench.MaxTrials {
			return // a suite of kernels that this catalog lacks is refused above
		}
		again, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		_, cases2, err := resolve(string(again))
		if err != nil {
			t.Fatalf("cannot be posted again: %v\n%s", err, again)
		}
		if d := cmp.Diff(keys(cases), keys(cases2)); d != "" {
			t.Fatal(d)
		}
	})
}

func TestRunState(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		trials []bench.State
		cancel bool
		want   bench.State
	}{
		{"nothing began", []bench.State{bench.Queued, bench.Queued}, false, bench.Queued},
		{"one runs", []bench.State{bench.Running, bench.Queued}, false, bench.Running},
		{"between two trials", []bench.State{bench.Succeeded, bench.Queued}, false, bench.Running},
		{"asked to stop", []bench.State{bench.Canceling, bench.Canceled}, true, bench.Canceling},
		{"stopped", []bench.State{bench.Succeeded, bench.Canceled}, true, bench.Canceled},
		{"asked to stop when all was done", []bench.State{bench.Succeeded, bench.Succeeded}, true, bench.Succeeded},
		{"one failed", []bench.State{bench.Succeeded, bench.Failed}, false, bench.Failed},
		{"one was lost", []bench.State{bench.Failed, bench.Lost}, false, bench.Lost},
		{"all succeeded", []bench.State{bench.Succeeded}, false, bench.Succeeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := bench.RunState(tt.trials, tt.cancel); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestFinalStatesNeverChange(t *testing.T) {
	t.Parallel()
	for _, from := range bench.States() {
		for _, to := range bench.States() {
			if from.Final() && from.CanBecome(to) {
				t.Errorf("%s can become %s", from, to)
			}
			if from.CanBecome(from) || to == bench.Queued && from.CanBecome(to) {
				t.Errorf("%s can become %s", from, to)
			}
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		json string
		want time.Duration
		back string
	}{
		{`"30s"`, 30 * time.Second, `"30s"`},
		{`"300s"`, 5 * time.Minute, `"5m"`},
		{`"60m"`, time.Hour, `"1h"`},
		{`"70m"`, 70 * time.Minute, `"1h10m"`},
		{`"1.5s"`, 1500 * time.Millisecond, `"1.5s"`},
		{`250000000`, 250 * time.Millisecond, `"250ms"`},
		{`0`, 0, `"0s"`},
	} {
		t.Run(tt.json, func(t *testing.T) {
			t.Parallel()
			var d bench.Duration
			if err := json.Unmarshal([]byte(tt.json), &d); err != nil {
				t.Fatal(err)
			}
			if d.Std() != tt.want {
				t.Errorf("%s, want %s", d.Std(), tt.want)
			}
			b, err := json.Marshal(d)
			if err != nil || string(b) != tt.back {
				t.Errorf("%s %v, want %s", b, err, tt.back)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	plan := bench.Plan{Forks: 1, Slices: 10, Slice: bench.Duration(time.Second)}
	one := plan.TrialTime()
	trials := []bench.Trial{
		{Host: "a", State: bench.Succeeded},
		{Host: "a", State: bench.Running, Phase: &bench.Phase{Percent: 50}},
		{Host: "a", State: bench.Queued},
		{Host: "b", State: bench.Queued},
	}
	p := bench.ComputeProgress(bench.Spec{Plan: plan}, trials)
	if p.Done != 1 || p.Total != 4 || p.Percent != 37.5 {
		t.Errorf("%+v, want 1 of 4 and 37.5 %%", p)
	}
	if want := bench.Duration((one + one/2).Round(time.Second)); p.ETA == nil || *p.ETA != want {
		t.Errorf("ETA %v, want %s, of the busier host", p.ETA, want)
	}
	if p := bench.ComputeProgress(bench.Spec{Plan: plan}, trials[2:]); p.ETA != nil {
		t.Errorf("nothing began, yet the ETA is %s", p.ETA)
	}
}
