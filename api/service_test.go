package api_test

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/api"
	"benchd/api/store"
	"benchd/openapi"
	"benchd/worker/bench"
	"benchd/worker/queue"
)

func TestCatalog(t *testing.T) {
	s := start(t)
	list := read[bench.KernelList](t, s.ask(http.MethodGet, "/v1/kernels", ""), http.StatusOK)
	if d := cmp.Diff(bench.DescribeKernels(bench.NewCatalog(families())), list); d != "" {
		t.Error(d)
	}
	suites := read[bench.SuiteList](t, s.ask(http.MethodGet, "/v1/suites", ""), http.StatusOK)
	if d := cmp.Diff(bench.Suites(), suites.Suites); d != "" {
		t.Error(d)
	}
}

func TestHosts(t *testing.T) {
	s := start(t)
	if list := read[bench.HostList](t, s.ask(http.MethodGet, "/v1/hosts", ""), http.StatusOK); list.Hosts == nil || len(list.Hosts) != 0 {
		t.Errorf("hosts %v, not an empty list", list.Hosts)
	}
	for _, name := range []string{"blue", "a host/of 100% grün"} {
		s.saveHost(name, true, bench.DefaultLimits(4), map[string]string{"zone": "a"})
	}
	if list := read[bench.HostList](t, s.ask(http.MethodGet, "/v1/hosts", ""), http.StatusOK); len(list.Hosts) != 2 {
		t.Errorf("hosts %v", list.Hosts)
	}
	if h := read[bench.Host](t, s.ask(http.MethodGet, "/v1/hosts/blue", ""), http.StatusOK); h.Name != "blue" || h.Labels["zone"] != "a" {
		t.Errorf("%+v", h)
	}
	if h := read[bench.Host](t, s.ask(http.MethodGet, "/v1/hosts/a%20host%2Fof%20100%25%20gr%C3%BCn", ""), http.StatusOK); h.Live != true {
		t.Errorf("%+v", h)
	}
}

// TestNewHostIsKnownAtOnce: the list of hosts that posts look at is kept for a moment, but
// never so that a host which is there is refused.
func TestNewHostIsKnownAtOnce(t *testing.T) {
	s := start(t)
	const body = `{"cases":[{"kernel":"soap.echo"}],"hosts":{"names":["blue"]}}`
	if p := s.ask(http.MethodPost, "/v1/runs", body).problem(t); p.Code != "unknown_host" || !strings.Contains(p.Detail, "start a worker") {
		t.Errorf("%+v", p)
	}
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	s.post(body)
}

func TestHealth(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if h := read[bench.Health](t, s.ask(http.MethodGet, path, ""), http.StatusOK); h.Status != "ok" {
			t.Errorf("%s: %+v", path, h)
		}
	}
	s.redis.Close()
	a := s.ask(http.MethodGet, "/readyz", "")
	if p := a.problem(t); p.Status != http.StatusServiceUnavailable || p.Code != "redis_unavailable" || a.Header.Get("Retry-After") == "" {
		t.Errorf("without Redis: %+v", p)
	}
	read[bench.Health](t, s.ask(http.MethodGet, "/healthz", ""), http.StatusOK)
	s.post(simple) // the store is the truth: a run is taken while Redis is away
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if p := s.ask(http.MethodGet, "/readyz", "").problem(t); p.Code != "store_unavailable" {
		t.Errorf("without the store: %+v", p)
	}
	if p := s.ask(http.MethodPost, "/v1/runs", simple).problem(t); p.Status < 500 || strings.Contains(p.Detail, "sql") {
		t.Errorf("posted without the store: %+v", p)
	}
}

func TestMetrics(t *testing.T) {
	s := start(t)
	s.post(simple)
	s.ask(http.MethodGet, "/v1/runs/none", "")
	s.ask(http.MethodGet, "/nowhere/at/all", "")
	s.ask("BREW", "/v1/runs", "")
	text := string(s.ask(http.MethodGet, "/metrics", "").body)
	for _, line := range []string{
		`benchd_http_requests_total{method="POST",route="/v1/runs",status="202"} 1`,
		`benchd_http_requests_total{method="GET",route="/v1/runs/:id",status="404"} 1`,
		`benchd_http_requests_total{method="other",route="`,
		`benchd_http_request_duration_seconds_count{method="POST",route="/v1/runs"} 1`,
		`benchd_runs{state="queued"} 1`, `benchd_trials{state="queued"} 1`, `benchd_runs{state="lost"} 0`,
		`benchd_up{part="store"} 1`, `benchd_up{part="redis"} 1`, `version="test"`, `go_goroutines`,
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s", line)
		}
	}
	for _, secret := range []string{"nowhere", "BREW"} {
		if strings.Contains(text, secret) {
			t.Errorf("a client's word %q became a label", secret)
		}
	}
}

// TestMetricsWithoutRedis: what is away shows as away, the rest is shown.
func TestMetricsWithoutRedis(t *testing.T) {
	s := start(t)
	s.redis.Close()
	text := string(s.ask(http.MethodGet, "/metrics", "").body)
	for _, line := range []string{`benchd_up{part="store"} 1`, `benchd_up{part="redis"} 0`, `benchd_runs{state="queued"} 0`} {
		if !strings.Contains(text, line) {
			t.Errorf("no %s", line)
		}
	}
}

func TestDocument(t *testing.T) {
	s := start(t)
	for path, want := range map[string][]byte{"/openapi.json": openapi.JSON(), "/openapi.yaml": openapi.YAML()} {
		a := s.ask(http.MethodGet, path, "")
		if a.StatusCode != http.StatusOK || string(a.body) != string(want) || len(want) < 1000 {
			t.Errorf("%s: status %d, %d bytes", path, a.StatusCode, len(a.body))
		}
	}
}

// TestDocsWorkOffline: everything that the page names comes from the service, and its policy
// lets no script stand in the page.
func TestDocsWorkOffline(t *testing.T) {
	s := start(t)
	page := s.ask(http.MethodGet, "/docs", "")
	policy := page.Header.Get("Content-Security-Policy")
	if page.StatusCode != http.StatusOK || !strings.Contains(policy, "default-src 'none'; script-src 'self';") {
		t.Errorf("status %d, policy %q", page.StatusCode, policy)
	}
	if strings.Contains(string(page.body), "http") || strings.Contains(string(page.body), "<script>") {
		t.Errorf("the page names another place or holds a script:\n%s", page.body)
	}
	files := 0
	for part := range strings.SplitSeq(string(page.body), `"`) {
		if !strings.HasPrefix(part, "docs/") {
			continue
		}
		files++
		for _, encoding := range []string{"gzip", "identity"} {
			a := s.ask(http.MethodGet, "/"+part, "", with("Accept-Encoding", encoding))
			packed := a.Header.Get("Content-Encoding") == "gzip"
			if a.StatusCode != http.StatusOK || len(a.body) == 0 || packed && encoding != "gzip" {
				t.Errorf("%s: status %d, %d bytes, packed %v", part, a.StatusCode, len(a.body), packed)
			}
		}
	}
	if files != 5 {
		t.Errorf("the page names %d files", files)
	}
}

// TestHeaders: what every answer carries, success or not.
func TestHeaders(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/v1/kernels", "/v1/nothing", "/healthz"} {
		a := s.ask(http.MethodGet, path, "", with("X-Request-Id", "mine-7"), with("Origin", "http://evil.example"))
		for name, want := range map[string]string{
			"X-Request-Id": "mine-7", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cache-Control": "no-store", "Access-Control-Allow-Origin": "", "Server": "",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s %q, not %q", path, name, got, want)
			}
		}
	}
	a := s.ask(http.MethodGet, "/healthz", "", with("X-Request-Id", "a b\"c"))
	if got := a.Header.Get("X-Request-Id"); got == "" || strings.Contains(got, " ") {
		t.Errorf("request id %q", got)
	}
}

func TestHeadAndOptions(t *testing.T) {
	s := start(t)
	get := s.ask(http.MethodGet, "/v1/kernels", "")
	head := s.ask(http.MethodHead, "/v1/kernels", "")
	if head.StatusCode != http.StatusOK || len(head.body) != 0 || head.ContentLength != int64(len(get.body)) {
		t.Errorf("HEAD: status %d, %d bytes, length %d", head.StatusCode, len(head.body), head.ContentLength)
	}
	options := s.ask(http.MethodOptions, "/v1/runs", "")
	for _, m := range []string{"GET", "HEAD", "POST"} {
		if !strings.Contains(options.Header.Get("Allow"), m) {
			t.Errorf("OPTIONS: status %d, Allow %q", options.StatusCode, options.Header.Get("Allow"))
		}
	}
}

func TestNoPage(t *testing.T) {
	s := start(t)
	if p := s.ask(http.MethodGet, "/", "").problem(t); p.Code != "unknown_path" {
		t.Errorf("%+v", p)
	}
	s = start(t, func(c *api.Config) {
		c.Page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("the page at " + r.URL.Path)) })
	})
	for _, path := range []string{"/", "/ui/style.css"} {
		res, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", path, res.StatusCode)
		}
	}
}

// broken is a store whose every answer is a fault.
type broken struct {
	*store.Store
	fault func() error
}

func (b broken) Run(context.Context, string) (bench.Run, error) { return bench.Run{}, b.fault() }

// TestFaultsStayInside: what went wrong is in the log under the request's id, and nothing
// of it reaches the client.
func TestFaultsStayInside(t *testing.T) {
	const secret = "password=hunter2"
	for _, row := range []struct {
		name  string
		fault func() error
	}{
		{"an error", func() error { return errors.New("dial tcp: " + secret) }},
		{"an internal error with a sentence", func() error { return bench.Errorf(bench.InternalKind, "oops", secret) }},
		{"a panic", func() error { panic(secret) }},
		{"a panic with an error", func() error { panic(errors.New(secret)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := start(t, func(c *api.Config) { c.Runs = broken{fault: row.fault} })
			p := s.ask(http.MethodGet, "/v1/runs/0192f3a4-7b1c-7def-8a01-23456789abcd", "", with("X-Request-Id", "req-42")).problem(t)
			if p.Status != http.StatusInternalServerError || p.Code != "internal" || p.RequestID != "req-42" || strings.Contains(p.Detail, "hunter2") {
				t.Errorf("%+v", p)
			}
			if log := s.log.String(); !strings.Contains(log, "hunter2") || !strings.Contains(log, "req-42") {
				t.Errorf("the log: %s", log)
			}
		})
	}
}

// infinite is a store whose run is not fit for JSON.
type infinite struct{ *store.Store }

func (infinite) Run(context.Context, string) (bench.Run, error) {
	return bench.Run{State: bench.Succeeded, Spec: bench.Spec{Plan: bench.Plan{Confidence: math.Inf(1)}}}, nil
}

func TestNoInfinity(t *testing.T) {
	s := start(t, func(c *api.Config) { c.Runs = infinite{} })
	if p := s.ask(http.MethodGet, "/v1/runs/0192f3a4-7b1c-7def-8a01-23456789abcd", "").problem(t); p.Code != "internal" {
		t.Errorf("%+v", p)
	}
}

// stuck is a queue that does not answer.
type stuck struct{}

func (stuck) Phases(ctx context.Context, _ []string) (map[string]bench.Phase, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Depth(ctx context.Context) (map[string]queue.Depth, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Ping(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestStuckRedis: a Redis that hangs delays an answer by seconds, and no more.
func TestStuckRedis(t *testing.T) {
	s := start(t, func(c *api.Config) { c.Queue = stuck{} })
	begin := time.Now()
	if p := s.ask(http.MethodGet, "/readyz", "").problem(t); p.Code != "redis_unavailable" {
		t.Errorf("%+v", p)
	}
	if a := s.ask(http.MethodGet, "/metrics", ""); a.StatusCode != http.StatusOK {
		t.Errorf("status %d", a.StatusCode)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestClientGone: a client that goes while it waits leaves nothing waiting.
func TestClientGone(t *testing.T) {
	s := start(t)
	run := s.post(simple)
	ctx, cancel := context.WithCancel(t.Context())
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/runs/"+run.ID+"?wait=60s", nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.server.ServeHTTP(httptest.NewRecorder(), req)
	}()
	cancel()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the handler goes on waiting")
	}
	if log := s.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("the log: %s", log)
	}
}

// TestServe: a server that shall end lets a request under way finish and returns nil.
func TestServe(t *testing.T) {
	s := start(t)
	run := s.post(simple)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(ctx, l) }()
	url := "http://" + l.Addr().String() + "/v1/runs/" + run.ID
	transport := new(http.Transport)
	client := &http.Client{Transport: transport}
	answered := make(chan int, 1)
	go func() {
		res, err := client.Get(url + "?wait=60s")
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		res.Body.Close()
		answered <- res.StatusCode
	}()
	time.Sleep(100 * time.Millisecond)
	cancel()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end")
	}
	if status := <-answered; status != http.StatusOK {
		t.Errorf("the request under way got status %d", status)
	}
	transport.CloseIdleConnections()
	if err := s.server.Serve(t.Context(), l); err == nil {
		t.Error("a closed listener was served")
	}
}
