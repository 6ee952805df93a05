package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/worker/bench"
)

// carrier is a kernel whose servers depend on another parameter, and of which not all
// parameters go together: what goes by hand is not kept, and is the floor.
type carrier struct{ described }

var _ kernels.Fitter = carrier{}

func newCarrier() carrier {
	return carrier{described{kernels.Info{
		Name: "post.carry", Unit: "call/s", Floor: kernels.Params{"by": "hand", "at": kernels.Embedded, "kept": "false"},
		Params: []kernels.Param{
			{Name: "weight", Kind: kernels.Int, Default: "1", Min: 1, Max: 9},
			{Name: "by", Kind: kernels.Word, Default: "mail", Values: []string{"mail", "ship", "air", "hand"}},
			{
				Name: "at", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"mail", "mails", "ship", "air"}, Of: "by",
				Servers: map[string]kernels.Servers{
					"mail": {Embedded: true, Schemes: []string{"mail", "mails"}}, "ship": {Schemes: []string{"ship"}},
					"air": {Schemes: []string{"air"}}, "hand": {Embedded: true},
				},
			},
			{Name: "kept", Kind: kernels.Bool, Default: "false"},
		},
	}}}
}

func (carrier) Fits(p kernels.Params) error {
	if p["by"] == "hand" && p.Bool("kept") {
		return errors.New("a hand keeps nothing; kept can only be false where by is hand")
	}
	return nil
}

// carried resolves a request for carriers where the hosts have services.
func carried(body string, hosts ...map[string]string) (bench.Spec, []bench.Case, error) {
	spec, present, err := bench.ParseSpec([]byte(body))
	if err != nil {
		return spec, nil, err
	}
	other := described{kernels.Info{Name: "post.wait", Unit: "call/s", Params: []kernels.Param{{Name: "weight", Kind: kernels.Int, Default: "1", Min: 1, Max: 9}}}}
	c := bench.NewCatalog([]kernels.Family{{Name: "post", Kernels: []kernels.Kernel{newCarrier(), other}}})
	return c.Resolve(spec, present, bench.DefaultLimits(4), hosts...)
}

// TestEveryThatFits: what Every stands for depends on the other parameters, and its
// combinations with them are those that can be measured. What is stored names them, and is the
// same run when it is posted again.
func TestEveryThatFits(t *testing.T) {
	t.Parallel()
	port := map[string]string{"post": "mail", "liner": "ship", "tramp": "ship", "web": "http"}
	const floor = "post.carry at=embedded by=hand kept=false weight=1"
	for _, tt := range []struct {
		name, params string
		services     map[string]string
		want         []string // cases
		entries      int      // of the stored request
	}{
		{
			"each carrier has its own servers", `{"by":["mail","ship"],"at":"every"}`, port,
			[]string{
				floor, "post.carry at=embedded by=mail kept=false weight=1", "post.carry at=post by=mail kept=false weight=1",
				"post.carry at=liner by=ship kept=false weight=1", "post.carry at=tramp by=ship kept=false weight=1",
			},
			2,
		},
		{
			"a carrier without a server is left out", `{"by":["mail","ship","air"],"at":"every"}`,
			map[string]string{"web": "http"},
			[]string{floor, "post.carry at=embedded by=mail kept=false weight=1"},
			1,
		},
		{
			"every carrier", `{"by":"every","at":"every"}`,
			map[string]string{"jet": "air"},
			[]string{
				floor, "post.carry at=embedded by=mail kept=false weight=1", "post.carry at=jet by=air kept=false weight=1",
			},
			3,
		},
		{
			"every truth that goes with the others", `{"by":["mail","hand"],"kept":"every"}`, nil,
			[]string{floor, "post.carry at=embedded by=mail kept=false weight=1", "post.carry at=embedded by=mail kept=true weight=1"},
			2,
		},
		{
			"a name beside every", `{"by":["mail","ship"],"at":["liner","every"],"kept":true}`,
			map[string]string{"liner": "ship"},
			[]string{floor, "post.carry at=embedded by=mail kept=true weight=1", "post.carry at=liner by=ship kept=true weight=1"},
			2,
		},
		{
			"in a larger matrix, in its order", `{"weight":[1,2],"by":["mail","ship"],"at":"every"}`,
			map[string]string{"liner": "ship"},
			[]string{
				floor, "post.carry at=embedded by=mail kept=false weight=1", "post.carry at=liner by=ship kept=false weight=1",
				strings.Replace(floor, "weight=1", "weight=2", 1), "post.carry at=embedded by=mail kept=false weight=2", "post.carry at=liner by=ship kept=false weight=2",
			},
			4,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, cases, err := carried(`{"cases":[{"kernel":"post.carry","params":`+tt.params+`}]}`, tt.services)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, keys(cases)); d != "" {
				t.Error(d)
			}
			if len(spec.Cases) != tt.entries {
				t.Errorf("%d entries are stored, not %d: %+v", len(spec.Cases), tt.entries, spec.Cases)
			}
			posted(t, spec, cases)
		})
	}
}

// posted checks that what a request became is the same run when it is posted again, where
// nobody has services too.
func posted(t interface {
	Helper()
	Fatalf(string, ...any)
}, spec bench.Spec, cases []bench.Case,
) {
	t.Helper()
	again, err := json.Marshal(spec)
	if err != nil || strings.Contains(string(again), bench.Every) {
		t.Fatalf("the filled request still asks for every one: %s, %v", again, err)
	}
	spec2, cases2, err := carried(string(again))
	if err != nil {
		t.Fatalf("posted again: %v", err)
	}
	if d := cmp.Diff(spec, spec2); d != "" {
		t.Fatalf("posted again it is another request: %s", d)
	}
	if d := cmp.Diff(keys(cases), keys(cases2)); d != "" {
		t.Fatalf("posted again it makes other cases: %s", d)
	}
}

// TestEveryOfAFamily: each kernel of the family has entries of its own then.
func TestEveryOfAFamily(t *testing.T) {
	t.Parallel()
	spec, cases, err := carried(`{"cases":[{"kernel":"post","params":{"by":["ship","mail"],"at":"every","weight":3}}]}`, map[string]string{"liner": "ship"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"post.carry at=embedded by=hand kept=false weight=3", "post.carry at=liner by=ship kept=false weight=3",
		"post.carry at=embedded by=mail kept=false weight=3", "post.wait weight=3",
	}
	if d := cmp.Diff(want, keys(cases)); d != "" {
		t.Error(d)
	}
	posted(t, spec, cases)
}

// TestUnfit: what does not go together is refused before anything is queued, with what is
// allowed.
func TestUnfit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, params string
		hosts        []map[string]string
		code, at     string
		says         string
	}{
		{"no server of ours", `{"by":"ship"}`, nil, "bad_service", "/cases/0/params", `at must be the name of a service where by is ship, which does not run inside a worker; a worker is told of one by --service NAME=ship://HOST:PORT, and "every" stands for all that a host has`},
		{"no server of ours, asked for", `{"by":["mail","air"],"at":"embedded"}`, nil, "bad_service", "/cases/0/params/at", "where by is air"},
		{"no servers outside", `{"by":"hand","at":"liner"}`, nil, "bad_service", "/cases/0/params/at", `at can only be "embedded" where by is hand`},
		{"a service of another scheme", `{"by":"mail","at":"liner"}`, []map[string]string{{"liner": "ship"}}, "bad_service", "/cases/0/params/at", `at must be a service at an address of the scheme mail or mails where by is mail; that of "liner" is of the scheme ship`},
		{"a service of another scheme at every host", `{"by":"mail","at":"liner"}`, []map[string]string{{"liner": "ship"}, {}, {"liner": "air"}}, "bad_service", "/cases/0/params/at", "mail or mails"},
		{"parameters of the kernel", `{"by":"hand","kept":[false,true]}`, nil, "bad_combination", "/cases/0/params", "a hand keeps nothing; kept can only be false where by is hand"},
		{"nothing that every could stand for", `{"by":["ship","air"],"at":"every"}`, []map[string]string{{"post": "mail"}}, "no_services", "/cases/0", "there is nothing that it could stand for: at must be the name of a service where by is ship"},
		{"no hosts", `{"by":"ship","at":"every"}`, nil, "no_services", "/cases/0/params/at", "no such host now"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, cases, err := carried(`{"cases":[{"kernel":"post.carry","params":`+tt.params+`}]}`, tt.hosts...)
			e := bench.AsError(err)
			if e == nil || e.Kind != bench.Invalid || len(e.Fields) != 1 {
				t.Fatalf("%v, error %v", keys(cases), err)
			}
			if f := e.Fields[0]; f.Code != tt.code || f.Pointer != tt.at || !strings.Contains(f.Message, tt.says) {
				t.Errorf("%+v", f)
			}
		})
	}
	// What some host has, or nobody knows, may wait for its host.
	for _, hosts := range [][]map[string]string{nil, {{}}, {{"liner": "ship"}, {"liner": "mails"}}} {
		if _, cases, err := carried(`{"cases":[{"kernel":"post.carry","params":{"at":"liner"}}]}`, hosts...); err != nil || len(cases) != 2 {
			t.Errorf("hosts with %v: %v, error %v", hosts, keys(cases), err)
		}
	}
}

// TestNeedsOfACase: a case needs a service of the schemes that go with its other parameters.
func TestNeedsOfACase(t *testing.T) {
	t.Parallel()
	c := bench.NewCatalog([]kernels.Family{{Name: "post", Kernels: []kernels.Kernel{newCarrier()}}})
	needs := c.Needs(bench.Case{Kernel: "post.carry", Params: kernels.Params{"by": "mail", "at": "liner"}})
	if len(needs) != 1 || needs[0].Met(map[string]string{"liner": "ship"}) || !needs[0].Met(map[string]string{"liner": "mails"}) {
		t.Errorf("%+v", needs)
	}
	for params, ok := range map[string]bool{"mail embedded false": true, "ship embedded false": false, "ship liner true": true, "hand embedded true": false, "every embedded false": false, "mail embedded every": false} {
		f := strings.Fields(params)
		err := c.Check(bench.Case{Kernel: "post.carry", Params: kernels.Params{"by": f[0], "at": f[1], "kept": f[2]}}, bench.DefaultPlan(), bench.DefaultLimits(4))
		if (err == nil) != ok {
			t.Errorf("an order of %s: %v", params, err)
		}
	}
}

// TestServersAreListed: the list of kernels tells which servers go with which value.
func TestServersAreListed(t *testing.T) {
	t.Parallel()
	c := bench.NewCatalog([]kernels.Family{{Name: "post", Kernels: []kernels.Kernel{newCarrier()}}})
	text, err := json.Marshal(bench.DescribeKernels(c))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"of":"by"`, `"hand":{"embedded":true,"schemes":[]}`, `"ship":{"embedded":false,"schemes":["ship"]}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// TestEveryIsWhatCanBeMeasured: of whatever matrix on whatever host, the cases are those of the
// whole matrix that alone would be taken, each once and in its order, and the stored request
// is the same run.
func TestEveryIsWhatCanBeMeasured(t *testing.T) {
	t.Parallel()
	some := func(t *rapid.T, name string, of ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 1, 3, rapid.ID).Draw(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		services := make(map[string]string)
		for _, name := range some(t, "names", "a", "b", "c") {
			services[name] = rapid.SampledFrom([]string{"mail", "mails", "ship", "air", "http"}).Draw(t, name)
		}
		asked := map[string][]string{
			"weight": some(t, "weight", "1", "2", "3"), "by": some(t, "by", "mail", "ship", "air", "hand", bench.Every),
			"at": some(t, "at", "a", "b", "embedded", bench.Every), "kept": some(t, "kept", "false", "true", bench.Every),
		}
		asked["at"] = append(asked["at"], bench.Every) // twice is once
		body, err := json.Marshal(map[string]any{"cases": []any{map[string]any{"kernel": "post.carry", "params": plain(asked)}}})
		if err != nil {
			t.Fatal(err)
		}
		spec, cases, err := carried(string(body), services)
		want := alone(asked, services)
		if err != nil {
			if len(want) > 0 || bench.AsError(err).Code != "no_services" {
				t.Fatalf("%s: %v, and there are %v", body, err, want)
			}
			return
		}
		var got []string
		for _, c := range cases {
			if key := c.Key(); slices.Contains(want, key) {
				got = append(got, key)
			} else if c.Params["by"] != "hand" { // the floor, which nobody asked for
				t.Fatalf("%s: %s was not asked for", body, key)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(slices.Compact(want), got); d != "" {
			t.Fatalf("%s: %s", body, d)
		}
		posted(t, spec, cases)
	})
}

// plain gives numbers and truths as JSON has them.
func plain(asked map[string][]string) map[string][]any {
	out := make(map[string][]any)
	for name, values := range asked {
		for _, v := range values {
			out[name] = append(out[name], json.RawMessage(kernels.AppendValue(nil, v)))
		}
	}
	return out
}

// alone lists the cases of a matrix that would be taken one by one.
func alone(asked map[string][]string, services map[string]string) (taken []string) {
	all := map[string][]string{"by": {"mail", "ship", "air", "hand"}, "at": {"embedded", "a", "b", "c"}, "kept": {"false", "true"}}
	of := func(name string) []string {
		if slices.Contains(asked[name], bench.Every) {
			return all[name]
		}
		return asked[name]
	}
	for _, weight := range of("weight") {
		for _, by := range of("by") {
			for _, at := range of("at") {
				_, has := services[at]
				named := slices.Contains(asked["at"], at) // may wait for a host that has it
				for _, kept := range of("kept") {
					body := fmt.Sprintf(`{"cases":[{"kernel":"post.carry","params":{"weight":%s,"by":%q,"at":%q,"kept":%s}}]}`, weight, by, at, kept)
					_, cases, err := carried(body, services)
					if err == nil && (has || named || at == kernels.Embedded) {
						taken = append(taken, cases[len(cases)-1].Key())
					}
				}
			}
		}
	}
	return taken
}
