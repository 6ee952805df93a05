package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"benchd/worker/bench"
)

// ErrStarted says that an order was started before. asynq may deliver an order twice; only
// the first delivery counts.
var ErrStarted = errors.New("the order was started before")

// startScript numbers a start. The hash of a trial holds the last attempt number and, for
// each order, who started it and under which number. The caller's random name makes a start
// that go-redis repeats after a lost reply succeed with the same number.
//
// KEYS: the trial's hash. ARGV: order number, least attempt, caller, seconds to live.
func startScript() *redis.Script {
	return redis.NewScript(`
local by = redis.call("HGET", KEYS[1], "by:" .. ARGV[1])
if by then
	if by == ARGV[3] then
		return tonumber(redis.call("HGET", KEYS[1], "as:" .. ARGV[1]))
	end
	return 0
end
local n = tonumber(redis.call("HGET", KEYS[1], "last") or "0") + 1
if n < tonumber(ARGV[2]) then
	n = tonumber(ARGV[2])
end
redis.call("HSET", KEYS[1], "last", n, "by:" .. ARGV[1], ARGV[3], "as:" .. ARGV[1], n)
redis.call("EXPIRE", KEYS[1], ARGV[4])
return n`)
}

// Start gives a start its attempt number: higher than every number that the trial had
// before, and not below the order's. It returns ErrStarted when the order was started before.
func (q *Queue) Start(ctx context.Context, o bench.Order) (attempt int, err error) {
	n, err := startScript().Run(ctx, q.rdb, []string{attemptKey(o.Trial)},
		o.Attempt, o.Attempt, rand.Text(), int(guardTTL.Seconds())).Int()
	if err != nil {
		return 0, fmt.Errorf("number the start of order %s: %w", orderID(o), err)
	}
	if n == 0 {
		return 0, fmt.Errorf("start order %s: %w", orderID(o), ErrStarted)
	}
	return n, nil
}

// Started tells whether a worker has started the order. The collector asks it about orders
// that left the queue without a word: one that was started is lost, one that was not can be
// queued again.
func (q *Queue) Started(ctx context.Context, o bench.Order) (bool, error) {
	yes, err := q.rdb.HExists(ctx, attemptKey(o.Trial), fmt.Sprintf("by:%d", o.Attempt)).Result()
	if err != nil {
		return false, fmt.Errorf("look for a start of order %s: %w", orderID(o), err)
	}
	return yes, nil
}
