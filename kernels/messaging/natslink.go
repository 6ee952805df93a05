package messaging

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// natsLink is one connection to a NATS server, from its making to its loss. The client
// library does not bring it back: when and how often that is tried is for the lane to say.
type natsLink struct {
	conn     *nats.Conn
	messages chan *nats.Msg
	lost     chan struct{}   // closed once the connection is gone, for whatever reason
	inbox    []byte          // the reply subjects up to the number, with room for one behind it
	givenUp  map[string]bool // reply subjects whose requests ran out of time
}

// natsRoom is how many messages a link holds for its reader: more than there can be under
// way, since every client waits for its reply.
const natsRoom = 2 * maxLanes

// natsNumber is the longest a 64-bit number gets in base 36.
const natsNumber = 13

// natsConnect connects to the server at addr.
func natsConnect(ctx context.Context, addr string) (*natsLink, error) {
	l := &natsLink{messages: make(chan *nats.Msg, natsRoom), lost: make(chan struct{}), givenUp: make(map[string]bool)}
	d := &natsDialer{ctx: ctx}
	// The library takes no context for its part of the handshake; closing the socket under
	// it ends that as well.
	release := context.AfterFunc(ctx, d.abandon)
	defer release()
	var err error
	l.conn, err = nats.Connect("nats://"+addr,
		nats.Name("benchd"), nats.NoReconnect(), nats.Timeout(natsPatience), nats.SetCustomDialer(d),
		nats.ClosedHandler(func(*nats.Conn) { close(l.lost) }),
		// By default the library writes to standard error; what it tells shows as a lost
		// connection or a reply that does not come.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err == nil {
		return l, nil
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case d.err != nil:
		err = d.err // the library tells a refused connection as "no servers available"
	}
	return nil, fmt.Errorf("connect to the NATS server at %s: %w", addr, err)
}

// natsInbox connects to the server at addr and subscribes to an inbox of its own.
func natsInbox(ctx context.Context, addr string) (*natsLink, error) {
	l, err := natsConnect(ctx, addr)
	if err != nil {
		return nil, err
	}
	inbox := l.conn.NewInbox() + "."
	if _, err := l.conn.ChanSubscribe(inbox+"*", l.messages); err != nil {
		l.close()
		return nil, fmt.Errorf("subscribe to the inbox %s*: %w", inbox, err)
	}
	l.inbox = append(make([]byte, 0, len(inbox)+natsNumber), inbox...)
	return l, nil
}

// isLost tells whether the connection is gone.
func (l *natsLink) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return l.conn.IsClosed()
	}
}

// close ends the connection, sends what is still to be sent, and returns when the library
// has let go of it.
func (l *natsLink) close() {
	l.conn.Close()
	<-l.lost
}

// natsDialer makes the library's socket, bounded by a context, and remembers why it could not.
type natsDialer struct {
	ctx  context.Context
	err  error
	made atomic.Pointer[net.Conn]
}

// Dial connects without Nagle's algorithm, so that every message leaves at once.
func (d *natsDialer) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: natsPatience}).DialContext(d.ctx, network, address)
	if err != nil {
		d.err = err
		return nil, err
	}
	if t, ok := c.(*net.TCPConn); ok {
		if err := t.SetNoDelay(true); err != nil {
			d.err = fmt.Errorf("set TCP_NODELAY: %w", err)
			_ = c.Close() // the error that counts is the one before
			return nil, d.err
		}
	}
	d.made.Store(&c)
	return c, nil
}

// abandon closes the socket under a handshake that goes on for too long.
func (d *natsDialer) abandon() {
	if c := d.made.Load(); c != nil {
		_ = (*c).Close() // whatever it says, the handshake fails
	}
}
