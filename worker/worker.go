// Package worker turns orders into results: it takes a trial from its host's queue, measures
// it in child processes, keeps the result on disk until it is acknowledged, and tells all
// the while that it is alive.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"benchd/worker/bench"
	"benchd/worker/child"
	"benchd/worker/host"
	"benchd/worker/queue"
)

// Times of a worker's life.
const (
	beatEvery   = 5 * time.Second
	beatTTL     = 20 * time.Second
	cancelEvery = time.Second
	sendEvery   = 2 * time.Second
	maxOffset   = 5 * time.Second // between the worker's clock and that of Redis
)

// A Config says who a worker is and where it keeps its things.
type Config struct {
	Name   string            // of the host; one worker at a time uses it
	Labels map[string]string // of the host
	Limits bench.Limits
	// Services are the addresses of servers outside, as kernels.Addr has them, by the names
	// under which requests ask for them. They are told to nobody but the children.
	Services map[string]string
	Version  string // of the binary

	Exe    string   // the binary that is run again as a child, usually this one
	Env    []string // what the platform needs in a child's environment
	Data   string   // folder for results that wait for their acknowledgement
	Lock   string   // file whose lock is the host's: one measurement at a time
	Memory int64    // bytes of data a child may have; 0 means no limit

	Catalog *bench.Catalog
	Queue   *queue.Queue
	Logger  *slog.Logger
}

// A Worker measures the trials of one host, one after another.
type Worker struct {
	Config
	instance string
	outbox   *outbox
	starter  child.Starter
	services map[string]service
	schemes  map[string]string // of the services' addresses

	mu       sync.Mutex
	running  *bench.RunningTrial
	held     []string // trials taken and not finished
	snapshot bench.HostSnapshot

	beatNow chan struct{} // something in the beat has changed
	sendNow chan struct{} // something is in the outbox
}

// New makes a worker. It refuses a clock too far from that of Redis: times of queue and
// result would not agree.
func New(ctx context.Context, c Config, instance string) (*Worker, error) {
	w := &Worker{
		Config: c, instance: instance, starter: child.Starter{Exe: c.Exe, Env: c.Env},
		beatNow: make(chan struct{}, 1), sendNow: make(chan struct{}, 1),
	}
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	var err error
	if w.services, w.schemes, err = readServices(c.Services, c.Catalog.Schemes()); err != nil {
		return nil, err
	}
	if w.outbox, err = openOutbox(c.Data); err != nil {
		return nil, err
	}
	if err := child.CheckLock(c.Lock); err != nil {
		return nil, err
	}
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// Run works until ctx ends. A trial that is being measured then is given up as lost, its
// processes are ended, and Run returns when they are gone.
func (w *Worker) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	side, stop := context.WithCancel(context.WithoutCancel(ctx))
	wg.Go(func() { w.beat(side) })
	wg.Go(func() { w.send(side) })
	err := w.Queue.Work(ctx, w.Name, w.handle)
	w.sendOnce(side) // the last result, before the connection goes
	stop()
	wg.Wait()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("take orders for host %s: %w", w.Name, err)
	}
	return nil
}

// look reads the host anew, with the offset between its clock and that of Redis.
func (w *Worker) look(ctx context.Context) error {
	s := host.Read(ctx, host.Options{})
	before := time.Now()
	theirs, err := w.Queue.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the clock of Redis: %w", err)
	}
	offset := before.Add(time.Since(before) / 2).Sub(theirs)
	seconds := offset.Seconds()
	s.Volatile.ClockOffset = &seconds
	w.mu.Lock()
	w.snapshot = s
	w.mu.Unlock()
	if offset.Abs() > maxOffset {
		return bench.Errorf(bench.Unavailable, "clock_offset",
			"the clock of host %s is %.1f s off that of Redis; more than %s is refused: synchronise the clocks (NTP)", w.Name, seconds, bench.Duration(maxOffset))
	}
	return nil
}

// handle measures the trials of one order and leaves their results in the outbox. It returns
// only when every child of the trials is gone.
func (w *Worker) handle(ctx context.Context, o bench.Order) {
	if trials := w.claim(ctx, o); len(trials) > 0 {
		w.measure(ctx, trials)
		w.setRunning(nil)
	}
}

// claim takes the trials of an order that nobody has started. Those of an interleaved run are
// in the queue on their own too: they are found started then.
func (w *Worker) claim(ctx context.Context, o bench.Order) []*assembly {
	var trials []*assembly
	for _, o := range o.All() {
		log := w.Logger.With("run", o.Run, "trial", o.Trial, "kernel", o.Case.Kernel)
		attempt, err := w.Queue.Start(ctx, o)
		switch {
		case errors.Is(err, queue.ErrStarted):
			log.Debug("order was started before")
		case err != nil:
			log.Error("take an attempt number", "error", err)
		default:
			log.Info("trial begins", "attempt", attempt)
			trials = append(trials, newAssembly(w.Name, w.Limits.Threads, o, attempt))
			w.hold(o.Trial)
		}
	}
	return trials
}

// finish ends a trial: it works out what was measured, with the reason why no more was, and
// leaves the result in the outbox.
func (w *Worker) finish(a *assembly, err error) {
	a.fail(err)
	a.finish()
	finished := time.Now().UTC()
	a.result.Started, a.result.Finished = new(a.began), &finished
	log := w.Logger.With("run", a.order.Run, "trial", a.order.Trial, "attempt", a.result.Attempt)
	log.Info("trial ends", "state", a.result.State, "took", finished.Sub(a.began).Round(time.Millisecond))

	report := w.report(a.order, a.result.Attempt, bench.Finished)
	report.Result = &a.result
	if err := w.outbox.put(report); err != nil {
		log.Error("the result cannot be kept on disk; it is held in memory until it is acknowledged", "error", err)
	}
	w.release(a.order.Trial)
	poke(w.sendNow)
}

// report makes a report about an order.
func (w *Worker) report(o bench.Order, attempt int, kind bench.ReportKind) bench.Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bench.Report{
		Kind: kind, Run: o.Run, Trial: o.Trial, Attempt: attempt, Host: w.Name,
		Instance: w.instance, At: time.Now().UTC(), Snapshot: w.snapshot,
	}
}

// setRunning notes the trial at work, for the heartbeat; nil for none.
func (w *Worker) setRunning(a *assembly) {
	var r *bench.RunningTrial
	if a != nil {
		r = &bench.RunningTrial{Run: a.order.Run, Trial: a.order.Trial, Attempt: a.result.Attempt}
	}
	w.mu.Lock()
	w.running = r
	w.mu.Unlock()
	poke(w.beatNow)
}

// hold notes that a trial was taken, for the heartbeat.
func (w *Worker) hold(trial string) {
	w.mu.Lock()
	w.held = append(w.held, trial)
	w.mu.Unlock()
	poke(w.beatNow)
}

// release notes that a trial's result is in the outbox.
func (w *Worker) release(trial string) {
	w.mu.Lock()
	w.held = slices.DeleteFunc(w.held, func(t string) bool { return t == trial })
	w.mu.Unlock()
	poke(w.beatNow)
}

// poke wakes a loop that may be awake already.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
