package erldist

import (
	"fmt"
	"slices"
)

// Control messages, by the first element of their tuples. Of most there is a form with a
// trace token, which follows and is skipped, and of some one that has its reason in the
// message behind.
const (
	opLink          = 1
	opSend          = 2
	opExit          = 3
	opUnlink        = 4
	opRegSend       = 6
	opSendTT        = 12
	opRegSendTT     = 16
	opMonitor       = 19
	opDemonitor     = 20
	opMonitorExit   = 21
	opSendSender    = 22
	opSendSenderTT  = 23
	opUnlinkID      = 35
	opUnlinkIDAck   = 36
	mostControlArgs = 16
)

// Reasons of exits.
const (
	normal    = Atom("normal")
	noProcess = Atom("noproc")
)

// These are the tuples, without the trace token that some forms have at their end:
//
//	{1, From, To}               link            {2, Unused, To}             send
//	{3, From, To, Reason}       exit            {6, From, Unused, Name}     send by name
//	{19, From, To, Ref}         monitor         {20, From, To, Ref}         demonitor
//	{21, To, From, Ref, Reason} its end         {22, From, To}              send, with who
//	{35, Id, From, To}          unlink          {36, Id, From, To}          its confirm

// direct reads the control message of a frame. If it is the header of a message it returns
// the mailbox that this is for and the message, as much of it as is in b; otherwise, and for
// processes that are not there, no mailbox.
func (p *Peer) direct(b []byte) (*Mailbox, []byte, error) {
	if len(b) == 0 || b[0] != passThrough {
		return nil, nil, fmt.Errorf("it sent a frame of a kind that was declined: %.4x", b)
	}
	r, err := NewReader(b[1:])
	if err != nil {
		return nil, nil, fmt.Errorf("it sent no control message: %w", err)
	}
	whole := r
	arity, err := r.Tuple()
	if err != nil || arity > mostControlArgs {
		return nil, nil, fmt.Errorf("it sent no control message, but a tuple of %d: %w", arity, err)
	}
	op, err := r.SmallInt()
	if err != nil {
		return nil, nil, fmt.Errorf("it sent no control message: %w", err)
	}
	var to *Mailbox
	switch op {
	case opSend, opSendTT, opSendSender, opSendSenderTT:
		to, err = p.toPid(&r, arity)
	case opRegSend, opRegSendTT:
		to, err = p.toName(&r, arity)
	default:
		return nil, nil, p.housekeeping(whole)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("it sent no control message: %w", err)
	}
	return to, r.Rest(), nil
}

// toPid reads {Op, Unused or From, To} and what may follow.
func (p *Peer) toPid(r *Reader, arity int) (*Mailbox, error) {
	if _, err := r.Raw(); err != nil {
		return nil, err
	}
	pid, _, err := r.Pid()
	if err != nil {
		return nil, err
	}
	return p.node.byPid(pid), skip(r, arity-3)
}

// toName reads {Op, From, Unused, To} and what may follow.
func (p *Peer) toName(r *Reader, arity int) (*Mailbox, error) {
	if err := skip(r, 2); err != nil {
		return nil, err
	}
	name, err := r.Atom()
	if err != nil {
		return nil, err
	}
	return p.node.byName(name), skip(r, arity-4)
}

// skip reads over n terms. Fewer than none are missing from the tuple.
func skip(r *Reader, n int) error {
	if n < 0 {
		return termError("a tuple of too few")
	}
	for range n {
		if _, err := r.Raw(); err != nil {
			return err
		}
	}
	return nil
}

// housekeeping does what the other node expects of a node besides messages. What it may
// send and nobody here needs is ignored: exits, since a mailbox outlives what it is linked
// to; group leaders; answers to what is never asked.
func (p *Peer) housekeeping(r Reader) error {
	t, err := r.Term()
	if err != nil {
		return fmt.Errorf("it sent no control message: %w", err)
	}
	c, ok := t.(Tuple)
	if !ok || len(c) == 0 {
		return fmt.Errorf("it sent no control message: %w", ErrTerm)
	}
	switch op, _ := c[0].(int64); {
	case op == opLink && len(c) == 3:
		return p.linked(c[1], c[2])
	case op == opUnlink && len(c) == 3:
		p.unwatch(c[2], watcher{peer: p, from: c[1]})
	case op == opUnlinkID && len(c) == 4:
		p.unwatch(c[3], watcher{peer: p, from: c[2]})
		return p.control(Tuple{opUnlinkIDAck, c[1], c[3], c[2]})
	case op == opMonitor && len(c) == 4:
		return p.monitored(c[1], c[2], c[3])
	case op == opDemonitor && len(c) == 4:
		p.unwatch(c[2], watcher{peer: p, from: c[1], ref: c[3]})
	}
	return nil
}

// A watcher is a process of another node that wants to know of a mailbox's end: one that is
// linked to it, or one that monitors it, with a reference and by the name or pid it has used.
type watcher struct {
	peer    *Peer
	from    Term // a Pid
	ref     Term // a Ref, or nothing for a link
	watched Term // a Pid or an Atom
}

// maxWatchers bounds how many may watch one mailbox.
const maxWatchers = 1 << 16

// tell tells a watcher that what it watches has ended. A connection that is gone tells it
// that by itself.
func (w watcher) tell(m *Mailbox, reason Atom) {
	if w.ref == nil {
		_ = w.peer.control(Tuple{opExit, m.pid, w.from, reason})
		return
	}
	_ = w.peer.control(Tuple{opMonitorExit, w.watched, w.from, w.ref, reason})
}

// linked links a process of the other node to a mailbox.
func (p *Peer) linked(from, to Term) error {
	if m := p.find(to); m != nil && m.watch(watcher{peer: p, from: from}) {
		return nil
	}
	return p.control(Tuple{opExit, to, from, noProcess})
}

// monitored has a process of the other node watch a mailbox.
func (p *Peer) monitored(from, to, ref Term) error {
	if m := p.find(to); m != nil && m.watch(watcher{peer: p, from: from, ref: ref, watched: to}) {
		return nil
	}
	return p.control(Tuple{opMonitorExit, to, from, ref, noProcess})
}

// unwatch undoes a link or a monitor.
func (p *Peer) unwatch(to Term, w watcher) {
	if m := p.find(to); m != nil {
		m.unwatch(w)
	}
}

// find returns the mailbox of a pid or a name, or nil.
func (p *Peer) find(t Term) *Mailbox {
	switch t := t.(type) {
	case Pid:
		return p.node.byPid(t)
	case Atom:
		return p.node.byName([]byte(t))
	}
	return nil
}

// watch adds a watcher, unless the mailbox has ended or there are too many.
func (m *Mailbox) watch(w watcher) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isClosed() || len(m.watchers) >= maxWatchers {
		return false
	}
	m.watchers = append(m.watchers, w)
	return true
}

// unwatch takes away the watchers that are the same process with the same reference.
func (m *Mailbox) unwatch(w watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers = slices.DeleteFunc(m.watchers, func(o watcher) bool {
		return o.peer == w.peer && sameName(o.from, w.from) && sameName(o.ref, w.ref)
	})
}

// sameName compares pids and references, and nothing with nothing. Other terms may not be
// comparable, and are never the same.
func sameName(a, b Term) bool {
	switch a.(type) {
	case Pid, Ref, nil:
	default:
		return false
	}
	switch b.(type) {
	case Pid, Ref, nil:
		return a == b
	default:
		return false
	}
}

// forget takes away the watchers of a connection that is gone.
func (m *Mailbox) forget(p *Peer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers = slices.DeleteFunc(m.watchers, func(w watcher) bool { return w.peer == p })
}
