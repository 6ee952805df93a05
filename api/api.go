// Package api is how a run is asked for and shown: the HTTP interface of benchd.
//
// It checks a request, writes the run to the store, and shows how far it is. It never
// measures, and it never waits for the queue: the collector carries runs to the hosts.
// Every answer that is not a success is a problem of RFC 9457; the shapes of requests and
// answers are those of worker/bench. The comments with an @ on the handlers are the source
// of the OpenAPI document (see openapi/gen).
package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"benchd/api/references"
	"benchd/api/store"
	"benchd/worker/bench"
	"benchd/worker/queue"
)

// A RunStore keeps runs. Its errors for users are *bench.Error, as api/store makes them.
type RunStore interface {
	// CreateRun stores a run, or finds the one that was stored with the same key and body.
	CreateRun(ctx context.Context, n store.NewRun) (run bench.Run, existed bool, err error)
	// Run gives a run with its trials, or unknown_run.
	Run(ctx context.Context, id string) (bench.Run, error)
	// Runs gives one page of runs without their trials and the cursor of the next.
	Runs(ctx context.Context, f store.Filter) (runs []bench.Run, next string, err error)
	// CancelRun asks for a run's cancellation and sees to it that its hosts learn of it, or
	// says final_state.
	CancelRun(ctx context.Context, id string, why bench.CancelReason) (bench.Run, error)
}

// A HostStore keeps the hosts that were ever seen.
type HostStore interface {
	Hosts(ctx context.Context) ([]bench.Host, error)
}

// A ResultStore keeps what was measured.
type ResultStore interface {
	// Result gives a final run's result without its composites, or not_finished, or
	// unknown_run.
	Result(ctx context.Context, id string) (bench.Result, error)
}

// A PastStore finds what runs measured before, by case and host.
type PastStore interface {
	// History gives the series that fit, with their newest points, oldest first.
	History(ctx context.Context, f store.SeriesFilter) (series []bench.HistorySeries, more bool, err error)
	// Leaders gives the best score of each series that fits, as a series of one point.
	Leaders(ctx context.Context, f store.SeriesFilter) (best []bench.HistorySeries, more bool, err error)
	// Past gives scores by which the noise of a case can be told, the newest first.
	Past(ctx context.Context, k store.PastKey) (scores []store.PastScore, calibrated bool, err error)
}

// A Watcher wakes those who wait for a run.
type Watcher interface {
	// Watch gives a channel that receives after this process changed the run; stop ends it.
	Watch(id string) (changed <-chan struct{}, stop func())
	// Version gives a number that grows with each change of a run, by whatever process.
	Version(ctx context.Context, id string) (int64, error)
}

// A Counter counts what the store holds, for the metrics.
type Counter interface {
	// Counts gives the number of runs and of trials in each state.
	Counts(ctx context.Context) (runs, trials map[bench.State]int64, err error)
	// Ping tells whether the store is there.
	Ping(ctx context.Context) error
}

// A Queue is what the API needs of Redis: it shows more while Redis is there, and takes and
// shows runs without it.
type Queue interface {
	// Phases tells what running trials do now.
	Phases(ctx context.Context, trials []string) (map[string]bench.Phase, error)
	// Depth tells how much waits in each queue.
	Depth(ctx context.Context) (map[string]queue.Depth, error)
	// Ping tells whether Redis is there.
	Ping(ctx context.Context) error
}

// A Config is what a Server is made of.
type Config struct {
	Runs    RunStore
	Results ResultStore
	Past    PastStore
	Hosts   HostStore
	Watch   Watcher
	Count   Counter
	Queue   Queue
	Catalog *bench.Catalog
	// References are the published figures that results are set beside; nil means none.
	References *references.Set
	// Limits bound requests while no host is known.
	Limits bench.Limits
	Logger *slog.Logger
	// Version is the binary's, for the metrics.
	Version string
	// Page answers "/" and what lies under "/ui/"; without it there are no such routes.
	Page http.Handler
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// document is where swag finds what the OpenAPI document says of the service as a whole.
//
//	@title						benchd
//	@version					1
//	@description				Measures how fast a machine is at real work. A run is posted, queued, measured on a host in processes of its own, and fetched as JSON. Times are RFC 3339 in UTC; durations are written like "30s" or "5m", sizes like "10KB" (1 KB = 1,024 bytes). What is not known is null, with a reason beside it. Every answer that is not a success is application/problem+json (RFC 9457) with a stable code.
//	@license.name				Apache-2.0
//	@license.url				https://www.apache.org/licenses/LICENSE-2.0
//	@tag.name					runs
//	@tag.description			Ask for runs, follow them, fetch what they measured.
//	@tag.name					figures
//	@tag.description			Compare results, follow them over time, and see what others got.
//	@tag.name					catalog
//	@tag.description			What can be asked for.
//	@tag.name					hosts
//	@tag.description			Who measures.
//	@tag.name					service
//	@tag.description			How the service itself is.

// A Server answers HTTP requests. It is an http.Handler; Serve runs it on a listener.
type Server struct {
	config  Config
	echo    *echo.Echo
	hosts   *hostCache
	metrics *metrics
	kernels []byte // the answers that never change, ready made
	suites  []byte
	closing chan struct{}
	once    sync.Once
}

// New makes a Server. It starts nothing in the background.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.References == nil {
		c.References = new(references.Set)
	}
	s := &Server{
		config:  c,
		echo:    echo.New(),
		hosts:   &hostCache{store: c.Hosts, now: c.Now},
		metrics: newMetrics(c),
		kernels: mustJSON(bench.DescribeKernels(c.Catalog)),
		suites:  mustJSON(bench.SuiteList{Suites: bench.Suites()}),
		closing: make(chan struct{}),
	}
	s.echo.HTTPErrorHandler = s.fail
	s.echo.Use(s.observe)
	s.routes()
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Close ends every waiting long poll: each answers with the run as it is.
func (s *Server) Close() { s.once.Do(func() { close(s.closing) }) }

// routes is the table of what can be asked.
func (s *Server) routes() {
	s.echo.POST("/v1/runs", s.postRun)
	s.get("/v1/runs", s.listRuns)
	s.get("/v1/runs/:id", s.getRun)
	s.echo.DELETE("/v1/runs/:id", s.cancelRun)
	s.get("/v1/runs/:id/results", s.getResult)
	s.get("/v1/compare", s.compare)
	s.get("/v1/history", s.history)
	s.get("/v1/leaderboard", s.leaderboard)
	s.get("/v1/references", s.listReferences)
	s.get("/v1/kernels", s.listKernels)
	s.get("/v1/suites", s.listSuites)
	s.get("/v1/hosts", s.listHosts)
	s.get("/v1/hosts/:name", s.getHost)
	s.get("/healthz", s.healthy)
	s.get("/readyz", s.ready)
	s.get("/metrics", s.scrape)
	s.get("/openapi.json", s.documentJSON)
	s.get("/openapi.yaml", s.documentYAML)
	s.get("/docs", s.docs)
	s.get("/docs/:file", s.docsFile)
	if s.config.Page != nil {
		page := echo.WrapHandler(s.config.Page)
		s.get("/", page)
		s.get("/ui/*", page)
	}
}

// get adds a route for GET and for HEAD, whose answer net/http sends without its body.
func (s *Server) get(path string, h echo.HandlerFunc) {
	s.echo.GET(path, h)
	s.echo.HEAD(path, h)
}
