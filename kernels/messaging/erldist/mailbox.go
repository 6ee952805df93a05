package erldist

import (
	"context"
	"fmt"
	"sync"
)

// A Handler takes those of a mailbox's messages that come over one connection, on the
// goroutine that reads this, which reads nothing more until it returns. The message is good
// until then; it may answer by the Peer's Send.
type Handler func(p *Peer, message []byte)

// A Mailbox is a process to the other nodes: it has a pid, and may have a name. One
// goroutine receives from it; any number may send to it.
type Mailbox struct {
	node *Node
	pid  Pid
	raw  []byte // the pid as it is written
	name string
	make func() Handler // makes the handler of a connection; nil when messages are kept for Receive

	mu       sync.Mutex
	room     sync.Cond // told when there is room again
	queue    [][]byte  // a ring; its length is a power of two
	head     int       // where the oldest message is
	count    int
	bytes    int      // of all the messages that wait
	free     [][]byte // buffers for messages to come
	last     []byte   // what Receive has given out
	asleep   bool     // whether Receive waits for a wake
	wake     chan struct{}
	closed   chan struct{}
	watchers []watcher
}

// Sizes of a mailbox.
const (
	firstQueue = 16
	maxFree    = 4       // buffers that are kept
	smallest   = 2 << 10 // bytes of a new buffer
)

func newMailbox(n *Node, pid Pid, name string, h func() Handler) (*Mailbox, error) {
	raw, err := appendPid(nil, pid)
	if err != nil {
		return nil, err
	}
	m := &Mailbox{
		node: n, pid: pid, raw: raw, name: name, make: h,
		queue: make([][]byte, firstQueue), wake: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	m.room.L = &m.mu
	return m, nil
}

// Pid returns the mailbox's pid.
func (m *Mailbox) Pid() Pid { return m.pid }

// AppendPid writes the pid as a part of a term.
func (m *Mailbox) AppendPid(b []byte) []byte { return append(b, m.raw...) }

// Receive takes the oldest message, which is good until the next call. It waits for one
// until ctx is done, the mailbox is closed (ErrClosed) or, if p is not nil, the connection
// to that peer is down, which is an error that wraps ErrDown. What came before is received
// before.
func (m *Mailbox) Receive(ctx context.Context, p *Peer) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The caller is done with the message before, whose buffer may serve again.
	if m.last != nil && len(m.free) < maxFree {
		m.free = append(m.free, m.last)
	}
	m.last = nil
	if m.count == 0 {
		if err := m.await(ctx, p); err != nil {
			return nil, err
		}
	}
	m.last = m.queue[m.head]
	m.queue[m.head] = nil
	m.head = (m.head + 1) & (len(m.queue) - 1)
	m.count--
	if m.bytes -= len(m.last); m.bytes <= m.node.config.MaxMailbox {
		m.room.Broadcast()
	}
	return m.last, nil
}

// await sleeps until there is a message. The caller holds the lock, and holds it again
// afterwards.
func (m *Mailbox) await(ctx context.Context, p *Peer) error {
	var down <-chan struct{}
	if p != nil {
		down = p.down
	}
	for {
		m.asleep = true
		m.mu.Unlock()
		var err error
		select {
		case <-m.wake:
		case <-ctx.Done():
			err = ctx.Err()
		case <-down:
			err = p.Err()
		case <-m.closed:
			err = fmt.Errorf("receive from a mailbox: %w", ErrClosed)
		}
		m.mu.Lock()
		m.asleep = false
		// A message that is there counts for more than whatever else has happened. A wake
		// without one is left from an earlier sleep that something else has ended.
		if m.count > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Buffers go round: from here to the reader, which fills them, through the queue to the one
// who receives, and back at the next call of Receive. In a steady exchange none is made.

// buffer returns a buffer for a message of n bytes, one that was used before if there is one.
func (m *Mailbox) buffer(n int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := len(m.free) - 1; last >= 0 {
		b := m.free[last]
		m.free = m.free[:last]
		if cap(b) >= n {
			return b[:n]
		}
	}
	return make([]byte, n, max(n, smallest))
}

// put adds a message that is in one of the mailbox's buffers. It blocks while too much
// waits already, so that whoever sends faster than is received is slowed down by TCP.
func (m *Mailbox) put(message []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.bytes > m.node.config.MaxMailbox && !m.isClosed() {
		m.room.Wait()
	}
	if m.isClosed() {
		return
	}
	if m.count == len(m.queue) {
		bigger := make([][]byte, 2*len(m.queue))
		n := copy(bigger, m.queue[m.head:])
		copy(bigger[n:], m.queue[:m.head])
		m.queue, m.head = bigger, 0
	}
	m.queue[(m.head+m.count)&(len(m.queue)-1)] = message
	m.count++
	m.bytes += len(message)
	if m.asleep {
		m.asleep = false
		select {
		case m.wake <- struct{}{}:
		default: // it has been woken already
		}
	}
}

// isFull tells whether put would block.
func (m *Mailbox) isFull() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes > m.node.config.MaxMailbox
}

func (m *Mailbox) isClosed() bool {
	select {
	case <-m.closed:
		return true
	default:
		return false
	}
}

// Close ends the mailbox: what is sent to it from now on is gone, and who is linked to it or
// monitors it is told that it ended normally. A second call does nothing.
func (m *Mailbox) Close() {
	m.node.remove(m)
	for _, w := range m.end() {
		w.tell(m, normal)
	}
}

// end closes the mailbox for its users and returns who is to be told.
func (m *Mailbox) end() []watcher {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isClosed() {
		close(m.closed)
	}
	m.room.Broadcast()
	told := m.watchers
	m.watchers = nil
	return told
}

// giveBack keeps a buffer for a message to come.
func (m *Mailbox) giveBack(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.free) < maxFree {
		m.free = append(m.free, b)
	}
}
