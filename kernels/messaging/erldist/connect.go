package erldist

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// maxPeers is how many nodes may be connected to one, or about to be.
const maxPeers = 1024

// An attempt is one to connect to another node.
type attempt struct {
	over   chan struct{}
	cancel context.CancelFunc
}

// Connect connects to a node, whose port the port mapper at epmd, host:port, knows; the node
// is on the same host. If there is a connection already, it is that one.
func (n *Node) Connect(ctx context.Context, name, epmd string) (*Peer, error) {
	return n.connect(ctx, name, func(ctx context.Context) (string, error) {
		host, _, err := net.SplitHostPort(epmd)
		if err != nil {
			return "", fmt.Errorf("read the port mapper's address: %w", err)
		}
		short, _, _ := strings.Cut(name, "@")
		e, err := Lookup(ctx, epmd, short)
		if err != nil {
			return "", err
		}
		if e.Highest < handshakeVersion {
			return "", fmt.Errorf("%w here: its newest handshake is of version %d; this is version %d", ErrRefused, e.Highest, handshakeVersion)
		}
		return net.JoinHostPort(host, strconv.Itoa(e.Port)), nil
	})
}

// ConnectAt connects to a node that listens at addr, host:port. If there is a connection
// already, it is that one.
func (n *Node) ConnectAt(ctx context.Context, name, addr string) (*Peer, error) {
	return n.connect(ctx, name, func(context.Context) (string, error) { return addr, nil })
}

// connect finds or makes the connection to a node. Of several that want it at one time one
// makes it.
func (n *Node) connect(ctx context.Context, name string, where func(context.Context) (string, error)) (*Peer, error) {
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("connect to a node: %w", err)
	}
	for {
		p, ours, other, err := n.look(name)
		if err != nil || p != nil {
			return p, err
		}
		if other != nil {
			select {
			case <-other.over:
				continue // and if that has failed, this caller is the next to try
			case <-ctx.Done():
				return nil, fmt.Errorf("connect to %s: %w", name, ctx.Err())
			}
		}
		p, err = n.try(ctx, name, ours, where)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", name, err)
		}
		return p, nil
	}
}

// look returns the connection to a node, or the attempt that somebody makes at one, or a
// new attempt that is the caller's to make.
func (n *Node) look(name string) (p *Peer, ours, other *attempt, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return nil, nil, nil, fmt.Errorf("connect to %s: the node is %w", name, ErrClosed)
	case n.up(name) != nil:
		return n.up(name), nil, nil, nil
	case n.attempts[name] != nil:
		return nil, nil, n.attempts[name], nil
	}
	ours = &attempt{over: make(chan struct{})}
	n.attempts[name] = ours
	return nil, ours, nil, nil
}

// up returns the connection to a node if it is up. The caller holds the lock.
func (n *Node) up(name string) *Peer {
	p := n.peers[name]
	if p == nil || p.isDown() {
		return nil
	}
	return p
}

// try makes one attempt. When both sides make one at the same time, one of them ends in
// favour of the other, and the connection that counts comes in from outside.
func (n *Node) try(ctx context.Context, name string, a *attempt, where func(context.Context) (string, error)) (*Peer, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	n.mu.Lock()
	a.cancel = cancel
	n.mu.Unlock()
	p, err := n.dial(within, name, where)
	n.mu.Lock()
	delete(n.attempts, name)
	close(a.over)
	there := n.up(name)
	n.mu.Unlock()
	switch {
	case err == nil:
		return p, nil
	case there != nil:
		return there, nil
	case errors.Is(err, errOwnAttempt) || within.Err() != nil && ctx.Err() == nil:
		return n.await(ctx, name, err)
	}
	return nil, err
}

// dial makes a connection and shakes hands.
func (n *Node) dial(ctx context.Context, name string, where func(context.Context) (string, error)) (*Peer, error) {
	addr, err := where(ctx)
	if err != nil {
		return nil, err
	}
	// Go's sockets are made without Nagle's algorithm, so that every write leaves at once.
	c, err := (&net.Dialer{Timeout: n.config.SetupTime}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if _, err = n.id.connect(ctx, c, name); err == nil {
		var p *Peer
		if p, err = n.install(name, c); err == nil {
			return p, nil
		}
	}
	_ = c.Close() // the error that counts is the one before
	return nil, err
}

// await waits for the connection that the other node makes.
func (n *Node) await(ctx context.Context, name string, cause error) (*Peer, error) {
	late := time.NewTimer(n.config.SetupTime)
	defer late.Stop()
	for {
		n.mu.RLock()
		p, arrived := n.up(name), n.arrived
		n.mu.RUnlock()
		if p != nil {
			return p, nil
		}
		select {
		case <-arrived:
		case <-late.C:
			return nil, fmt.Errorf("%w, and did not within %s", cause, n.config.SetupTime)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// welcome shakes hands with a node that has connected, and reads from it until it is gone.
func (n *Node) welcome(ctx context.Context, c net.Conn) {
	other, err := n.id.accept(ctx, c, n.decide)
	if err != nil {
		return // it has been told, as far as it can be
	}
	if p, err := n.install(other.name, c); err == nil {
		<-p.down
	}
}

// When two nodes connect to each other at one time, both would wait for ever, or end up with
// two connections, if each took the other's attempt for its own. So names decide, which both
// know and compare in the same way.

// decide says what becomes of a node that wants to connect. Of two that try it with each
// other, the attempt of the one with the greater name goes on.
func (n *Node) decide(name string) verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.attempts[name]
	switch {
	case n.closed || name == n.config.Name || len(n.peers) >= maxPeers:
		return notAllowed
	case n.up(name) != nil:
		return stillAlive
	case a == nil:
		return welcome
	case n.config.Name > name:
		return ownAttempt
	}
	if a.cancel != nil {
		a.cancel()
	}
	return simultaneous
}

// install makes a connection one of the node's, in place of an older one to the same node,
// and starts what it needs.
func (n *Node) install(name string, c net.Conn) (*Peer, error) {
	p := newPeer(n, name, c)
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil, fmt.Errorf("the node is %w", ErrClosed)
	}
	old := n.peers[name]
	n.peers[name] = p
	close(n.arrived)
	n.arrived = make(chan struct{})
	n.all.Go(func() { p.fail(p.read()) })
	n.all.Go(p.tick)
	n.mu.Unlock()
	if old != nil {
		old.fail(errors.New("the node has connected anew"))
	}
	return p, nil
}

// forget takes a connection that is gone out of the node.
func (n *Node) forget(p *Peer) {
	n.mu.Lock()
	if n.peers[p.name] == p {
		delete(n.peers, p.name)
	}
	boxes := make([]*Mailbox, 0, len(n.pids))
	for _, m := range n.pids {
		boxes = append(boxes, m)
	}
	n.mu.Unlock()
	for _, m := range boxes {
		m.forget(p)
	}
}
