package collect

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A loop calls pass at once, then every tick, and sooner when it is woken.
type loop struct {
	name   string
	pass   func(context.Context) error
	tick   time.Duration
	gap    time.Duration   // least time between two passes
	wake   <-chan struct{} // nil for a loop that nobody wakes
	logger *slog.Logger
}

func (l loop) start(ctx context.Context, wg *sync.WaitGroup) {
	wg.Go(func() { l.run(ctx) })
}

func (l loop) run(ctx context.Context) {
	var failing bool
	for ctx.Err() == nil {
		err := l.pass(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !failing:
			l.logger.Warn(l.name+" failed and will be tried again", "error", err)
		case err == nil && failing:
			l.logger.Info(l.name + " works again")
		}
		failing = err != nil
		if !l.pause(ctx, l.gap, nil) || !l.pause(ctx, l.tick-l.gap, l.wake) {
			return
		}
	}
}

// pause waits for d or until it is woken; false means that ctx ended.
func (l loop) pause(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// poke wakes a loop that may be awake already.
func poke(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// A sighting is when something was noticed first and last. What was not seen in the latest
// pass is forgotten, so that only an unbroken time counts.
type sighting struct {
	since time.Time
	pass  int
}

// lasting notes that key is seen in a pass and says for how long without a break.
func lasting[K comparable](seen map[K]sighting, key K, pass int, now time.Time) time.Duration {
	s, ok := seen[key]
	if !ok {
		s.since = now
	}
	s.pass = pass
	seen[key] = s
	return now.Sub(s.since)
}

// forget drops what was not seen in a pass.
func forget[K comparable](seen map[K]sighting, pass int) {
	for key, s := range seen {
		if s.pass != pass {
			delete(seen, key)
		}
	}
}
