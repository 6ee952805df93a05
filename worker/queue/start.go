package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"benchd/worker/bench"
)

// ErrStarted says that an order may not be started: it was started before, it was taken back,
// or a later order of the same trial was started. asynq may deliver an order twice, and late;
// only the first delivery counts.
var ErrStarted = errors.New("the order was started before or taken back")

// Who has an order that no worker started: the collector took it back, or a later order of
// the trial was claimed before it.
const (
	void      = "void"
	overtaken = "later"
)

// claimScript gives an order to the first who claims it: a worker that starts it, or the
// collector that takes it back. The hash of a trial holds the highest order claimed and who
// claimed each. A claim that go-redis repeats after a lost reply succeeds again, since the
// caller's name is random.
//
// KEYS: the trial's hash. ARGV: order number, caller, seconds to live. It returns who has
// the order, or "later" when a later order was claimed.
func claimScript() *redis.Script {
	return redis.NewScript(`
local by = redis.call("HGET", KEYS[1], "by:" .. ARGV[1])
if by then
	return by
end
local last = tonumber(redis.call("HGET", KEYS[1], "last") or "0")
if last >= tonumber(ARGV[1]) then
	return "later"
end
redis.call("HSET", KEYS[1], "last", ARGV[1], "by:" .. ARGV[1], ARGV[2])
redis.call("EXPIRE", KEYS[1], ARGV[3])
return ARGV[2]`)
}

func (q *Queue) claim(ctx context.Context, o bench.Order, caller string) (owner string, err error) {
	return claimScript().Run(ctx, q.rdb, []string{attemptKey(o.Trial)}, o.Attempt, caller, int(guardTTL.Seconds())).Text()
}

// Start claims an order for the caller and gives the number of the attempt, which is the
// order's: each order of a trial has a higher one than all before. Any other claim of the
// same or an earlier order, now or later, gets ErrStarted.
func (q *Queue) Start(ctx context.Context, o bench.Order) (attempt int, err error) {
	me := rand.Text()
	owner, err := q.claim(ctx, o, me)
	if err != nil {
		return 0, fmt.Errorf("number the start of order %s: %w", orderID(o), err)
	}
	if owner != me {
		return 0, fmt.Errorf("start order %s: %w", orderID(o), ErrStarted)
	}
	return o.Attempt, nil
}

// TakeBack makes sure that an order will never be started, wherever its task is on its way.
// It returns false when a worker has started it. The collector takes an order back before it
// queues the trial again: no trial is measured twice.
func (q *Queue) TakeBack(ctx context.Context, o bench.Order) (bool, error) {
	owner, err := q.claim(ctx, o, void)
	if err != nil {
		return false, fmt.Errorf("take back order %s: %w", orderID(o), err)
	}
	return owner == void || owner == overtaken, nil
}

// Started tells whether a worker has started the order.
func (q *Queue) Started(ctx context.Context, o bench.Order) (bool, error) {
	by, err := q.rdb.HGet(ctx, attemptKey(o.Trial), fmt.Sprintf("by:%d", o.Attempt)).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a start of order %s: %w", orderID(o), err)
	}
	return by != void, nil
}
