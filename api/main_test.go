package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"go.uber.org/goleak"

	"benchd/api"
	"benchd/api/references"
	"benchd/api/store"
	"benchd/kernels"
	"benchd/openapi"
	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kernel is a kernel that can be asked for but not opened: the API never measures.
type kernel struct{ info kernels.Info }

func (k kernel) Info() kernels.Info { return k.info }

func (kernel) Open(context.Context, kernels.Params) (kernels.Trial, error) {
	return nil, errors.New("the API opened a kernel")
}

// families are what these tests' service offers: one kernel with each kind of parameter,
// and two that make a composite.
func families() []kernels.Family {
	size := kernels.Param{Name: "size", Doc: "How large.", Kind: kernels.Word, Default: "small", Values: []string{"small", "large"}}
	threads := kernels.Param{Name: "threads", Doc: "How many threads.", Kind: kernels.Int, Default: "1", Min: 1, Max: 1024}
	mark := func(name string) kernels.Kernel {
		return kernel{kernels.Info{
			Name: "scimark." + name, Title: "Arithmetic.", Operation: "one cycle", Unit: "Mflop/s", Noun: "cycle",
			Lanes: "threads", Composite: "scimark", Params: []kernels.Param{size, threads},
		}}
	}
	echo := kernel{kernels.Info{
		Name: "soap.echo", Title: "Calls.", Operation: "one call", Unit: "call/s", Noun: "call", Lanes: "clients",
		Params: []kernels.Param{
			{Name: "model", Doc: "How it is read.", Kind: kernels.Word, Default: "stream", Values: []string{"stream", "dom"}},
			{Name: "size", Doc: "How large.", Kind: kernels.Size, Default: "1KB", Min: 1 << 10, Max: 1 << 30},
			{Name: "clients", Doc: "How many clients.", Kind: kernels.Int, Default: "1", Min: 1, Max: 100000},
			{Name: "keepalive", Doc: "Whether connections are kept.", Kind: kernels.Bool, Default: "true"},
		},
	}}
	return []kernels.Family{
		{Name: "scimark", Title: "Numbers.", Kernels: []kernels.Kernel{mark("fft"), mark("lu")}},
		{Name: "soap", Title: "Calls.", Kernels: []kernels.Kernel{echo}},
	}
}

// A service is an API with a real store and a real queue behind it.
type service struct {
	*httptest.Server
	t      testing.TB
	store  *store.Store
	queue  *queue.Queue
	redis  *embedded.Redis
	server *api.Server
	log    *strings.Builder
	path   string // of the database
	build  string // of the workers that report from now on, if it is another one
}

// start starts a service; change may alter what it is made of.
func start(tb testing.TB, change ...func(*api.Config)) *service {
	tb.Helper()
	s := &service{t: tb, log: new(strings.Builder), path: filepath.Join(tb.TempDir(), "benchd.db")}
	logger := slog.New(slog.NewTextHandler(&lockedWriter{w: s.log}, nil))
	var err error
	if s.store, err = store.Open(tb.Context(), s.path, logger); err != nil {
		tb.Fatal(err)
	}
	if s.redis, err = embedded.Start(context.WithoutCancel(tb.Context())); err != nil {
		tb.Fatal(err)
	}
	if s.queue, err = queue.Open(tb.Context(), queue.Options{URL: s.redis.URL(), Logger: logger, Embedded: true}); err != nil {
		tb.Fatal(err)
	}
	c := api.Config{
		Runs: s.store, Results: s.store, Past: s.store, References: articles(tb), Hosts: s.store, Watch: s.store, Count: s.store, Queue: s.queue,
		Catalog: bench.NewCatalog(families()), Limits: bench.DefaultLimits(4), Logger: logger, Version: "test",
	}
	for _, f := range change {
		f(&c)
	}
	s.server = api.New(c)
	s.Server = httptest.NewUnstartedServer(s.server)
	s.Config = s.server.HTTPServer()
	s.Start()
	tb.Cleanup(s.stop)
	return s
}

func (s *service) stop() {
	s.server.Close()
	s.Client().CloseIdleConnections()
	s.Close()
	if err := errors.Join(s.queue.Close(), s.store.Close()); err != nil {
		s.t.Error(err)
	}
	s.redis.Close()
}

type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write appends to the log.
func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// An answer is what a request got.
type answer struct {
	*http.Response
	body []byte
}

func (a answer) problem(tb testing.TB) bench.Problem {
	tb.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		tb.Errorf("a failure of type %q: %s", got, a.body)
	}
	var p bench.Problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		tb.Fatalf("a problem that is no JSON: %v: %s", err, a.body)
	}
	if p.Status != a.StatusCode || p.Title == "" || p.Detail == "" || p.Type != "about:blank" {
		tb.Errorf("status %d came with the problem %+v", a.StatusCode, p)
	}
	return p
}

func read[T any](tb testing.TB, a answer, status int) T {
	tb.Helper()
	var v T
	if a.StatusCode != status {
		tb.Fatalf("status %d, not %d: %s", a.StatusCode, status, a.body)
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		tb.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// A change alters a request before it is sent.
type change func(*http.Request)

func with(name, value string) change {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// ask sends a request and checks the answer against the document.
func (s *service) ask(method, path, body string, changes ...change) answer {
	s.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	return s.send(method, path, in, changes...)
}

func (s *service) send(method, path string, in io.Reader, changes ...change) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, f := range changes {
		f(req)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	a := answer{Response: res}
	if a.body, err = io.ReadAll(res.Body); err != nil {
		s.t.Fatal(err)
	}
	checkDocument(s.t, req, a)
	return a
}

// post posts a run that must be taken.
func (s *service) post(body string, changes ...change) bench.Run {
	s.t.Helper()
	return read[bench.Run](s.t, s.ask(http.MethodPost, "/v1/runs", body, changes...), http.StatusAccepted)
}

// stored counts the runs in the store.
func (s *service) stored() int64 {
	s.t.Helper()
	counts, _, err := s.store.Counts(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	var n int64
	for _, c := range counts {
		n += c
	}
	return n
}

// saveHost makes a host known.
func (s *service) saveHost(name string, live bool, limits bench.Limits, labels map[string]string) {
	s.t.Helper()
	h := bench.Host{Name: name, Live: live, Limits: limits, Labels: labels, Version: "test", LastSeen: time.Now(), Snapshot: snapshot()}
	if err := s.store.SaveHost(context.Background(), h); err != nil {
		s.t.Fatal(err)
	}
}

func snapshot() bench.HostSnapshot {
	return bench.HostSnapshot{
		Fingerprint: "0011223344556677", Facts: bench.Facts{CPUModel: "a CPU", Threads: 4, OS: "linux", Arch: "amd64", ArchLevel: "v1", Go: "go1.26", Build: "test"},
		Volatile: bench.Volatile{At: time.Now().UTC()}, Unknown: map[string]string{"mhz": "not told"},
	}
}

// document is the validator made from the committed document, with every schema closed: a
// field of an answer that the document does not name is an error, as is one that it names
// and that is missing.
var document = sync.OnceValues(func() (validator.Validator, error) {
	var tree map[string]any
	if err := json.Unmarshal(openapi.JSON(), &tree); err != nil {
		return nil, err
	}
	for _, s := range tree["components"].(map[string]any)["schemas"].(map[string]any) {
		schema := s.(map[string]any)
		if _, open := schema["additionalProperties"]; !open && schema["properties"] != nil {
			schema["additionalProperties"] = false
		}
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	doc, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	v, errs := validator.NewValidator(doc, config.WithFormatAssertions())
	return v, errors.Join(errs...)
})

// undescribed are the paths that the document leaves out: itself, and the pages over it.
func undescribed(r *http.Request, a answer) bool {
	p := r.URL.Path
	return strings.HasPrefix(p, "/openapi.") || strings.HasPrefix(p, "/docs") || r.Method == http.MethodHead || r.Method == http.MethodOptions ||
		a.StatusCode == http.StatusMethodNotAllowed || strings.Contains(string(a.body), `"unknown_path"`)
}

// checkDocument replays an answer against the OpenAPI document, and the request too where
// it was taken.
func checkDocument(tb testing.TB, r *http.Request, a answer) {
	tb.Helper()
	if undescribed(r, a) {
		return
	}
	v, err := document()
	if err != nil {
		tb.Fatal(err)
	}
	res := *a.Response
	res.Body = io.NopCloser(strings.NewReader(string(a.body)))
	req := r.Clone(context.Background())
	ok, wrong := v.ValidateHttpResponse(req, &res)
	if ok && a.StatusCode < http.StatusBadRequest && replayable(tb, req, r) {
		ok, wrong = v.ValidateHttpRequest(req)
	}
	if ok {
		return
	}
	for _, w := range wrong {
		tb.Errorf("%s %s: the document says otherwise: %s: %s", r.Method, r.URL, w.Message, w.Reason)
		for _, s := range w.SchemaValidationErrors {
			tb.Errorf("  %s: %s", s.FieldPath, s.Reason)
		}
	}
	tb.Logf("the answer: %s", a.body)
}

// replayable gives a copy of a request its body again. A body in chunks is gone, and one
// without a type is taken though the document asks for a type.
func replayable(tb testing.TB, again, sent *http.Request) bool {
	tb.Helper()
	if sent.Body == nil {
		return true
	}
	if sent.GetBody == nil || sent.Header.Get("Content-Type") == "" {
		return false
	}
	var err error
	if again.Body, err = sent.GetBody(); err != nil {
		tb.Fatal(err)
	}
	return true
}

// articles are the published figures.
func articles(tb testing.TB) *references.Set {
	tb.Helper()
	set, err := references.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return set
}
