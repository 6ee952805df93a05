package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"benchd/worker/bench"
)

// How long a service may be away before a call gives up.
const (
	submitPatience = 15 * time.Second
	waitPatience   = 2 * time.Minute
)

// Bounds of the pause before a request is sent again; each pause is twice the one before.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// longestPoll keeps a long poll below the service's bound of a minute.
const longestPoll = 50 * time.Second

// Wait waits until a run is final. It calls see, when that is not nil, with the run at each
// change of state and at least once in every, so that progress can be shown; 0 means at
// changes only. A service that is away is asked again for two minutes.
func (c *Client) Wait(ctx context.Context, id string, every time.Duration, see func(bench.Run)) (bench.Run, error) {
	if every <= 0 || every > longestPoll {
		every = longestPoll
	}
	wait := time.Duration(0) // the first answer comes at once
	for {
		var run bench.Run
		err := patiently(ctx, waitPatience, func() (err error) {
			run, err = c.poll(ctx, id, wait)
			return err
		})
		if err != nil {
			return run, err
		}
		if see != nil {
			see(run)
		}
		if run.State.Final() {
			return run, nil
		}
		wait = every
	}
}

// patiently calls try until it succeeds, fails for good, or has failed for the time given.
func patiently(ctx context.Context, patience time.Duration, try func() error) error {
	var since time.Time
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := try()
		if err == nil || !passing(err) {
			return err
		}
		now := time.Now()
		if since.IsZero() {
			since = now
		}
		if now.Sub(since)+pause > patience {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting to ask again: %w", ctx.Err(), err)
		}
	}
}

// passing tells whether an error may go away by itself: nobody answered, or a part of the
// service is away.
func passing(err error) bool {
	e := bench.AsError(err)
	if e == nil {
		return false
	}
	return e.Kind == bench.Unavailable || Status(err) == http.StatusTooManyRequests
}
