package erldist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Peer is a connection to another node. Any number of goroutines may send by it.
//
// What several of them send at one time leaves in one write: who finds nobody writing
// writes, and who does not leaves its message for the one who does. Nobody waits for more
// to come.
type Peer struct {
	node *Node
	name string
	conn net.Conn
	down chan struct{} // closed once the connection is gone

	mu      sync.Mutex
	turn    sync.Cond // told when a write is over
	out     []byte    // what is to be written
	spare   []byte    // what out is next
	writing bool
	corked  bool // whether the reader writes what is in out
	err     error

	wrote   atomic.Bool // since the last tick
	heard   atomic.Bool // since the last tick
	blocked atomic.Bool // whether the reader waits for room in a mailbox

	handlers map[*Mailbox]Handler // of the reader
	vector   net.Buffers          // of the one who writes
	pieces   [2][]byte
}

const (
	// copied is the longest message, in bytes, that is copied behind its header; for longer
	// ones the system gathers both.
	copied = 32 << 10
	// waiting is how much may wait to be written, in bytes, before a sender waits too.
	waiting = 1 << 20
	// frameHead is the length in front of a frame, in bytes.
	frameHead = 4
	// passThrough begins every frame that has no header of an atom cache.
	passThrough = 112
)

func newPeer(n *Node, name string, c net.Conn) *Peer {
	p := &Peer{node: n, name: name, conn: c, down: make(chan struct{}), handlers: make(map[*Mailbox]Handler)}
	p.turn.L = &p.mu
	return p
}

// Name is the other node's name.
func (p *Peer) Name() string { return p.name }

// Down is closed once the connection is gone.
func (p *Peer) Down() <-chan struct{} { return p.down }

// Err says why the connection is down, as an error that wraps ErrDown, or nothing while it
// is up.
func (p *Peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *Peer) isDown() bool {
	select {
	case <-p.down:
		return true
	default:
		return false
	}
}

// Close ends the connection.
func (p *Peer) Close() { p.fail(fmt.Errorf("it was %w here", ErrClosed)) }

// fail ends the connection, unless it is gone already.
func (p *Peer) fail(cause error) {
	p.mu.Lock()
	first := p.err == nil
	if first {
		p.err = fmt.Errorf("%w: %s: %w", ErrDown, p.name, cause)
		close(p.down)
		p.turn.Broadcast()
	}
	p.mu.Unlock()
	if first {
		_ = p.conn.Close() // whatever it says, the connection is gone
		p.node.forget(p)
	}
}

// Send sends a message to a process of the other node, by the bytes of its pid (see
// Reader.Pid). The message is a whole one, head and then tail, where tail may be nil: a long
// part of the message that is better not copied. Both are the caller's again afterwards.
func (p *Peer) Send(pid, head, tail []byte) error {
	if err := p.begin(len(tail)); err != nil {
		return err
	}
	start := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0, passThrough, tagVersion, tagSmallTuple, 3, tagSmallInt, opSend, tagSmallAtomUTF, 0)
	p.out = append(p.out, pid...)
	return p.finish(start, head, tail)
}

// SendName sends a message to the process of the other node that is registered as name. The
// rest is as in Send.
func (p *Peer) SendName(from *Mailbox, name string, head, tail []byte) error {
	if len(name) > maxAtom {
		return fmt.Errorf("send to %.300q: a name has up to %d bytes", name, maxAtom)
	}
	if err := p.begin(len(tail)); err != nil {
		return err
	}
	start := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0, passThrough, tagVersion, tagSmallTuple, 4, tagSmallInt, opRegSend)
	p.out = append(p.out, from.raw...)
	p.out = append(p.out, tagSmallAtomUTF, 0, tagSmallAtomUTF, byte(len(name)))
	p.out = append(p.out, name...)
	return p.finish(start, head, tail)
}

// control sends a control message that has no other message with it.
func (p *Peer) control(t Tuple) error {
	body, err := Append(nil, t)
	if err != nil {
		return err
	}
	if err := p.begin(0); err != nil {
		return err
	}
	start := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0, passThrough)
	return p.finish(start, body, nil)
}

// begin takes the lock, once there is room for a message. With a long tail it also takes the
// right to write, since nothing may come between the message's two parts.
func (p *Peer) begin(tail int) error {
	p.mu.Lock()
	for p.err == nil && (p.writing && (tail > copied || len(p.out) > waiting)) {
		p.turn.Wait()
	}
	if p.err != nil {
		defer p.mu.Unlock()
		return p.err
	}
	return nil
}

// finish completes the message that begins at start, gives the lock back and makes sure that
// somebody writes.
func (p *Peer) finish(start int, head, tail []byte) error {
	p.out = append(p.out, head...)
	binary.BigEndian.PutUint32(p.out[start:], uint32(len(p.out)-start-frameHead+len(tail)))
	switch {
	case len(tail) > copied:
		// begin has made sure that nobody writes, and what waited goes in front.
		p.write(tail)
		p.writeAll()
	case p.writing || p.corked:
		p.out = append(p.out, tail...)
	default:
		p.out = append(p.out, tail...)
		p.writeAll()
	}
	err := p.err
	p.mu.Unlock()
	return err
}

// cork has what is sent wait for uncork: the reader, which has several messages at once,
// answers them together.
func (p *Peer) cork() {
	p.mu.Lock()
	p.corked = true
	p.mu.Unlock()
}

// uncork writes what has been sent since cork.
func (p *Peer) uncork() {
	p.mu.Lock()
	p.corked = false
	p.mu.Unlock()
	p.flush()
}

// maxRounds is how many times one sender writes for all before somebody else must.
const maxRounds = 64

// writeAll writes until nothing is left. The caller holds the lock and has seen that nobody
// writes.
func (p *Peer) writeAll() {
	for rounds := 0; len(p.out) > 0 && p.err == nil; rounds++ {
		if rounds == maxRounds {
			// While the connection is up its reader is, so that there is something to wait for.
			p.node.all.Go(p.flush)
			return
		}
		p.write(nil)
	}
}

// flush writes what waits, unless somebody does.
func (p *Peer) flush() {
	p.mu.Lock()
	if !p.writing {
		p.writeAll()
	}
	p.mu.Unlock()
}

// write writes what waits, and the tail behind it. It lets go of the lock meanwhile.
func (p *Peer) write(tail []byte) {
	p.writing = true
	if len(tail) == 0 {
		// Who is about to send, gets to: their messages leave in the same write.
		p.mu.Unlock()
		runtime.Gosched()
		p.mu.Lock()
	}
	// Two buffers take turns: senders fill one while the other is written.
	out := p.out
	p.out, p.spare = p.spare[:0], nil
	p.mu.Unlock()
	var err error
	if len(tail) == 0 {
		_, err = p.conn.Write(out)
	} else {
		p.pieces = [2][]byte{out, tail}
		p.vector = p.pieces[:]
		_, err = p.vector.WriteTo(p.conn)
		p.pieces = [2][]byte{}
	}
	p.wrote.Store(true)
	if err != nil {
		p.fail(fmt.Errorf("write: %w", err))
	}
	p.mu.Lock()
	p.spare = out
	p.writing = false
	p.turn.Broadcast()
}

// errSilent is why a connection is given up.
var errSilent = errors.New("it says nothing")

// tick sends a sign of life when nothing else was sent for a quarter of the tick time, and
// gives the connection up when none has come for all of it.
func (p *Peer) tick() {
	const quarters = 4
	every := time.NewTicker(p.node.config.TickTime / quarters)
	defer every.Stop()
	for silent := 0; ; {
		select {
		case <-p.down:
			return
		case <-every.C:
		}
		if silent++; p.heard.Swap(false) || p.blocked.Load() {
			silent = 0
		}
		if silent > quarters {
			p.fail(fmt.Errorf("%w for %s", errSilent, p.node.config.TickTime))
			return
		}
		if !p.wrote.Swap(false) {
			p.sendTick()
		}
	}
}

// sendTick sends an empty frame. When somebody writes already, and does not get on, the
// other side does not read: nothing is to be added to that.
func (p *Peer) sendTick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing || p.err != nil {
		return
	}
	late := time.AfterFunc(p.node.config.TickTime, func() { p.fail(fmt.Errorf("it reads nothing for %s", p.node.config.TickTime)) })
	defer late.Stop()
	p.out = append(p.out, 0, 0, 0, 0)
	p.writeAll()
}
