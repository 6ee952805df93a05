// Package embedded is a Redis inside this process, for when no other is given. It keeps its
// data in memory: with the truth in the store, a restart loses nothing that was queued.
package embedded

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// tick is how often keys age: the grain of every time to live. Ageing looks at every key
// that has one. miniredis can do it at each command instead (ClockTTL), at a cost that grows
// with the keys.
const tick = 500 * time.Millisecond

// A Redis is a running Redis on a port of the loopback interface.
type Redis struct {
	server *miniredis.Miniredis
	addr   string // kept, since a closed miniredis cannot tell it
	stop   context.CancelFunc
	done   sync.WaitGroup
	once   sync.Once
}

// Start starts a Redis on a free port of the loopback interface. It ends with Close, or
// stops ageing its keys when ctx ends.
func Start(ctx context.Context) (*Redis, error) {
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded redis: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	r := &Redis{server: server, addr: server.Addr(), stop: stop}
	r.done.Go(func() { r.age(ctx) })
	return r, nil
}

// age lets keys grow old by the wall clock, which miniredis does not do by itself.
func (r *Redis) age(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// The ticker drops ticks when the process was frozen; the clock does not.
			now := time.Now()
			r.server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// URL is where it listens: redis://127.0.0.1:port.
func (r *Redis) URL() string { return "redis://" + r.addr }

// Close stops it and forgets its data.
func (r *Redis) Close() {
	r.once.Do(func() {
		r.stop()
		r.done.Wait()
		r.server.Close()
	})
}
