package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/hibiken/asynq"

	"benchd/worker/bench"
)

const (
	// checkInterval is how often an idle server asks Redis for a task, give or take a half:
	// asynq polls. It bounds the delay of a start (110 ms on average) and sets what idling
	// costs: every 200 ms is a third of a percent of a core, every 100 ms twice that.
	checkInterval = 200 * time.Millisecond
	// forever is how long asynq waits for a handler before it would put the task back.
	forever = 30 * 24 * time.Hour
)

// errNotStarted ends a task whose order was taken but not handled.
var errNotStarted = errors.New("the order was taken and not started")

// Work hands the orders of a host to handle, one at a time, until ctx ends. Then it takes no
// more, and returns when handle has returned.
//
// The context of handle ends right after ctx and with nothing else. asynq's own time-out and a lost
// lease make asynq forget the task and take the next one; here the next one waits until
// handle has returned, however long that takes, so two trials never overlap.
//
// An order is never put back: once handle was called, its task is done when handle returns,
// whatever happened; a panic is logged. An order that was taken but not handled, because ctx
// ended first, leaves the queue, and the collector finds it missing and queues it again.
func (q *Queue) Work(ctx context.Context, host string, handle func(context.Context, bench.Order)) error {
	trials, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	w := &taker{ctx: ctx, trials: trials, handle: handle, mend: func() { q.mend(ctx, host) }, slot: make(chan struct{}, 1), logger: q.logger.With("host", host)}
	server := asynq.NewServerFromRedisClient(q.rdb, asynq.Config{
		Concurrency:       1,
		Queues:            map[string]int{runQueue(host): 1},
		TaskCheckInterval: checkInterval,
		ShutdownTimeout:   forever,
		Logger:            asynqLog{w.logger},
		LogLevel:          asynq.InfoLevel,
	})
	if err := server.Start(asynq.HandlerFunc(w.process)); err != nil {
		return fmt.Errorf("take orders of host %s: %w", host, err)
	}
	<-ctx.Done()
	// First no more orders, then the end of the one in hand: otherwise the next would be
	// taken, only to be given back.
	stopTaking(server)
	stop()
	server.Shutdown()
	w.slot <- struct{}{} // asynq may have given up on a handler that still runs
	return nil
}

// stopPatience is how long the order in hand may go on until asynq stops taking. It does so
// at once while it waits for a slot, and only a Redis that does not answer delays it.
const stopPatience = 500 * time.Millisecond

func stopTaking(server *asynq.Server) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(stopPatience):
	}
}

// A taker passes tasks on, one at a time.
type taker struct {
	ctx    context.Context // ends when no more orders shall be started
	trials context.Context // ends a little later, for the order in hand
	handle func(context.Context, bench.Order)
	mend   func()        // called when an order was handled, before asynq takes its task away
	slot   chan struct{} // holds one value while an order is handled
	logger *slog.Logger
}

// process is asynq's handler. Its context belongs to asynq: it ends with the task's time-out,
// a lost lease or an asynq cancellation, and is looked at only until the order starts.
func (w *taker) process(task context.Context, t *asynq.Task) error {
	var o bench.Order
	if err := json.Unmarshal(t.Payload(), &o); err != nil {
		w.logger.Error("an order cannot be read and is dropped", "error", err, "bytes", len(t.Payload()))
		return nil
	}
	select {
	case w.slot <- struct{}{}:
	case <-w.ctx.Done():
		return errNotStarted
	case <-task.Done():
		return errNotStarted
	}
	defer func() { <-w.slot }()
	if w.ctx.Err() != nil || task.Err() != nil {
		return errNotStarted
	}
	w.call(o)
	w.mend()
	return nil
}

func (w *taker) call(o bench.Order) {
	defer func() {
		if p := recover(); p != nil {
			w.logger.Error("handling an order panicked", "trial", o.Trial, "run", o.Run, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	w.handle(w.trials, o)
}
