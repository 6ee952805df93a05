package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"benchd/worker/bench"
)

// Cancel says that a trial shall stop, or never start. The key is the truth, which the
// worker looks at before a start and every second; the message only wakes it sooner. The
// first reason stays, except that being lost is stronger than any other.
func (q *Queue) Cancel(ctx context.Context, host, trial string, reason bench.CancelReason) error {
	_, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		if reason == bench.CancelLost {
			p.Set(ctx, cancelKey(trial), string(reason), guardTTL)
		} else {
			p.SetNX(ctx, cancelKey(trial), string(reason), guardTTL)
		}
		if host != "" {
			p.Publish(ctx, wakeChannel(host), trial)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cancel trial %s on host %s: %w", trial, host, err)
	}
	return nil
}

// Canceled tells whether the trial shall stop, and why.
func (q *Queue) Canceled(ctx context.Context, trial string) (bench.CancelReason, bool, error) {
	reason, err := q.rdb.Get(ctx, cancelKey(trial)).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("look whether trial %s is canceled: %w", trial, err)
	}
	return bench.CancelReason(reason), true, nil
}

// CancelWakeups gives the trials of a host as they are canceled, until ctx ends and the
// channel closes. It subscribes again after Redis was away; what was published meanwhile is
// missed, and Canceled tells it.
func (q *Queue) CancelWakeups(ctx context.Context, host string) <-chan string {
	sub := q.rdb.Subscribe(ctx, wakeChannel(host))
	messages := sub.Channel()
	out := make(chan string, 64)
	go func() {
		defer close(out)
		defer func() {
			if err := sub.Close(); err != nil {
				q.logger.Debug("closing the subscription failed", "error", err)
			}
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case m, ok := <-messages:
				if !ok {
					return
				}
				select {
				case out <- m.Payload:
				default: // the reader is behind, and looks at the keys anyway
				}
			}
		}
	}()
	return out
}
