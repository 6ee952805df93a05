package messaging

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
)

// A trial removes at its end what it made at a broker. If all its processes are killed it
// cannot, and where a broker has no expiry for such things, the next trial at it does that:
// NATS for a stream, Redis for its keys.

// leftAfter is the age at which what is still there belongs to nobody: no trial lasts so long.
const leftAfter = 48 * time.Hour

// queuePrefix begins the name of every queue of a trial.
const queuePrefix = "benchd-"

// sweepStreams removes the streams of trials that ended without removing theirs. A server may
// forbid to list streams: then they stay.
func sweepStreams(ctx context.Context, js nats.JetStreamContext, now time.Time) {
	var old []string
	for s := range js.Streams(nats.Context(ctx)) {
		if strings.HasPrefix(s.Config.Name, queuePrefix) && now.Sub(s.Created) > leftAfter {
			old = append(old, s.Config.Name)
		}
	}
	for _, name := range old {
		_ = js.DeleteStream(name, nats.Context(ctx)) // another trial may have been quicker
	}
}

// redisTrials is the sorted set of the trials at a Redis, by the time of their beginning. It
// is gone when there is none.
const redisTrials = "benchd-trials"

// redisSweep removes the keys of trials that ended without removing theirs, and notes that
// another one begins.
func redisSweep(ctx context.Context, c *redis.Conn, at place, now time.Time) error {
	old, err := c.ZRangeArgs(ctx, redis.ZRangeArgs{Key: redisTrials, ByScore: true, Start: "-inf", Stop: now.Add(-leftAfter).Unix()}).Result()
	if err != nil {
		return err
	}
	for _, queue := range old {
		if err := redisForget(ctx, c, queue); err != nil {
			return err
		}
	}
	return c.ZAdd(ctx, redisTrials, redis.Z{Score: float64(now.Unix()), Member: at.queue}).Err()
}

// redisForget removes every key of a trial.
func redisForget(ctx context.Context, c *redis.Conn, queue string) error {
	keys := append(c.SMembers(ctx, redisKeys(queue)).Val(), queue, redisKeys(queue))
	if err := c.Del(ctx, keys...).Err(); err != nil {
		return err
	}
	return c.ZRem(ctx, redisTrials, queue).Err()
}
