package bench_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/worker/bench"
)

// serving has kernels that can be measured at services.
func serving() *bench.Catalog {
	server := func(schemes ...string) kernels.Param {
		return kernels.Param{Name: "server", Kind: kernels.Service, Default: kernels.Embedded, Schemes: schemes}
	}
	model := kernels.Param{Name: "model", Kind: kernels.Word, Default: "stream", Values: []string{"stream", "dom"}}
	return bench.NewCatalog([]kernels.Family{
		{Name: "web", Kernels: []kernels.Kernel{
			described{kernels.Info{Name: "web.get", Params: []kernels.Param{server("http", "https")}}},
			described{kernels.Info{Name: "web.put", Params: []kernels.Param{server("http", "https"), model}}},
		}},
		{Name: "mq", Kernels: []kernels.Kernel{described{kernels.Info{Name: "mq.send", Params: []kernels.Param{server("amqp")}}}}},
	})
}

// atHosts resolves a request where the hosts have services.
func atHosts(body string, hosts ...map[string]string) (bench.Spec, []bench.Case, error) {
	spec, present, err := bench.ParseSpec([]byte(body))
	if err != nil {
		return spec, nil, err
	}
	return serving().Resolve(spec, present, bench.DefaultLimits(4), hosts...)
}

func TestEvery(t *testing.T) {
	t.Parallel()
	blue := map[string]string{"mine": "http", "axis": "https", "rabbit": "amqp"}
	for _, tt := range []struct {
		name, body string
		hosts      []map[string]string
		want       []string
	}{
		{
			"the kernel's own and those of its schemes, by name", `{"cases":[{"kernel":"web.get","params":{"server":"every"}}]}`,
			[]map[string]string{blue},
			[]string{"web.get server=embedded", "web.get server=axis", "web.get server=mine"},
		},
		{
			"each once, beside others", `{"cases":[{"kernel":"web.get","params":{"server":["mine","every","other"]}}]}`,
			[]map[string]string{blue},
			[]string{"web.get server=mine", "web.get server=embedded", "web.get server=axis", "web.get server=other"},
		},
		{
			"in a matrix", `{"cases":[{"kernel":"web.put","params":{"server":"every","model":["stream","dom"]}}]}`,
			[]map[string]string{{"mine": "http"}},
			[]string{"web.put model=stream server=embedded", "web.put model=dom server=embedded", "web.put model=stream server=mine", "web.put model=dom server=mine"},
		},
		{
			"of a family", `{"cases":[{"kernel":"web","params":{"server":"every"}}]}`,
			[]map[string]string{{"mine": "http"}},
			[]string{"web.get server=embedded", "web.get server=mine", "web.put model=stream server=embedded", "web.put model=stream server=mine"},
		},
		{
			"of the one host that has the most of what is asked", `{"cases":[{"kernel":"web.get","params":{"server":"every"}}]}`,
			[]map[string]string{{"a": "amqp", "b": "amqp", "c": "amqp"}, {"mine": "http"}, {"yours": "http"}},
			[]string{"web.get server=embedded", "web.get server=mine"},
		},
		{
			"of a host that has none", `{"cases":[{"kernel":"web.get","params":{"server":"every"}}]}`,
			[]map[string]string{nil},
			[]string{"web.get server=embedded"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, cases, err := atHosts(tt.body, tt.hosts...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, keys(cases)); d != "" {
				t.Error(d)
			}
			again, err := json.Marshal(spec)
			if err != nil || strings.Contains(string(again), bench.Every) {
				t.Fatalf("the filled request still asks for every service: %s, %v", again, err)
			}
			// Where nobody has services, it is the same request all the same.
			spec2, cases2, err := atHosts(string(again))
			if err != nil {
				t.Fatal(err)
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

// TestServiceRefused: whatever is no name never gets further than the check of the request.
func TestServiceRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, code string }{
		{"an address", "http://127.0.0.1:80/", "bad_service"},
		{"host and port", "localhost:80", "bad_service"},
		{"a path", "/etc/passwd", "bad_service"},
		{"a path up", "../data", "bad_service"},
		{"a command", "$(id)", "bad_service"},
		{"words", "a b", "bad_service"},
		{"nothing", "", "bad_service"},
		{"a truth", "true", "bad_service"},
		{"capitals", "Axis", "bad_service"},
		{"a digit first", "1axis", "bad_service"},
		{"a letter of another alphabet", "áxis", "bad_service"},
		{"a control character", "ax\u0000is", "bad_service"},
		{"too long", strings.Repeat("a", 64), "bad_service"},
		{"every service, where no host is known", "every", "no_services"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(map[string]any{"cases": []any{map[string]any{"kernel": "web.get", "params": map[string]any{"server": []string{"mine", tt.value}}}}})
			if err != nil {
				t.Fatal(err)
			}
			_, cases, err := atHosts(string(body))
			e := bench.AsError(err)
			if e == nil || e.Kind != bench.Invalid || e.Code != tt.code || e.Fields[0].Pointer != "/cases/0/params/server/1" {
				t.Errorf("%v, error %v", keys(cases), err)
			}
		})
	}
	if _, cases, err := atHosts(`{"cases":[{"kernel":"web.get","params":{"server":"` + strings.Repeat("a", 63) + `"}}]}`); err != nil || len(cases) != 1 {
		t.Errorf("a name of 63 letters: %v", err)
	}
}

// TestCheckOfEvery: an order names what it means, so that a worker refuses one that does not.
func TestCheckOfEvery(t *testing.T) {
	t.Parallel()
	for server, ok := range map[string]bool{"embedded": true, "axis": true, "every": false, "http://a/": false} {
		err := serving().Check(bench.Case{Kernel: "web.get", Params: kernels.Params{"server": server}}, bench.DefaultPlan(), bench.DefaultLimits(4))
		if (err == nil) != ok {
			t.Errorf("%s: %v", server, err)
		}
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	c := serving()
	if got := c.Needs(bench.Case{Kernel: "web.get", Params: kernels.Params{"server": "embedded"}}); len(got) != 0 {
		t.Errorf("the kernel's own server needs %v", got)
	}
	got := c.Needs(bench.Case{Kernel: "web.get", Params: kernels.Params{"server": "axis"}})
	if len(got) != 1 || got[0].Service != "axis" {
		t.Fatalf("%v", got)
	}
	for _, tt := range []struct {
		services map[string]string
		met      bool
		unmet    string
	}{
		{map[string]string{"axis": "http"}, true, ""},
		{map[string]string{"axis": "https"}, true, ""},
		{map[string]string{"axis": "amqp"}, false, `has the service "axis" at an address of the scheme amqp, and http or https is needed`},
		{map[string]string{"mine": "http"}, false, `has no service "axis"`},
		{nil, false, `has no service "axis"`},
	} {
		if got[0].Met(tt.services) != tt.met || !tt.met && got[0].Unmet(tt.services) != tt.unmet {
			t.Errorf("%v: %v, %s", tt.services, got[0].Met(tt.services), got[0].Unmet(tt.services))
		}
	}
}

// TestServiceNames: a name that passes holds nothing by which an address, a path or a command
// could be written.
func TestServiceNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"embedded", "every"} {
		if bench.CheckService(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z][a-z0-9._-]{0,70}`)).Draw(t, "name")
		if bench.CheckService(name) == nil && (len(name) > 63 || strings.ContainsAny(name, "/:@\\$ \t\n'\"`;|&<>()*?%#")) {
			t.Fatalf("%q is a name", name)
		}
	})
}
