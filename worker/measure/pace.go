package measure

import (
	"context"
	"time"
)

// A schedule says when a lane's operations are to begin. It is made before the first and
// never waits for a late one: what a stall delays begins late, one after another, and is
// charged for the delay from its own place in the schedule. (Tene, How not to measure
// latency: the omission of the calls that a stalled server kept from being made.)
//
// The schedule runs in the lane's own measured time, so that what happens between two slices
// delays nothing.
type schedule struct {
	interval time.Duration
	next     time.Duration // start of the next operation
	now      time.Duration // end of the last slice
	sleeper  Sleeper
}

// A Sleeper sleeps until a lane's next operation is due.
type Sleeper interface {
	// Sleep returns after the time given, or earlier when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
	// Close gives back what the sleeper holds.
	Close() error
}

// newSchedule spreads a rate in operations per second over lanes: each takes every n-th start.
func newSchedule(rate, lane, lanes int, s Sleeper) *schedule {
	each := time.Second / time.Duration(rate)
	return &schedule{interval: time.Duration(lanes) * time.Second / time.Duration(rate), next: time.Duration(lane) * each, sleeper: s}
}

// runPaced works for one slice by the lane's schedule.
func (l *lane) runPaced(ctx context.Context, length time.Duration) {
	l.ops, l.elapsed = 0, 0
	start := time.Now()
	p := l.pace
	defer func() { p.now += l.elapsed }()
	for l.fatal == nil {
		due := p.next - p.now
		if due >= length {
			l.sleep(ctx, start, length)
			return
		}
		idle := due > l.elapsed
		if !l.sleep(ctx, start, due) {
			return
		}
		began := l.elapsed
		p.next += p.interval
		err := l.trial.Do(ctx, 1)
		l.elapsed = time.Since(start)
		switch {
		case err == nil:
			l.ops++
			l.row = 0
			l.times.add(l.elapsed-due, l.elapsed-began)
			if idle {
				l.times.late.record(int64(began - due))
			}
		case ctx.Err() != nil:
			return
		default:
			l.fail(err)
		}
		if l.elapsed >= length {
			return
		}
	}
}

// sleep waits for a moment of the slice, unless it has passed or ctx ends.
func (l *lane) sleep(ctx context.Context, start time.Time, until time.Duration) bool {
	if wait := until - time.Since(start); wait > 0 {
		if err := l.pace.sleeper.Sleep(ctx, wait); err != nil && ctx.Err() == nil {
			l.fatal = err
			return false
		}
	}
	l.elapsed = max(time.Since(start), l.elapsed)
	return ctx.Err() == nil
}
