package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/uuid"

	"benchd/api"
	"benchd/api/collect"
	"benchd/api/references"
	"benchd/api/store"
	"benchd/api/ui"
	"benchd/kernels/catalog"
	"benchd/worker"
	"benchd/worker/bench"
	"benchd/worker/host"
	"benchd/worker/queue"
	"benchd/worker/queue/embedded"
)

// apiFlags say where the API listens and where it keeps its runs.
type apiFlags struct {
	Addr     string `help:"Address to listen on; port 0 takes a free one." default:"127.0.0.1:8080" env:"BENCHD_ADDR"`
	Database string `help:"File of the SQLite database; by default benchd.db in the data folder." env:"BENCHD_DATABASE" placeholder:"FILE"`
}

// workerFlags say who the worker is and what it allows.
type workerFlags struct {
	serviceFlags
	Name      string            `help:"Name of this host; by default that of the machine." env:"BENCHD_NAME"`
	Label     map[string]string `help:"Labels of this host, by which a run can ask for it." placeholder:"NAME=VALUE" env:"BENCHD_LABELS" mapsep:","`
	Lock      string            `help:"File whose lock is this host's: one measurement at a time." default:"${lock}" env:"BENCHD_LOCK" placeholder:"FILE"`
	Clients   int               `help:"Most clients that a request may ask for." default:"256" env:"BENCHD_MAX_CLIENTS"`
	TrialTime time.Duration     `help:"Longest limit of a trial that a request may ask for." default:"1h" env:"BENCHD_MAX_TRIAL_TIME"`
	Bytes     int64             `help:"Largest size in bytes that a request may ask for." default:"67108864" env:"BENCHD_MAX_BYTES"`
	Memory    int64             `help:"Bytes of data a child process may have; 0 for no limit." default:"4294967296" env:"BENCHD_CHILD_MEMORY"`
}

// name is the host's name: the one given, or the machine's.
func (f workerFlags) name() (string, error) {
	if f.Name != "" {
		return f.Name, nil
	}
	name, err := os.Hostname()
	if err == nil {
		err = bench.CheckHost(name)
	}
	if err != nil {
		return "", fmt.Errorf("read this machine's name (give --name): %w", err)
	}
	return name, nil
}

// Validate checks the bounds, when the command line is read.
func (f workerFlags) Validate() error {
	if err := f.checkNames(); err != nil {
		return err
	}
	if _, err := f.addresses(); err != nil {
		return err
	}
	switch {
	case f.TrialTime < time.Second:
		return fmt.Errorf("--trial-time must be at least 1s, not %s", f.TrialTime)
	case f.Clients < 1 || f.Bytes < 1 || f.Memory < 0:
		return errors.New("--clients and --bytes must be at least 1, and --memory not negative")
	case f.Memory > 0 && f.Memory < minMemory:
		return fmt.Errorf("--memory must be at least %d bytes, which a child needs for itself, or 0 for no limit", minMemory)
	}
	return nil
}

// checkNames refuses names that could not be told apart or shown.
func (f workerFlags) checkNames() error {
	if f.Name != "" {
		if err := bench.CheckHost(f.Name); err != nil {
			return fmt.Errorf("--name: %w", err)
		}
	}
	for name, value := range f.Label {
		if err := bench.CheckLabel(name, value); err != nil {
			return fmt.Errorf("--label %q: %w", name+"="+value, err)
		}
	}
	return nil
}

// minMemory is what a child needs before it measures anything.
const minMemory = 128 << 20

func (f workerFlags) limits() bench.Limits {
	l := bench.DefaultLimits(runtime.NumCPU()) // threads on CPUs that the worker may use
	l.Clients, l.TrialTime, l.Bytes, l.CPUs = f.Clients, bench.Duration(f.TrialTime), f.Bytes, host.CPUList()
	return l
}

type serveCommand struct {
	apiFlags
	workerFlags
	Redis string `help:"URL of the Redis to use; without it one runs inside this process." env:"BENCHD_REDIS" placeholder:"URL"`
	Data  string `help:"Folder for the database and for results on their way." default:"data" env:"BENCHD_DATA" placeholder:"FOLDER"`
}

// Run serves until the process is told to end.
func (c serveCommand) Run(ctx context.Context, t terminal, log *slog.Logger) error {
	return service{api: &c.apiFlags, worker: &c.workerFlags, redis: c.Redis, data: c.Data, log: log}.run(ctx, t)
}

type apiCommand struct {
	apiFlags
	Redis string `help:"URL of the Redis that carries orders and results." required:"" env:"BENCHD_REDIS" placeholder:"URL"`
	Data  string `help:"Folder for the database." default:"data" env:"BENCHD_DATA" placeholder:"FOLDER"`
}

// Run serves until the process is told to end.
func (c apiCommand) Run(ctx context.Context, t terminal, log *slog.Logger) error {
	return service{api: &c.apiFlags, redis: c.Redis, data: c.Data, log: log}.run(ctx, t)
}

type workerCommand struct {
	workerFlags
	Redis string `help:"URL of the Redis that carries orders and results." required:"" env:"BENCHD_REDIS" placeholder:"URL"`
	Data  string `help:"Folder for results on their way." default:"data" env:"BENCHD_DATA" placeholder:"FOLDER"`
}

// Run works until the process is told to end.
func (c workerCommand) Run(ctx context.Context, t terminal, log *slog.Logger) error {
	return service{worker: &c.workerFlags, redis: c.Redis, data: c.Data, log: log}.run(ctx, t)
}

// A service says which parts of benchd run in this process.
type service struct {
	api    *apiFlags    // nil: no API
	worker *workerFlags // nil: no worker
	redis  string       // URL; empty: one inside this process
	data   string
	log    *slog.Logger
}

// run runs the service until the process is told to end. An API tells where it listens.
func (s service) run(ctx context.Context, t terminal) error {
	r, err := start(ctx, s)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if r.url != "" {
		_, _ = fmt.Fprintln(t.out, "benchd listens on", r.url)
	}
	return r.wait(ctx)
}

// A running service.
type running struct {
	url   string // of the API
	parts []func(context.Context) error
	close []io.Closer // in the order of opening
}

// start opens everything that can fail at the start, so that a wrong setting is told at once.
func start(ctx context.Context, s service) (*running, error) {
	r := &running{}
	if err := s.open(ctx, r); err != nil {
		return nil, errors.Join(err, r.shut())
	}
	return r, nil
}

func (s service) open(ctx context.Context, r *running) error {
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	q, err := s.openQueue(ctx, r)
	if err != nil {
		return err
	}
	kernels := bench.NewCatalog(catalog.Families())
	var st *store.Store
	if s.api != nil {
		if st, err = s.openAPI(ctx, r, q, kernels); err != nil {
			return err
		}
	}
	if s.worker != nil {
		return s.openWorker(ctx, r, q, kernels, st)
	}
	return nil
}

// openQueue connects to Redis, starting one in this process when none is given.
func (s service) openQueue(ctx context.Context, r *running) (*queue.Queue, error) {
	o := queue.Options{URL: s.redis, Logger: s.log}
	if s.redis == "" {
		inside, err := embedded.Start(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		r.close = append(r.close, closer(inside.Close))
		o.URL, o.Embedded = inside.URL(), true
	}
	queue.RouteDriverLog(s.log)
	q, err := queue.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	r.close = append(r.close, q)
	return q, nil
}

func (s service) openAPI(ctx context.Context, r *running, q *queue.Queue, kernels *bench.Catalog) (*store.Store, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.api.Addr)
	if err != nil {
		return nil, bench.Errorf(bench.Unavailable, "cannot_listen", "cannot listen on %s: %v; choose another --addr (port 0 takes a free one)", s.api.Addr, err)
	}
	r.close = append(r.close, closer(func() { _ = l.Close() })) // for a failure before it serves
	database := s.api.Database
	if database == "" {
		database = filepath.Join(s.data, "benchd.db")
	}
	st, err := store.Open(ctx, database, s.log)
	if err != nil {
		return nil, err
	}
	r.close = append(r.close, st)
	col := collect.New(st, q, collect.Config{Logger: s.log, Fits: kernels.Check, Needs: kernels.Needs})
	articles, err := references.Load()
	if err != nil {
		return nil, err
	}
	server := api.New(api.Config{
		Runs: wakingStore{st, col}, Results: st, Past: st, References: articles, Hosts: st, Watch: st, Count: st, Queue: q,
		Catalog: kernels, Limits: s.limits(), Logger: s.log, Version: version(),
		Page: ui.New(version()),
	})
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		s.log.Warn("listening beyond this machine: whoever reaches the address may post and cancel runs", "address", a)
	}
	r.url = "http://" + l.Addr().String()
	r.parts = append(r.parts, col.Run, func(ctx context.Context) error { return server.Serve(ctx, l) })
	return st, nil
}

// limits bound requests while no host is known: those of the worker in this process, or
// what a worker allows by default.
func (s service) limits() bench.Limits {
	if s.worker != nil {
		return s.worker.limits()
	}
	return bench.DefaultLimits(runtime.NumCPU())
}

// wakingStore lets the collector know of what was just posted.
type wakingStore struct {
	*store.Store
	collector *collect.Collector
}

// CreateRun stores a run and has it sent to its hosts at once.
func (w wakingStore) CreateRun(ctx context.Context, n store.NewRun) (bench.Run, bool, error) {
	run, existed, err := w.Store.CreateRun(ctx, n)
	if err == nil {
		w.collector.Wake()
	}
	return run, existed, err
}

// CancelRun cancels a run and has its hosts told at once.
func (w wakingStore) CancelRun(ctx context.Context, id string, why bench.CancelReason) (bench.Run, error) {
	return w.collector.Cancel(ctx, id, why)
}

// openWorker opens the worker, and makes it known in the store of the API in this process.
func (s service) openWorker(ctx context.Context, r *running, q *queue.Queue, kernels *bench.Catalog, st *store.Store) error {
	name, err := s.worker.name()
	if err != nil {
		return err
	}
	services, err := s.worker.addresses()
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, to run it again for each fork: %w", err)
	}
	w, err := worker.New(ctx, worker.Config{
		Name: name, Labels: s.worker.Label, Limits: s.worker.limits(), Services: services, Version: version(),
		Exe: exe, Env: platformEnv(os.Environ()), Data: s.data, Lock: s.worker.Lock, Memory: s.worker.Memory,
		Catalog: kernels, Queue: q, Logger: s.log,
	}, uuid.NewString())
	if err != nil {
		return err
	}
	r.parts = append(r.parts, w.Run)
	if st == nil {
		return nil
	}
	// The first request finds this host known, with its services and limits.
	h, err := w.Announce(ctx)
	if err != nil {
		return err
	}
	return st.SaveHost(ctx, h)
}

// platformEnv picks what a program cannot do without from an environment: on Windows none
// can open a socket without the first.
func platformEnv(all []string) []string {
	var env []string
	for _, kv := range all {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "SYSTEMROOT", "TEMP", "TMP":
			env = append(env, kv)
		}
	}
	return env
}

// wait runs the parts until the context ends or one of them fails, ends the others, and
// closes what was opened.
func (r *running) wait(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, len(r.parts))
	for _, part := range r.parts {
		go func() {
			err := part(ctx)
			stop()
			ended <- err
		}()
	}
	var errs []error
	for range r.parts {
		errs = append(errs, <-ended)
	}
	return errors.Join(append(errs, r.shut())...)
}

// shut closes what was opened, the last first.
func (r *running) shut() error {
	var errs []error
	for i := len(r.close) - 1; i >= 0; i-- {
		errs = append(errs, r.close[i].Close())
	}
	return errors.Join(errs...)
}

// closer makes an io.Closer of a function that cannot fail.
type closer func()

// Close calls the function.
func (c closer) Close() error { c(); return nil }
