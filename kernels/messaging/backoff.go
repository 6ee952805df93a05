package messaging

import (
	"context"
	"time"
)

// The bounds of the pause before a lane tries again to connect.
const (
	firstPause = 25 * time.Millisecond
	lastPause  = time.Second
)

// A backoff spaces the attempts of one lane to connect again: the first comes at once, and
// after each failure the pause doubles up to a second. Its zero value is ready.
type backoff struct{ pause time.Duration }

// wait sits out the pause, or returns the error of the context if that ends first.
func (b *backoff) wait(ctx context.Context) error {
	if b.pause == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(b.pause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failed makes the next pause longer.
func (b *backoff) failed() { b.pause = min(max(firstPause, 2*b.pause), lastPause) }

// succeeded ends the pauses.
func (b *backoff) succeeded() { b.pause = 0 }
