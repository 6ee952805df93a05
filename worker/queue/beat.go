package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"benchd/worker/bench"
)

// Beat writes a worker's sign of life, which vanishes after ttl. A Beat without a time gets
// the time of Redis.
func (q *Queue) Beat(ctx context.Context, b bench.Beat, ttl time.Duration) error {
	if b.At.IsZero() {
		now, err := q.Now(ctx)
		if err != nil {
			return err
		}
		b.At = now
	}
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode the heartbeat of host %s: %w", b.Host, err)
	}
	_, err = q.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.SAdd(ctx, hostsKey, b.Host)
		p.Set(ctx, hostKey(b.Host), text, ttl)
		return nil
	})
	if err != nil {
		return fmt.Errorf("write the heartbeat of host %s: %w", b.Host, err)
	}
	return nil
}

// Beats returns the latest heartbeat of each host that is alive.
func (q *Queue) Beats(ctx context.Context) ([]bench.Beat, error) {
	hosts, err := q.rdb.SMembers(ctx, hostsKey).Result()
	if err != nil {
		return nil, fmt.Errorf("list the hosts: %w", err)
	}
	keys := make([]string, len(hosts))
	for i, h := range hosts {
		keys[i] = hostKey(h)
	}
	var beats []bench.Beat
	err = q.each(ctx, keys, func(i int, text string) {
		var b bench.Beat
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			q.logger.Error("a heartbeat cannot be read", "host", hosts[i], "error", err)
			return
		}
		beats = append(beats, b)
	})
	return beats, err
}

// SetPhase tells what a running trial does now. It is forgotten after a minute.
func (q *Queue) SetPhase(ctx context.Context, trial string, p bench.Phase) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the phase of trial %s: %w", trial, err)
	}
	if err := q.rdb.Set(ctx, phaseKey(trial), text, phaseTTL).Err(); err != nil {
		return fmt.Errorf("write the phase of trial %s: %w", trial, err)
	}
	return nil
}

// Phases returns what the trials do now, by trial; those that told nothing are left out.
func (q *Queue) Phases(ctx context.Context, trials []string) (map[string]bench.Phase, error) {
	keys := make([]string, len(trials))
	for i, t := range trials {
		keys[i] = phaseKey(t)
	}
	phases := make(map[string]bench.Phase)
	err := q.each(ctx, keys, func(i int, text string) {
		var p bench.Phase
		if json.Unmarshal([]byte(text), &p) == nil {
			phases[trials[i]] = p
		}
	})
	return phases, err
}

// each calls yield for every key that has a value.
func (q *Queue) each(ctx context.Context, keys []string, yield func(i int, text string)) error {
	if len(keys) == 0 {
		return nil
	}
	values, err := q.rdb.MGet(ctx, keys...).Result()
	if err != nil {
		return fmt.Errorf("read %d keys from %s on: %w", len(keys), keys[0], err)
	}
	for i, v := range values {
		if text, ok := v.(string); ok {
			yield(i, text)
		}
	}
	return nil
}
