package erldist

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// readBuffer is how much is asked for at a time, in bytes. A message that does not fit
	// goes from the socket to where it is kept.
	readBuffer = 64 << 10
	// maxControl is how many bytes the control message of a long frame may have. A pid, or a
	// name, is at most a kilobyte long.
	maxControl = 8 << 10
)

// A frames reads frames off a connection. A frame is its length in four bytes, big endian,
// and then, unless it is empty and so a sign of life:
//
//	112, control message, message
//
// where both messages are terms with the version before each, and not every control message
// has a message behind it.
type frames struct {
	peer       *Peer
	buf        []byte
	start, end int // what has been read and not used
}

// read delivers what comes until the connection ends, and says why it does.
func (p *Peer) read() error {
	f := frames{peer: p, buf: make([]byte, readBuffer)}
	for {
		n, whole, err := f.next()
		if err != nil {
			return err
		}
		if whole {
			err = f.several(n)
		} else {
			err = f.long(n)
		}
		if err != nil {
			return err
		}
	}
}

// next makes sure that a frame, or the part of it that is needed, is in the buffer. It
// returns the frame's length and whether all of it is there.
func (f *frames) next() (n int, whole bool, err error) {
	if err := f.fill(frameHead); err != nil {
		return 0, false, err
	}
	size := binary.BigEndian.Uint32(f.buf[f.start:])
	if most := f.peer.node.config.MaxMessage + maxControl; uint64(size) > uint64(most) {
		return 0, false, fmt.Errorf("it sent a frame of %d bytes; %d are allowed", size, most)
	}
	n = int(size)
	if frameHead+n <= len(f.buf) {
		return n, true, f.fill(frameHead + n)
	}
	return n, false, f.fill(frameHead + maxControl)
}

// fill makes sure that n bytes are in the buffer.
func (f *frames) fill(n int) error {
	if f.end-f.start >= n {
		return nil
	}
	if f.start > 0 {
		f.end = copy(f.buf, f.buf[f.start:f.end])
		f.start = 0
	}
	for f.end < n {
		m, err := f.peer.conn.Read(f.buf[f.end:])
		f.end += m
		if m > 0 {
			f.peer.heard.Store(true)
		} else if err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
	return nil
}

// Several frames in one piece are the rule when several mailboxes of the other side are busy:
// it coalesces them as we do. Each is dealt with in its order, so that what one process sends
// another arrives as it was sent.

// several delivers the frame of n bytes that is in the buffer, and those behind it that are
// there too. What is answered to them leaves together.
func (f *frames) several(n int) error {
	corked := f.isWhole(f.start + frameHead + n)
	if corked {
		f.peer.cork()
		defer f.peer.uncork()
	}
	for {
		begin := f.start + frameHead
		f.start = begin + n
		if n > 0 {
			if err := f.peer.frame(f.buf[begin:f.start]); err != nil {
				return err
			}
		}
		if !f.isWhole(f.start) {
			return nil
		}
		n = int(binary.BigEndian.Uint32(f.buf[f.start:]))
	}
}

// isWhole tells whether all of the frame that begins at a place is in the buffer.
func (f *frames) isWhole(at int) bool {
	there := f.end - at
	return there >= frameHead && uint64(binary.BigEndian.Uint32(f.buf[at:])) <= uint64(there-frameHead)
}

// frame delivers one frame that is in the buffer.
func (p *Peer) frame(b []byte) error {
	to, message, err := p.direct(b)
	if err != nil || to == nil {
		return err
	}
	if h := p.handler(to); h != nil {
		h(p, message)
		return nil
	}
	kept := to.buffer(len(message))
	copy(kept, message)
	p.put(to, kept)
	return nil
}

// handler returns the connection's handler of a mailbox, or nil if it has none.
func (p *Peer) handler(m *Mailbox) Handler {
	if m.make == nil {
		return nil
	}
	h := p.handlers[m]
	if h == nil {
		h = m.make()
		p.handlers[m] = h
	}
	return h
}

// put puts a message into a mailbox. While that has no room the other side's silence says
// nothing.
func (p *Peer) put(to *Mailbox, message []byte) {
	if !to.isFull() {
		to.put(message)
		return
	}
	p.blocked.Store(true)
	to.put(message)
	p.blocked.Store(false)
}

// long delivers a frame of n bytes that does not fit into the buffer, straight from the
// socket into a buffer of its mailbox.
func (f *frames) long(n int) error {
	p := f.peer
	begin := f.start + frameHead
	to, message, err := p.direct(f.buf[begin:f.end])
	if err != nil {
		return err
	}
	missing := n - (f.end - begin)
	f.start, f.end = 0, 0
	if to == nil {
		_, err := io.CopyN(io.Discard, p.conn, int64(missing))
		return err
	}
	// The message is copied once at most, from the first piece: what is still to come goes to
	// its place by itself.
	kept := to.buffer(len(message) + missing)
	have := copy(kept, message)
	if err := f.rest(kept[have:]); err != nil {
		return err
	}
	if h := p.handler(to); h != nil {
		h(p, kept)
		to.giveBack(kept)
		return nil
	}
	p.put(to, kept)
	return nil
}

// rest reads the rest of a long message.
func (f *frames) rest(b []byte) error {
	for len(b) > 0 {
		m, err := f.peer.conn.Read(b)
		b = b[m:]
		if m > 0 {
			f.peer.heard.Store(true)
		} else if err != nil {
			return fmt.Errorf("read: %w", err)
		}
	}
	return nil
}
