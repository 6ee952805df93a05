package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	tidyInterval = 30 * time.Second
	// orphanAge is how long a lease must have been over before its task counts as nobody's.
	// It leaves asynq's own recoverer, which every worker runs for its own queue, its minute.
	orphanAge = 5 * time.Minute
	leaseTime = 30 * time.Second
	// mendTimeout keeps a worker from waiting long for a Redis that is away.
	mendTimeout = 2 * time.Second
)

// tidyScript mends a queue's list of active tasks, which asynq leaves broken when keys were
// lost or when no worker of the queue lives to run the recoverer. A task without a lease
// gets one, which a living worker extends and a dead one lets run out; a task whose lease
// ran out long ago, or whose own key is gone, is removed.
//
// KEYS: active list, leases. ARGV: prefix of task keys, now, age, lease time; in seconds.
func tidyScript() *redis.Script {
	return redis.NewScript(`
local removed = 0
for _, id in ipairs(redis.call("LRANGE", KEYS[1], 0, -1)) do
	local lease = redis.call("ZSCORE", KEYS[2], id)
	local gone = redis.call("EXISTS", ARGV[1] .. id) == 0
	if gone or (lease and tonumber(lease) + tonumber(ARGV[3]) < tonumber(ARGV[2])) then
		redis.call("LREM", KEYS[1], 0, id)
		redis.call("ZREM", KEYS[2], id)
		redis.call("DEL", ARGV[1] .. id)
		removed = removed + 1
	elseif not lease then
		redis.call("ZADD", KEYS[2], tonumber(ARGV[2]) + tonumber(ARGV[4]), id)
	end
end
return removed`)
}

func (q *Queue) keepTidy(ctx context.Context) {
	tick := time.NewTicker(tidyInterval)
	defer tick.Stop()
	for {
		if err := q.Tidy(ctx); err != nil && ctx.Err() == nil {
			q.logger.Warn("tidying the queues failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Tidy deletes what nobody will use again: archived tasks, which are orders of workers that
// died, and active tasks that no worker holds. Collect does it every half minute.
func (q *Queue) Tidy(ctx context.Context) error {
	names, err := q.inspector.Queues()
	if err != nil {
		return fmt.Errorf("list the queues: %w", err)
	}
	for _, name := range names {
		if name != resultsQueue && !strings.HasPrefix(name, runQueuePrefix) {
			continue
		}
		if err := q.tidy(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) tidy(ctx context.Context, name string) error {
	archived, err := q.inspector.DeleteAllArchivedTasks(name)
	if err != nil {
		return fmt.Errorf("delete the archived tasks of queue %s: %w", name, err)
	}
	removed := 0
	// asynq retries a report whose collector died; only orders can be left behind.
	if name != resultsQueue {
		if removed, err = q.removeOrphans(ctx, name); err != nil {
			return err
		}
	}
	if archived+removed > 0 {
		q.logger.Info("tidied a queue", "queue", name, "archived", archived, "orphans", removed)
	}
	return nil
}

func (q *Queue) removeOrphans(ctx context.Context, name string) (int, error) {
	now, err := q.Now(ctx)
	if err != nil {
		return 0, err
	}
	// The keys of asynq v0.26: asynq:{queue}:active, :lease and :t:<id>.
	prefix := "asynq:{" + name + "}:"
	n, err := tidyScript().Run(ctx, q.rdb, []string{prefix + "active", prefix + "lease"},
		prefix+"t:", now.Unix(), int(orphanAge.Seconds()), int(leaseTime.Seconds())).Int()
	if err != nil {
		return 0, fmt.Errorf("remove orphans from queue %s: %w", name, err)
	}
	return n, nil
}

// mend gives the task that is about to end its lease back if Redis has lost it: asynq takes
// a task without a lease off the active list and then fails, and leaves its key for ever.
func (q *Queue) mend(ctx context.Context, host string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mendTimeout)
	defer cancel()
	if _, err := q.removeOrphans(ctx, runQueue(host)); err != nil {
		q.logger.Debug("mending the list of active tasks failed", "host", host, "error", err)
	}
}
