package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"benchd/worker/bench"
)

// collectors is how many reports are handled at once. The store writes one after another;
// a second one is unpacked meanwhile.
const collectors = 2

// Collect hands reports to handle until ctx ends. A report that handle took without error is
// acknowledged, if it is a Finished one; otherwise it comes again, after a second at first
// and half a minute in the end. A report that cannot be decoded is logged and dropped.
//
// While it runs, it also tidies both kinds of queue (see tidy).
func (q *Queue) Collect(ctx context.Context, handle func(context.Context, bench.Report) error) error {
	server := asynq.NewServerFromRedisClient(q.rdb, asynq.Config{
		Concurrency:              collectors,
		Queues:                   map[string]int{resultsQueue: 1},
		TaskCheckInterval:        checkInterval,
		DelayedTaskCheckInterval: time.Second,
		RetryDelayFunc:           retryDelay,
		Logger:                   asynqLog{q.logger},
		LogLevel:                 asynq.InfoLevel,
	})
	err := server.Start(asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		return q.collect(ctx, t, handle)
	}))
	if err != nil {
		return fmt.Errorf("collect results: %w", err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { q.keepTidy(ctx) })
	<-ctx.Done()
	server.Shutdown()
	wg.Wait()
	return nil
}

func (q *Queue) collect(ctx context.Context, t *asynq.Task, handle func(context.Context, bench.Report) error) error {
	r, err := unpack(t.Payload())
	if err != nil {
		q.logger.Error("a report cannot be read and is dropped", "error", err, "bytes", len(t.Payload()))
		return nil
	}
	if err := handle(ctx, r); err != nil {
		q.logger.Warn("a report could not be stored and will come again", "report", reportID(r), "error", err)
		return err
	}
	// A Started report has no acknowledgement: it would be taken for the result's.
	if r.Kind != bench.Finished {
		return nil
	}
	return q.ack(ctx, r)
}

func retryDelay(n int, _ error, _ *asynq.Task) time.Duration {
	return min(time.Second<<min(n, 5), 30*time.Second)
}
