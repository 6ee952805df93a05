package collect_test

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"benchd/api/collect"
	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/queuetest"
)

func TestMain(m *testing.M) {
	queue.RouteDriverLog(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// fast are times for tests: a twentieth of the real ones or so.
func fast() collect.Times {
	return collect.Times{
		Tick: 50 * time.Millisecond, Gap: 5 * time.Millisecond, Reconcile: 300 * time.Millisecond, HostSave: 100 * time.Millisecond,
		BeatTTL: 3 * time.Second, Restarted: 600 * time.Millisecond, Silent: 2 * time.Second,
		Settle: 200 * time.Millisecond, Emptied: time.Second,
	}
}

// A service is a store, a Redis and a collector between them.
type service struct {
	t     *testing.T
	redis *queuetest.Redis
	store *store.Store
	queue *queue.Queue
	*collect.Collector
	stop func() // ends the collector
}

func newService(t *testing.T, r *queuetest.Redis, change func(*collect.Config)) *service {
	t.Helper()
	s := &service{t: t, redis: r, queue: connect(t, r)}
	var err error
	if s.store, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "benchd.db"), quiet()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() })
	s.Collector, s.stop = s.collector(change)
	return s
}

// collector starts a collector, which ends with the test or when stop is called.
func (s *service) collector(change func(*collect.Config)) (c *collect.Collector, stop func()) {
	config := collect.Config{Logger: quiet(), Times: fast()}
	if change != nil {
		change(&config)
	}
	c = collect.New(s.store, s.queue, config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Run(ctx); err != nil {
			s.t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	s.t.Cleanup(stop)
	return c, stop
}

func connect(t *testing.T, r *queuetest.Redis) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Options{URL: r.URL, Embedded: r.Embedded, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q
}

// quiet drops what is logged.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// post stores a run of n trials and wakes the collector.
func (s *service) post(n int, hosts bench.HostSelector, timeout time.Duration) bench.Run {
	s.t.Helper()
	params := make([]kernels.Params, n)
	for i := range params {
		params[i] = kernels.Params{"size": "small"}
	}
	return s.postOf(params, hosts, timeout)
}

// postOf stores a run with a trial of each of the parameters on every host that is named, and
// wakes the collector.
func (s *service) postOf(params []kernels.Params, hosts bench.HostSelector, timeout time.Duration) bench.Run {
	s.t.Helper()
	run := bench.Run{ID: id(), Created: time.Now(), Spec: bench.Spec{Plan: bench.DefaultPlan(), Hosts: hosts, Timeout: bench.Duration(timeout)}}
	names := hosts.Names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, host := range names {
		for _, p := range params {
			run.Trials = append(run.Trials, bench.Trial{ID: id(), Host: host, Kernel: "scimark.fft", Params: p})
		}
	}
	run, _, err := s.store.CreateRun(s.t.Context(), store.NewRun{Run: run})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Wake()
	return run
}

func id() string { return uuid.Must(uuid.NewV7()).String() }

// onBlue asks for the host blue.
func onBlue() bench.HostSelector { return bench.HostSelector{Names: []string{"blue"}} }

func (s *service) run(id string) bench.Run {
	s.t.Helper()
	run, err := s.store.Run(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

// await waits until a run is in a state.
func (s *service) await(id string, state bench.State) bench.Run {
	s.t.Helper()
	s.within("run is not "+string(state), func() bool { return s.run(id).State == state })
	return s.run(id)
}

func (s *service) within(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	s.t.Fatal("it stayed so: " + what)
}

func (s *service) cancel(id string) {
	s.t.Helper()
	if _, err := s.Cancel(s.t.Context(), id, bench.CancelAsked); err != nil {
		s.t.Fatal(err)
	}
}

// A worker speaks the worker's side of the queue and measures nothing. Its trials last until
// its context ends, until they are canceled, or until release.
type worker struct {
	t        *testing.T
	queue    *queue.Queue
	name     string
	instance string
	labels   map[string]string
	limits   bench.Limits
	services map[string]string
	hold     bool // trials wait for release
	mute     bool // no Started reports

	mu      sync.Mutex
	running *bench.RunningTrial
	outbox  map[string]bench.Report
	began   []string // trials started, in order
	dead    bool     // neither beats nor sends nor measures on
	deaf    bool     // does not hear of cancellations
	forget  bool     // does not mention what it measures

	free   chan struct{}
	cancel context.CancelFunc // as SIGTERM does
	done   chan struct{}
}

// newWorker starts a worker.
func newWorker(t *testing.T, r *queuetest.Redis, name string, change func(*worker)) *worker {
	t.Helper()
	w := &worker{
		t: t, queue: connect(t, r), name: name, instance: id(), limits: bench.DefaultLimits(2),
		outbox: make(map[string]bench.Report), free: make(chan struct{}, 1000), done: make(chan struct{}),
	}
	if change != nil {
		change(w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	side, stop := context.WithCancel(context.Background())
	w.cancel = cancel
	var wg sync.WaitGroup
	wg.Go(func() { w.every(side, 200*time.Millisecond, w.beat) })
	wg.Go(func() { w.every(side, 50*time.Millisecond, w.send) })
	go func() {
		defer close(w.done)
		if err := w.queue.Work(ctx, name, w.handle); err != nil {
			t.Error(err)
		}
		w.send(side)
		stop()
		wg.Wait()
	}()
	t.Cleanup(func() { w.release(1000); w.stop() })
	return w
}

// stop ends the worker as SIGTERM does.
func (w *worker) stop() { w.cancel(); <-w.done }

// kill makes the worker vanish in the middle of everything; thaw brings it back as it was.
func (w *worker) kill() { w.set(func() { w.dead = true }) }
func (w *worker) thaw() { w.set(func() { w.dead = false }) }

func (w *worker) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// release lets n trials end.
func (w *worker) release(n int) {
	for range n {
		select {
		case w.free <- struct{}{}:
		default:
		}
	}
}

// trials lists the trials it started.
func (w *worker) trials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.began)
}

func (w *worker) every(ctx context.Context, d time.Duration, f func(context.Context)) {
	for tick := time.NewTicker(d); ; {
		f(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return
		}
	}
}

func (w *worker) beat(ctx context.Context) {
	w.mu.Lock()
	b := bench.Beat{Host: w.name, Instance: w.instance, Labels: w.labels, Limits: w.limits, Services: w.services, Version: "test", Running: w.running, Outbox: slices.Collect(maps.Keys(w.outbox))}
	if w.running != nil {
		b.Held = []string{w.running.Trial}
	}
	if w.forget {
		b.Running, b.Held = nil, nil
	}
	dead := w.dead
	w.mu.Unlock()
	if !dead {
		_ = w.queue.Beat(ctx, b, fast().BeatTTL)
	}
}

func (w *worker) send(ctx context.Context) {
	w.mu.Lock()
	waiting := maps.Clone(w.outbox)
	if w.dead {
		waiting = nil
	}
	w.mu.Unlock()
	for trial, r := range waiting {
		if acked, err := w.queue.Acked(ctx, trial, r.Attempt); err == nil && acked {
			w.set(func() { delete(w.outbox, trial) })
		} else if err == nil {
			_ = w.queue.Send(ctx, r)
		}
	}
}

func (w *worker) handle(ctx context.Context, o bench.Order) {
	attempt, err := w.queue.Start(ctx, o)
	if err != nil {
		return
	}
	if _, canceled, _ := w.queue.Canceled(ctx, o.Trial); canceled {
		w.finish(o, attempt, bench.Canceled)
		return
	}
	w.set(func() {
		w.began = append(w.began, o.Trial)
		w.running = &bench.RunningTrial{Run: o.Run, Trial: o.Trial, Attempt: attempt}
	})
	w.beat(ctx)
	if !w.mute {
		_ = w.queue.Send(ctx, w.report(o, attempt, bench.Started))
	}
	w.finish(o, attempt, w.measure(ctx, o))
}

// measure waits and says how the trial ended.
func (w *worker) measure(ctx context.Context, o bench.Order) bench.State {
	if !w.hold {
		return bench.Succeeded
	}
	for {
		select {
		case <-w.free:
			return bench.Succeeded
		case <-ctx.Done():
			return bench.Lost
		case <-time.After(50 * time.Millisecond):
		}
		w.mu.Lock()
		deaf := w.dead || w.deaf
		w.mu.Unlock()
		if _, canceled, _ := w.queue.Canceled(ctx, o.Trial); canceled && !deaf {
			return bench.Canceled
		}
	}
}

func (w *worker) finish(o bench.Order, attempt int, state bench.State) {
	r := w.report(o, attempt, bench.Finished)
	r.Result = &bench.TrialResult{ID: o.Trial, Host: w.name, Kernel: o.Case.Kernel, State: state, Attempt: attempt}
	w.set(func() {
		w.outbox[o.Trial] = r
		w.running = nil
	})
}

func (w *worker) report(o bench.Order, attempt int, kind bench.ReportKind) bench.Report {
	return bench.Report{Kind: kind, Run: o.Run, Trial: o.Trial, Attempt: attempt, Host: w.name, Instance: w.instance, At: time.Now()}
}
