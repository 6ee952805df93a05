package api

import (
	"context"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"benchd/worker/bench"
)

// metrics are what /metrics shows. The registry is the server's own, so that two servers in
// one process do not mix.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(c Config) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "benchd_http_requests_total", Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "benchd_http_request_duration_seconds", Help: "Time to answer, long polls included, by route and method.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 60},
		}, []string{"route", "method"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "benchd_build_info", Help: "Always 1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": c.Version, "revision": revision(), "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.duration, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newInventory(c))
	return m
}

// revision is the commit the binary was built from, where the build recorded it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func (m *metrics) request(route, method, status string, took time.Duration) {
	m.requests.WithLabelValues(route, method, status).Inc()
	m.duration.WithLabelValues(route, method).Observe(took.Seconds())
}

// scrape gives the metrics.
//
//	@Summary	Metrics for Prometheus
//	@ID				metrics
//	@Tags		service
//	@Produce	plain
//	@Success	200	{string}	string	"the text format 0.0.4"
//	@Failure	422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Router		/metrics [get]
func (s *Server) scrape(c echo.Context) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: promLog{s.config.Logger}, DisableCompression: true,
	}).ServeHTTP(c.Response(), c.Request())
	return nil
}

// promLog writes the exporter's complaints to our log.
type promLog struct{ logger *slog.Logger }

// Println logs one complaint.
func (l promLog) Println(v ...any) {
	l.logger.Warn("metrics", slog.Any("error", v))
}

// inventoryFresh is how long counts are shown again: counting a large store takes a while,
// and several scrapers shall not multiply it.
const inventoryFresh = 5 * time.Second

// inventory counts what the store and Redis hold, when it is asked. A part that is away
// shows as benchd_up 0 and leaves out its own figures only.
type inventory struct {
	config Config
	desc   map[string]*prometheus.Desc

	mu    sync.Mutex
	read  time.Time
	shown []prometheus.Metric
}

func newInventory(c Config) *inventory {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("benchd_"+name, help, labels, nil)
	}
	return &inventory{config: c, desc: map[string]*prometheus.Desc{
		"runs":   desc("runs", "Runs in the store, by state.", "state"),
		"trials": desc("trials", "Trials in the store, by state.", "state"),
		"tasks":  desc("queue_tasks", "Tasks in each queue, by whether they wait or are worked on.", "queue", "host", "state"),
		"oldest": desc("queue_oldest_seconds", "Age of the task that waits longest in each queue.", "queue", "host"),
		"up":     desc("up", "Whether a part of the service answers.", "part"),
	}}
}

// Describe names the figures.
func (v *inventory) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range v.desc {
		ch <- d
	}
}

// Collect counts, or shows what was counted a moment ago.
func (v *inventory) Collect(ch chan<- prometheus.Metric) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if age := v.config.Now().Sub(v.read); age < 0 || age >= inventoryFresh || v.shown == nil {
		ctx, cancel := context.WithTimeout(context.Background(), readyPatience)
		v.shown = append(v.fromStore(ctx), v.fromQueue(ctx)...)
		v.read = v.config.Now()
		cancel()
	}
	for _, m := range v.shown {
		ch <- m
	}
}

func (v *inventory) gauge(name string, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(v.desc[name], prometheus.GaugeValue, value, labels...)
}

func (v *inventory) fromStore(ctx context.Context) []prometheus.Metric {
	runs, trials, err := v.config.Count.Counts(ctx)
	if err != nil {
		v.config.Logger.Warn("cannot count runs for the metrics", slog.Any("error", err))
		return []prometheus.Metric{v.gauge("up", 0, "store")}
	}
	out := []prometheus.Metric{v.gauge("up", 1, "store")}
	for _, s := range bench.States() {
		out = append(out, v.gauge("runs", float64(runs[s]), string(s)), v.gauge("trials", float64(trials[s]), string(s)))
	}
	return out
}

func (v *inventory) fromQueue(ctx context.Context) []prometheus.Metric {
	depths, err := v.config.Queue.Depth(ctx)
	if err != nil {
		v.config.Logger.Warn("cannot measure the queues for the metrics", slog.Any("error", err))
		return []prometheus.Metric{v.gauge("up", 0, "redis")}
	}
	out := []prometheus.Metric{v.gauge("up", 1, "redis")}
	for name, d := range depths {
		kind, host, _ := strings.Cut(name, ".")
		out = append(out, v.gauge("tasks", float64(d.Pending), kind, host, "pending"),
			v.gauge("tasks", float64(d.Active), kind, host, "active"), v.gauge("oldest", d.Oldest.Seconds(), kind, host))
	}
	return out
}
