package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// Depth is how full a queue is.
type Depth struct {
	Pending int           // tasks that wait, to be taken or to be tried again
	Active  int           // tasks that are worked on
	Oldest  time.Duration // age of the task that waits longest; 0 when none waits
}

// Depth returns how full each queue is, by name: "run.<host>" and "results".
func (q *Queue) Depth(context.Context) (map[string]Depth, error) {
	names, err := q.inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("list the queues: %w", err)
	}
	depths := make(map[string]Depth, len(names))
	for _, name := range names {
		info, err := q.inspector.GetQueueInfo(name)
		if errors.Is(err, asynq.ErrQueueNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("measure queue %s: %w", name, err)
		}
		depths[name] = Depth{Pending: info.Pending + info.Retry + info.Scheduled, Active: info.Active, Oldest: info.Latency}
	}
	return depths, nil
}
