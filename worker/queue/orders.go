package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"

	"benchd/worker/bench"
)

const orderType = "order"

// orderGrace is what asynq allows an order beyond its plan's limit. The worker ends a trial
// at the limit itself; asynq's time-out only frees what a dead worker left behind.
const orderGrace = 10 * time.Minute

// Enqueue puts an order at the end of its host's queue. An order that is already there, with
// the same trial and attempt, is left alone.
func (q *Queue) Enqueue(ctx context.Context, o bench.Order) error {
	payload, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode order %s: %w", orderID(o), err)
	}
	_, err = q.client().EnqueueContext(ctx, asynq.NewTask(orderType, payload),
		asynq.Queue(runQueue(o.Host)), asynq.TaskID(orderID(o)),
		asynq.MaxRetry(0), asynq.Timeout(time.Duration(1+len(o.With))*o.Plan.Limit.Std()+orderGrace))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("enqueue order %s for host %s: %w", orderID(o), o.Host, err)
	}
	return nil
}

// Queued tells whether the order is in Redis and can still be worked on: waiting in its
// queue, or taken by a worker. An archived task, which nobody will take, does not count.
func (q *Queue) Queued(_ context.Context, o bench.Order) (bool, error) {
	state, err := q.taskState(runQueue(o.Host), orderID(o))
	if err != nil {
		return false, err
	}
	return state != 0 && state != asynq.TaskStateArchived && state != asynq.TaskStateCompleted, nil
}

// Remove takes an order out of its queue before a worker takes it. It returns false when a
// worker already has it, or when it is not there.
func (q *Queue) Remove(_ context.Context, o bench.Order) (removed bool, err error) {
	name, id := runQueue(o.Host), orderID(o)
	state, err := q.taskState(name, id)
	if err != nil || state == 0 || state == asynq.TaskStateActive {
		return false, err
	}
	err = q.inspector.DeleteTask(name, id)
	if err == nil {
		return true, nil
	}
	// A worker may have taken it in between: asynq's error for that cannot be told from others.
	if state, again := q.taskState(name, id); again == nil && (state == 0 || state == asynq.TaskStateActive) {
		return false, nil
	}
	return false, fmt.Errorf("remove order %s of host %s: %w", id, o.Host, err)
}

// taskState asks asynq for a task's state; 0 when there is no such task.
func (q *Queue) taskState(name, id string) (asynq.TaskState, error) {
	info, err := q.inspector.GetTaskInfo(name, id)
	switch {
	case errors.Is(err, asynq.ErrTaskNotFound), errors.Is(err, asynq.ErrQueueNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("look for task %s in queue %s: %w", id, name, err)
	}
	return info.State, nil
}
