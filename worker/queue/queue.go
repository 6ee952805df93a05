// Package queue carries orders to the workers and their reports back, through Redis. It
// holds both ends of both queues (asynq), and what asynq does not have and a benchmark
// needs: heartbeats with an age, cancellations that cannot be missed, attempt numbers, and
// acknowledgements (go-redis).
//
// Redis only carries: the truth is in the store of the API. Everything here may therefore be
// lost at any moment, is delivered at least once, and is safe to repeat.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"benchd/worker/bench"
)

// Options say which Redis to use.
type Options struct {
	URL      string // redis:// or rediss://, with user:password@ and /database where needed
	Logger   *slog.Logger
	Embedded bool // the Redis inside this process: its version and its memory policy are not asked for
}

// A Queue is a connection to Redis for both the API and a worker. All its methods may be
// used by several goroutines at once, and go on working after Redis was away.
type Queue struct {
	rdb       *redis.Client
	inspector *asynq.Inspector
	logger    *slog.Logger
	addr      string
}

// Open connects to Redis and checks that it can carry benchmarks: that it answers, is 6.2 or
// newer, and never evicts keys. The error is a *bench.Error of kind Unavailable (Invalid for
// a URL that cannot be right) whose sentence says what to change.
func Open(ctx context.Context, o Options) (*Queue, error) {
	opt, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	rdb := redis.NewClient(opt)
	q := &Queue{
		rdb: rdb, inspector: asynq.NewInspectorFromRedisClient(rdb),
		logger: o.Logger.With("part", "queue"), addr: opt.Addr,
	}
	if err := q.check(ctx, o.Embedded); err != nil {
		return nil, errors.Join(err, rdb.Close())
	}
	return q, nil
}

// Bounds of waiting for Redis. A result of 16 MiB has to get through within ioTimeout.
const (
	dialTimeout = 3 * time.Second
	ioTimeout   = 10 * time.Second
)

func parseURL(text string) (*redis.Options, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "redis" && u.Scheme != "rediss") {
		// The text is not repeated: it may hold a password.
		return nil, bench.Errorf(bench.Invalid, "bad_redis_url", "the URL of Redis must read redis://[user:password@]host:port[/database], or rediss:// for TLS")
	}
	opt, err := redis.ParseURL(text)
	if err != nil {
		return nil, bench.Errorf(bench.Invalid, "bad_redis_url", "the URL of Redis at %s cannot be used: %v", u.Host, err)
	}
	opt.Protocol = 2 // nothing here needs RESP3, and its push messages cost a look at the socket per command
	opt.ContextTimeoutEnabled = true
	opt.DialTimeout = dialTimeout
	opt.DialerRetries = 1
	opt.ReadTimeout, opt.WriteTimeout = ioTimeout, ioTimeout
	opt.DisableIdentity = true
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return opt, nil
}

// Close ends the connections. Work, Collect and CancelWakeups must have ended before.
func (q *Queue) Close() error {
	if err := q.rdb.Close(); err != nil {
		return fmt.Errorf("close redis %s: %w", q.addr, err)
	}
	return nil
}

// Ping tells whether Redis answers.
func (q *Queue) Ping(ctx context.Context) error {
	if err := q.rdb.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping redis %s: %w", q.addr, err)
	}
	return nil
}

// Now is the time by the clock of Redis, which all hosts share.
func (q *Queue) Now(ctx context.Context) (time.Time, error) {
	t, err := q.rdb.Time(ctx).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("ask redis %s for its time: %w", q.addr, err)
	}
	return t.UTC(), nil
}

// client makes an asynq client for one enqueueing. A client that lives on remembers which
// queues it has announced in the set asynq:queues and never announces them again, so that
// after Redis was emptied the inspector would deny that the queue exists.
func (q *Queue) client() *asynq.Client { return asynq.NewClientFromRedisClient(q.rdb) }
