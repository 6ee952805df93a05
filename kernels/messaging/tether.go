package messaging

import (
	"context"
	"fmt"
	"io"
)

// A tether closes a connection when a context ends, for a client library that waits without
// looking at one. It is held on from call to call, since all calls of a lane come under few
// contexts: they pay for a look at it.
type tether struct {
	done <-chan struct{}
	stop func() bool
}

// hold ties the connection to a context.
func (t *tether) hold(ctx context.Context, c io.Closer) {
	if ctx.Done() == t.done && t.stop != nil {
		return
	}
	t.release()
	t.done = ctx.Done()
	t.stop = context.AfterFunc(ctx, func() { _ = c.Close() }) // whoever waits for it is told
}

// release unties it.
func (t *tether) release() {
	if t.stop != nil {
		t.stop()
	}
	*t = tether{}
}

// inTime gives the reason why something that had the time of a connection failed: its context
// ended, the time did, or what it says itself.
func inTime(ctx, bounded context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		return fmt.Errorf("it does not answer within %s: %w", connectPatience, bounded.Err())
	default:
		return err
	}
}
