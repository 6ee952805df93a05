package messaging

import (
	"context"
	"sync"
)

// A letter is one message between mailboxes: who sent it, its number, and a reference to
// its payload, which the sender must leave alone from then on.
type letter struct {
	from    *mailbox
	number  uint64
	payload []byte
}

// A mailbox is an unbounded queue, first in, first out, for any number of senders and
// receivers. It is a ring that doubles when it is full and is used again when it is not,
// so that a steady exchange allocates nothing.
type mailbox struct {
	mu      sync.Mutex
	ring    []letter // its length is a power of two
	head    int      // where the oldest letter is
	count   int
	waiters int           // receivers that found the mailbox empty
	wake    chan struct{} // holds one token when letters may be there for waiters
}

// firstRing is the number of letters that a new mailbox has room for.
const firstRing = 16

func newMailbox() *mailbox {
	return &mailbox{ring: make([]letter, firstRing), wake: make(chan struct{}, 1)}
}

// send puts a letter in and never blocks.
func (m *mailbox) send(l letter) {
	m.mu.Lock()
	if m.count == len(m.ring) {
		m.grow()
	}
	m.ring[(m.head+m.count)&(len(m.ring)-1)] = l
	m.count++
	if m.waiters > 0 {
		m.signal()
	}
	m.mu.Unlock()
}

// receive takes the oldest letter out. It blocks while there is none, until the context is
// done. It looks at the context only when it has to wait.
func (m *mailbox) receive(ctx context.Context) (letter, error) {
	m.mu.Lock()
	if m.count == 0 {
		if err := m.await(ctx); err != nil {
			m.mu.Unlock()
			return letter{}, err
		}
	}
	oldest := &m.ring[m.head]
	l := *oldest
	*oldest = letter{} // the ring keeps no payload alive
	m.head = (m.head + 1) & (len(m.ring) - 1)
	m.count--
	if m.waiters > 0 {
		m.signal()
	}
	m.mu.Unlock()
	return l, nil
}

// await sleeps until there is a letter or the context is done. The caller holds the lock,
// and holds it again afterwards.
func (m *mailbox) await(ctx context.Context) error {
	m.waiters++
	defer func() { m.waiters-- }()
	for m.count == 0 {
		m.mu.Unlock()
		var err error
		select {
		case <-m.wake:
		case <-ctx.Done():
			err = ctx.Err()
		}
		m.mu.Lock()
		if err != nil {
			// The token may have been meant for this receiver: leave one for the next.
			m.signal()
			return err
		}
	}
	return nil
}

// waiting is the number of letters in the mailbox.
func (m *mailbox) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

// signal leaves a token for a receiver that waits, if there is a letter for it. Every
// receiver that takes a letter signals again, so one token is enough for any number of
// them. The caller holds the lock and knows that somebody may wait.
func (m *mailbox) signal() {
	if m.count == 0 {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// grow doubles the ring and moves the oldest letter to its beginning. The caller holds the
// lock.
func (m *mailbox) grow() {
	bigger := make([]letter, 2*len(m.ring))
	n := copy(bigger, m.ring[m.head:])
	copy(bigger[n:], m.ring[:m.head])
	m.ring, m.head = bigger, 0
}
