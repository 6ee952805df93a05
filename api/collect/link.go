package collect

import (
	"context"
	"slices"
	"sync"
	"time"

	"benchd/worker/bench"
)

// signals are what hosts and the collector tell each other beside orders and reports.
type signals interface {
	// Beats gives the heartbeats of the hosts that are alive.
	Beats(ctx context.Context) ([]bench.Beat, error)
	// Cancel tells a host that a trial shall stop.
	Cancel(ctx context.Context, host, trial string, reason bench.CancelReason) error
	// Epoch names the life of the data in Redis.
	Epoch(ctx context.Context) (epoch string, fresh bool, err error)
}

// An epochKeeper tells and makes the epoch of Redis.
type epochKeeper interface {
	Epoch(ctx context.Context) (epoch string, fresh bool, err error)
}

// A link knows since when Redis has been there without a break and with the same data. What
// Redis does not say means nothing before hosts had the time to say it.
//
// A process that was frozen saw nothing meanwhile either: a gap between two contacts counts
// as Redis having been away.
type link struct {
	redis  epochKeeper
	maxGap time.Duration

	mu    sync.Mutex
	epoch string
	since time.Time // zero while Redis is away
	last  time.Time // of the latest contact
}

func newLink(redis epochKeeper, maxGap time.Duration) *link {
	return &link{redis: redis, maxGap: maxGap}
}

// contact reaches for Redis and gives its epoch. It comes first in every pass: an epoch must
// be made before the first order goes into an empty Redis.
func (l *link) contact(ctx context.Context) (string, error) {
	epoch, _, err := l.redis.Epoch(ctx)
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			l.since = time.Time{}
		}
		return "", err
	}
	if l.since.IsZero() || epoch != l.epoch || now.Sub(l.last) > l.maxGap {
		l.since, l.epoch = now, epoch
	}
	l.last = now
	return epoch, nil
}

// settled says for how long Redis has been there.
func (l *link) settled() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		return 0
	}
	return time.Since(l.since)
}

// byHost sorts heartbeats by host.
func byHost(beats []bench.Beat) map[string]bench.Beat {
	m := make(map[string]bench.Beat, len(beats))
	for _, b := range beats {
		m[b.Host] = b
	}
	return m
}

// mentions says whether a host knows of a trial: measures it or is about to, or keeps its
// result.
func mentions(b bench.Beat, trial string) bool {
	return slices.Contains(b.Held, trial) || keeps(b, trial)
}

// keeps says whether a host has a trial's result on disk and will send it.
func keeps(b bench.Beat, trial string) bool {
	return slices.Contains(b.Outbox, trial)
}
