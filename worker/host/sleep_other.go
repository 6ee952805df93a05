//go:build !linux

package host

import (
	"context"
	"time"
)

// A Sleeper sleeps as well as the platform's timers do.
type Sleeper struct{}

// NewSleeper makes a sleeper.
func NewSleeper() (*Sleeper, error) { return &Sleeper{}, nil }

// Sleep returns after the time given, or earlier when ctx ends.
func (*Sleeper) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Close has nothing to give back.
func (*Sleeper) Close() error { return nil }
