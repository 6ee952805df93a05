package soap

import (
	"cmp"
	"runtime"
	"sync"
	"time"
)

// Limits bound what the embedded services take on. A zero is the default.
type Limits struct {
	// Connections is how many there may be at once, 8192 by default: twice what a kernel
	// makes. Those beyond wait in the system's queue until one ends.
	Connections int
	// Memory is how many bytes all large calls may hold at once: by default 256 MB, and 8 MB
	// more for each CPU. Calls beyond wait for it. Small calls, of up to 32 KB, never do.
	Memory int64
	// Wait is how long a call waits for memory before it is refused with the status 503; by
	// default 20 seconds.
	Wait time.Duration
	// Stall is how long the next 64 KB of a large body may take, 10 seconds by default; a client
	// that is slower loses its connection. What waits for memory is not slow.
	Stall time.Duration
}

// filled returns the limits with the defaults in them.
func (l Limits) filled() Limits {
	return Limits{
		Connections: cmp.Or(l.Connections, 2*maxClients),
		Memory:      cmp.Or(l.Memory, 256<<20+8<<20*int64(runtime.GOMAXPROCS(0))),
		Wait:        cmp.Or(l.Wait, 20*time.Second),
		Stall:       cmp.Or(l.Stall, 10*time.Second),
	}
}

const (
	smallBytes = 32 << 10 // of a body for which memory is not asked for
	paceBytes  = 64 << 10 // of a large body that have to come within Limits.Stall
	callCopies = 3        // times the length of its body that a call holds: that, what is read from it, and the answer
)

// A budget is memory that calls share. One that asks for more than there is waits behind all
// that asked before.
type budget struct {
	all  int64
	wait time.Duration
	end  chan struct{} // closed when nobody needs to wait any more

	mu      sync.Mutex
	left    int64 // below 0 when more was added than was asked for
	waiting []*claim
}

// A claim is what a call waits for.
type claim struct {
	bytes int64
	met   chan struct{}
}

func newBudget(l Limits) *budget {
	return &budget{all: l.Memory, left: l.Memory, wait: l.Wait, end: make(chan struct{})}
}

// take takes so many bytes, waits for them if need be, and tells whether it got them.
func (b *budget) take(bytes int64) bool {
	b.mu.Lock()
	if len(b.waiting) == 0 && b.left >= bytes {
		b.left -= bytes
		b.mu.Unlock()
		return true
	}
	c := &claim{bytes, make(chan struct{})}
	b.waiting = append(b.waiting, c)
	b.mu.Unlock()
	timer := time.NewTimer(b.wait)
	defer timer.Stop()
	select {
	case <-c.met:
		return true
	case <-timer.C:
	case <-b.end:
	}
	return !b.withdraw(c)
}

// withdraw takes a claim back and tells whether it was still waiting.
func (b *budget) withdraw(c *claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == c {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.meet()
			return true
		}
	}
	return false
}

// add gives bytes back, or takes them without a question if there are fewer than none.
func (b *budget) add(bytes int64) {
	if bytes == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += bytes
	b.meet()
}

// meet meets the claims for which there is enough. The caller holds the lock.
func (b *budget) meet() {
	for len(b.waiting) > 0 && b.left >= b.waiting[0].bytes {
		b.left -= b.waiting[0].bytes
		close(b.waiting[0].met)
		b.waiting = b.waiting[1:]
	}
}

// hold makes the exchange have memory for a body of so many bytes, and tells whether it has.
// No call may have more than half of the budget: the other half is what idle exchanges may
// keep, and nobody waits for that to be given back.
func (x *exchange) hold(bytes int) bool {
	more := min(callCopies*int64(bytes), x.budget.all/2) - x.held
	if more <= 0 {
		return true
	}
	if !x.budget.take(more) {
		return false
	}
	x.held += more
	return true
}

// settle makes what the exchange holds of the budget that which it keeps in its buffers. It
// tells whether they are worth keeping: large ones are not.
func (x *exchange) settle() bool {
	x.in = nil // it is part of out, or was
	bytes := cap(x.out) + cap(x.spare)
	keep, held := bytes <= keptBytes, int64(0)
	if keep && bytes > smallBytes {
		held = callCopies * int64(bytes)
	}
	x.budget.add(x.held - held)
	x.held = held
	return keep
}

// drop gives back what an exchange that is let go holds.
func (x *exchange) drop() {
	x.budget.add(x.held)
	x.held = 0
}
