package soap

import (
	"fmt"
	"sync/atomic"
	"time"

	"benchd/kernels"
)

// callPatience is how long a service may take to answer. A slow machine may need seconds for
// a megabyte; one that needs longer than this has not understood the call, or is gone.
const callPatience = 30 * time.Second

// patientBytes is how many bytes a second are expected at least of a call that carries many.
const patientBytes = 256 << 10

// patienceFor returns the patience with a call that carries so many bytes, in whole seconds.
func patienceFor(bytes float64) time.Duration {
	return callPatience + time.Duration(bytes/patientBytes)*time.Second
}

// looks is how often a call is looked at before it has taken too long.
const looks = 6

// A guard ends a call that takes longer than the patience with it. Calls tell it no more than
// that they begin and end; a timer looks now and then whether it is still the same one. So a
// call reads no clock and sets no deadline, and one that is ended may have lasted a sixth
// longer than it should.
type guard struct {
	patience time.Duration
	calls    atomic.Uint64 // begun and ended: odd while one is at work; and overdue

	// These belong to who holds the client's lock:
	timer *time.Timer
	seen  uint64 // calls at the last look
	times int    // it was seen before
	over  bool   // the client is closed
}

// overdue is set in a guard's calls when the one at work has taken too long.
const overdue = 1 << 63

func (g *guard) begin() { g.calls.Add(1) }

// end tells whether the call was ended for taking too long.
func (g *guard) end() bool {
	n := g.calls.Add(1)
	if n&overdue == 0 {
		return false
	}
	g.calls.Store(n &^ overdue)
	return true
}

// late makes the failure of a call that is not answered.
func late(patience time.Duration) *kernels.Failure {
	return &kernels.Failure{Class: classTimeout, Err: fmt.Errorf("the service took the call and did not answer within %v", patience)}
}

// stand makes the guard begin to look.
func (c *client) stand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guard.timer = time.AfterFunc(c.guard.patience/looks, c.look)
}

// look ends the call that it has seen too often. It does so under the lock, so that a call
// that ends meanwhile finds its connection marked and none that comes later does.
func (c *client) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := &c.guard
	if g.over {
		return
	}
	now := g.calls.Load()
	if now != g.seen {
		g.seen, g.times = now, 0
	} else {
		g.times++
	}
	if now%2 == 1 && now&overdue == 0 && g.times >= looks && c.conn != nil && g.calls.CompareAndSwap(now, now|overdue) {
		_ = c.conn.SetDeadline(time.Unix(1, 0)) // fails only on a closed connection, where all operations fail
	}
	g.timer.Reset(g.patience / looks)
}

// goOff makes the guard look no more.
func (c *client) goOff() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guard.over = true
	if c.guard.timer != nil {
		c.guard.timer.Stop()
	}
}
