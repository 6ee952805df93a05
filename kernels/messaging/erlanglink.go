package messaging

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"benchd/kernels/messaging/erldist"
)

// An erlangPlace is where a node of Erlang is, with the cookie that it has:
//
//	erlang://:COOKIE@HOST:PORT/NAME@HOST/PROCESS
//
// The port is that of the host's port mapper, or that of the node itself with ?epmd=false
// behind. The process is echo where none is named. Without a node it is only the place of
// the port mapper.
type erlangPlace struct {
	place
	cookie  string
	node    string
	process string
	direct  bool
}

// parseErlang reads the address of a node.
func parseErlang(addr string) (erlangPlace, error) {
	p, err := parsePlace(addr)
	if err != nil {
		return erlangPlace{}, err
	}
	at := erlangPlace{place: p, process: erlangProcess, direct: p.url.Query().Get("epmd") == "false"}
	_, at.cookie = p.credentials("", "")
	node, process, named := strings.Cut(strings.Trim(p.url.Path, "/"), "/")
	if at.node = node; named {
		at.process = process
	}
	if at.cookie == "" {
		return erlangPlace{}, fmt.Errorf("the address of the Erlang node at %s has no cookie; it is written erlang://:COOKIE@HOST:PORT/NAME@HOST", p.url.Host)
	}
	return at, nil
}

// String writes what parseErlang reads.
func (p erlangPlace) String() string {
	u := *p.url
	u.Path = "/" + p.node
	if p.process != erlangProcess {
		u.Path += "/" + p.process
	}
	q := url.Values{}
	if p.direct {
		q.Set("epmd", "false")
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// start starts a node that connects to the place, and to which nobody can connect. The host
// in its name is that of the other's, since nodes with short names and nodes with long ones
// do not speak to each other.
func (p erlangPlace) start(ctx context.Context) (*erldist.Node, error) {
	host := erlangHost(p.node)
	if host == "" {
		return nil, fmt.Errorf("%q, in the address of the port mapper at %s, is no name of a node; one is like echo@127.0.0.1", p.node, p.url.Host)
	}
	return erldist.Start(ctx, erldist.Config{Name: unguessable() + "@" + host, Cookie: p.cookie})
}

// peer connects a node to the place.
func (p erlangPlace) peer(ctx context.Context, n *erldist.Node) (*erldist.Peer, error) {
	if p.direct {
		return n.ConnectAt(ctx, p.node, p.hostPort())
	}
	return n.Connect(ctx, p.node, p.hostPort())
}

// An erlangLink is a mailbox of a node, and the node's connection to another.
type erlangLink struct {
	at      erlangPlace
	peer    *erldist.Peer
	box     *erldist.Mailbox
	leave   func() error // gives the node back
	sending *erlangLeash
}

// newErlangLink connects a node, unless it is connected, and opens a mailbox at it. leave
// gives the node back, at once if that fails.
func newErlangLink(ctx context.Context, n *erldist.Node, at erlangPlace, leave func() error) (*erlangLink, error) {
	p, err := at.peer(ctx, n)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	box, err := n.Open("")
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	return &erlangLink{at: at, peer: p, box: box, leave: leave, sending: &erlangLeash{peer: p}}, nil
}

// ask sends a message to the process of the place.
func (l *erlangLink) ask(ctx context.Context, head, tail []byte) error {
	err := l.sending.under(ctx, func() error { return l.peer.SendName(l.box, l.at.process, head, tail) })
	if errors.Is(err, erldist.ErrDown) && ctx.Err() == nil {
		return lostBy(err)
	}
	return err
}

// answer waits for a message, which is good until the next call.
func (l *erlangLink) answer(ctx context.Context) ([]byte, error) {
	message, err := l.box.Receive(ctx, l.peer)
	if errors.Is(err, erldist.ErrDown) {
		return nil, lostBy(err)
	}
	return message, err
}

// describe tells what carries the messages.
func (l *erlangLink) describe() map[string]string {
	return map[string]string{
		"broker": "none, Erlang nodes speak to each other", "node": l.at.node, "handshake": "6",
		"delivery": "at most once", "storage": "none",
	}
}

// close closes the mailbox and leaves the node. A second call does nothing.
func (l *erlangLink) close() error {
	l.sending.release()
	l.box.Close()
	leave := l.leave
	l.leave = func() error { return nil }
	return leave()
}

// An erlangLeash ends a connection on which somebody writes when the time for that is over:
// a message that has been written in part cannot be taken back. It is held on from call to
// call, since all calls of a lane come under one context.
type erlangLeash struct {
	peer    *erldist.Peer
	ctx     context.Context
	stop    func() bool
	writing atomic.Bool
}

// under runs what writes.
func (l *erlangLeash) under(ctx context.Context, write func() error) error {
	if l.ctx != ctx {
		l.release()
		l.ctx = ctx
		l.stop = context.AfterFunc(ctx, func() {
			if l.writing.Load() {
				l.peer.Close()
			}
		})
	}
	l.writing.Store(true)
	defer l.writing.Store(false)
	// Either the context's end finds somebody writing, or this finds its end.
	if err := ctx.Err(); err != nil {
		return err
	}
	return write()
}

// release lets go of the context.
func (l *erlangLeash) release() {
	if l.stop != nil {
		l.stop()
	}
	l.ctx, l.stop = nil, nil
}

// erlangNodes are the nodes that lanes of one trial share, by the address they connect to.
// Its zero value is ready.
type erlangNodes struct {
	mu    sync.Mutex
	nodes map[string]*sharedNode
}

// A sharedNode is a node and how many lanes use it.
type sharedNode struct {
	node  *erldist.Node
	lanes int
}

// join opens a mailbox at the node for a place, which it starts if it is not there. The last
// that leaves ends it.
func (s *erlangNodes) join(ctx context.Context, at erlangPlace) (*erlangLink, error) {
	n, leave, err := s.node(ctx, at)
	if err != nil {
		return nil, err
	}
	return newErlangLink(ctx, n, at, leave)
}

// node returns the node for a place, and what gives it back.
func (s *erlangNodes) node(ctx context.Context, at erlangPlace) (*erldist.Node, func() error, error) {
	addr := at.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[addr]
	if n == nil {
		started, err := at.start(ctx)
		if err != nil {
			return nil, nil, err
		}
		n = &sharedNode{node: started}
		if s.nodes == nil {
			s.nodes = make(map[string]*sharedNode)
		}
		s.nodes[addr] = n
	}
	n.lanes++
	return n.node, func() error { return s.leave(addr, n) }, nil
}

// leave takes one lane off a node.
func (s *erlangNodes) leave(addr string, n *sharedNode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.lanes--; n.lanes > 0 {
		return nil
	}
	delete(s.nodes, addr)
	return n.node.Close()
}
