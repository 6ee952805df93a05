package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/api"
	"benchd/kernels"
	"benchd/worker/bench"
)

// withServer offers a kernel that can be measured at a service.
func withServer(c *api.Config) {
	web := kernel{kernels.Info{
		Name: "web.get", Title: "Gets.", Operation: "one get", Unit: "call/s", Noun: "call",
		Params: []kernels.Param{{Name: "server", Doc: "Who answers.", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"http", "https"}}},
	}}
	c.Catalog = bench.NewCatalog(append(families(), kernels.Family{Name: "web", Title: "Gets.", Kernels: []kernels.Kernel{web}}))
}

// hostServing makes a host with services known.
func (s *service) hostServing(name string, live bool, labels, services map[string]string) {
	s.t.Helper()
	h := bench.Host{Name: name, Live: live, Limits: bench.DefaultLimits(4), Labels: labels, Services: services, Version: "test", LastSeen: time.Now(), Snapshot: snapshot()}
	if err := s.store.SaveHost(s.t.Context(), h); err != nil {
		s.t.Fatal(err)
	}
}

// TestEveryService: what is stored and shown names the services.
func TestEveryService(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, hosts string
		want        []string // servers of the trials; nil when it is refused
	}{
		{"of the live host that has the most", `{}`, []string{"embedded", "axis", "mine"}},
		{"of those with the label", `{"labels":{"zone":"b"}}`, []string{"embedded", "other"}},
		{"of a named host", `{"names":["green"]}`, []string{"embedded", "other"}},
		{"of named hosts, what each has", `{"names":["blue","amber"]}`, []string{"embedded", "mine", "embedded", "mine"}},
		{"of a named host that is away", `{"names":["amber"]}`, []string{"embedded", "axis", "gone", "mine"}},
		{"of hosts with a label that nobody has", `{"labels":{"zone":"z"}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, withServer)
			s.hostServing("amber", false, nil, map[string]string{"mine": "http", "gone": "http", "axis": "http", "away": "amqp"})
			s.hostServing("blue", true, map[string]string{"zone": "a"}, map[string]string{"mine": "http", "axis": "https", "mq": "amqp"})
			s.hostServing("green", true, map[string]string{"zone": "b"}, map[string]string{"other": "http"})
			body := `{"cases":[{"kernel":"web.get","params":{"server":"every"}}],"hosts":` + tt.hosts + `}`
			if tt.want == nil {
				p := s.ask(http.MethodPost, "/v1/runs", body).problem(t)
				if p.Status != http.StatusUnprocessableEntity || p.Code != "no_services" || p.Errors[0].Pointer != "/cases/0/params/server" {
					t.Errorf("%+v", p)
				}
				return
			}
			run := s.post(body)
			var got []string
			for _, tr := range run.Trials {
				got = append(got, tr.Params["server"])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("the trials are at %v, want %v", got, tt.want)
			}
			if asked := run.Spec.Cases[0].Params["server"]; slices.Contains(asked, bench.Every) {
				t.Errorf("the stored request asks for %v", asked)
			}
			if again := s.post(mustJSON(t, run.Spec)); len(again.Trials) != len(run.Trials) {
				t.Errorf("posted again it has %d trials, not %d", len(again.Trials), len(run.Trials))
			}
		})
	}
}

// TestSmuggledAddress: a request can bring no address, no path and no command, and what is
// refused is not stored.
func TestSmuggledAddress(t *testing.T) {
	t.Parallel()
	s := start(t, withServer)
	s.hostServing("blue", true, map[string]string{}, map[string]string{"mine": "http"})
	for _, value := range []string{
		`"http://127.0.0.1:1/"`, `"mine=http://127.0.0.1:1/"`, `"127.0.0.1:80"`, `"//evil"`, `"/etc/passwd"`, `"mine#ca=AAAA"`, `"$(id)"`, `"mine\n"`, `7`, `true`, `["mine","http://a/"]`,
	} {
		p := s.ask(http.MethodPost, "/v1/runs", `{"cases":[{"kernel":"web.get","params":{"server":`+value+`}}]}`).problem(t)
		if p.Status != http.StatusUnprocessableEntity || p.Code != "bad_service" {
			t.Errorf("%s: %+v", value, p)
		}
	}
	for _, name := range []string{"_addr", "_listen"} {
		p := s.ask(http.MethodPost, "/v1/runs", `{"cases":[{"kernel":"web.get","params":{"`+name+`":"http://127.0.0.1:1/"}}]}`).problem(t)
		if p.Status != http.StatusUnprocessableEntity || p.Code != "unknown_param" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if n := s.stored(); n != 0 {
		t.Errorf("%d runs were stored", n)
	}
}

// TestServicesAreListed: hosts tell names and schemes, kernels the schemes that they use.
func TestServicesAreListed(t *testing.T) {
	t.Parallel()
	s := start(t, withServer)
	s.hostServing("blue", true, map[string]string{}, map[string]string{"mine": "http"})
	s.hostServing("green", true, map[string]string{}, nil)
	hosts := read[bench.HostList](t, s.ask(http.MethodGet, "/v1/hosts", ""), http.StatusOK).Hosts
	if hosts[0].Services["mine"] != "http" || len(hosts[1].Services) != 0 {
		t.Errorf("%v and %v", hosts[0].Services, hosts[1].Services)
	}
	text := s.ask(http.MethodGet, "/v1/kernels", "").body
	if !strings.Contains(string(text), `"kind":"service","default":"embedded","schemes":["http","https"]`) {
		t.Errorf("the list of kernels says %s", text)
	}
}
