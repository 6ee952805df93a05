package api_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"benchd/api"
	"benchd/kernels"
	"benchd/worker/bench"
)

// withCarrier offers a kernel whose servers depend on another parameter, and that has a floor.
func withCarrier(c *api.Config) {
	carry := kernel{kernels.Info{
		Name: "post.carry", Title: "Carries.", Operation: "one letter", Unit: "message/s", Noun: "message",
		Floor: kernels.Params{"by": "hand", "at": kernels.Embedded},
		Params: []kernels.Param{
			{Name: "by", Doc: "Who carries.", Kind: kernels.Word, Default: "mail", Values: []string{"mail", "ship", "hand"}},
			{
				Name: "at", Doc: "Whose office.", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"mail", "ship"}, Of: "by",
				Servers: map[string]kernels.Servers{"mail": {Embedded: true, Schemes: []string{"mail"}}, "ship": {Schemes: []string{"ship"}}, "hand": {Embedded: true}},
			},
		},
	}}
	c.Catalog = bench.NewCatalog(append(families(), kernels.Family{Name: "post", Title: "Carries.", Kernels: []kernels.Kernel{carry}}))
}

// TestFloorAndSettings: a run that asks for a case has its floor too; the result tells the
// score as a part of it, and what was set at the other side.
func TestFloorAndSettings(t *testing.T) {
	t.Parallel()
	s := start(t, withCarrier)
	s.hostServing("blue", true, nil, map[string]string{"liner": "ship"})
	run := s.post(`{"cases":[{"kernel":"post.carry","params":{"by":["mail","ship"],"at":"every"}}],"hosts":{"names":["blue"]}}`)
	figures := []struct{ value, low, high float64 }{{1000, 990, 1010}, {250, 240, 260}, {100, 90, 110}}
	if len(run.Trials) != len(figures) {
		t.Fatalf("trials %+v", run.Trials)
	}
	for i, f := range figures {
		s.started(run, i)
		r := measured(bench.Succeeded)
		r.Score.Value, r.Score.Low, r.Score.High = new(f.value), new(f.low), new(f.high)
		r.Settings = map[string]string{"broker": "Postmaster 3.1", "tcp_nodelay": "true"}
		if ok, err := s.store.RecordFinished(t.Context(), s.report(run, i, bench.Finished, r)); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	result := read[bench.Result](t, s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results", ""), http.StatusOK)
	for i, want := range []*[3]float64{nil, {0.25, 240.0 / 1010, 260.0 / 990}, {0.1, 90.0 / 1010, 110.0 / 990}} {
		tr := result.Trials[i]
		if tr.Settings["broker"] != "Postmaster 3.1" {
			t.Errorf("%s: settings %v", tr.Params, tr.Settings)
		}
		if want == nil {
			if tr.OfFloor != nil || tr.Params["by"] != "hand" {
				t.Errorf("the floor %s has the floor %+v", tr.Params, tr.OfFloor)
			}
			continue
		}
		f := tr.OfFloor
		if f == nil || f.Trial != result.Trials[0].ID || math.Abs(*f.Value-want[0])+math.Abs(*f.Low-want[1])+math.Abs(*f.High-want[2]) > 1e-9 {
			t.Errorf("%s is %+v of its floor, want %v", tr.Params, f, *want)
		}
	}
	table := s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results?format=csv", "").body
	heading, _, _ := strings.Cut(string(table), "\n")
	if !strings.Contains(heading, ",of_floor,") || !strings.Contains(string(table), ",0.25,") {
		t.Errorf("as CSV:\n%s", table)
	}
	if text := s.ask(http.MethodGet, "/v1/runs/"+run.ID+"/results?format=markdown", "").body; !strings.Contains(string(text), "25.00 % of its floor") {
		t.Errorf("as Markdown:\n%s", text)
	}
}

// TestServersByParameter: a request is told over HTTP what its other parameters need, and the
// list of kernels says it beforehand.
func TestServersByParameter(t *testing.T) {
	t.Parallel()
	s := start(t, withCarrier)
	s.hostServing("blue", true, nil, map[string]string{"liner": "ship", "web": "http"})
	for _, row := range []struct{ name, params, code, says string }{
		{"no server of ours", `{"by":"ship"}`, "bad_service", "--service NAME=ship://HOST:PORT"},
		{"a service of another scheme", `{"by":"mail","at":"liner"}`, "bad_service", `an address of the scheme mail where by is mail; that of "liner" is of the scheme ship`},
		{"a service of no carrier", `{"at":"web"}`, "bad_service", `that of "web" is of the scheme http`},
		{"no service outside", `{"by":"hand","at":"liner"}`, "bad_service", `can only be "embedded" where by is hand`},
	} {
		p := s.ask(http.MethodPost, "/v1/runs", `{"cases":[{"kernel":"post.carry","params":`+row.params+`}]}`).problem(t)
		if p.Status != http.StatusUnprocessableEntity || p.Code != row.code || !strings.Contains(p.Detail, row.says) {
			t.Errorf("%s: %d %s %q", row.name, p.Status, p.Code, p.Detail)
		}
	}
	if n := s.stored(); n != 0 {
		t.Errorf("%d runs were stored", n)
	}
	list := read[bench.KernelList](t, s.ask(http.MethodGet, "/v1/kernels", ""), http.StatusOK)
	k := list.Kernels[len(list.Kernels)-1]
	if at := k.Params[1]; at.Of != "by" || at.Servers["ship"].Embedded || !at.Servers["hand"].Embedded || at.Servers["mail"].Schemes[0] != "mail" {
		t.Errorf("%+v", at)
	}
}
