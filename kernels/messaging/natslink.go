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
	lost     chan struct{} // closed once the connection is gone, for whatever reason
}

// natsConnect connects to a server.
func natsConnect(ctx context.Context, at place) (*natsLink, error) {
	return natsConnectRoom(ctx, at, room)
}

// natsConnectRoom connects to a server, with room for so many messages.
func natsConnectRoom(ctx context.Context, at place, room int) (*natsLink, error) {
	l := &natsLink{messages: make(chan *nats.Msg, room), lost: make(chan struct{})}
	options := []nats.Option{
		nats.Name("benchd"), nats.NoReconnect(), nats.Timeout(connectPatience),
		nats.ClosedHandler(func(*nats.Conn) { close(l.lost) }),
		// By default the library writes to standard error; what it tells shows as a lost
		// connection or a reply that does not come.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if at.secure() {
		settings, err := at.tls()
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Secure(settings))
	}
	d := &natsDialer{ctx: ctx}
	// The library takes no context for its part of the handshake; closing the socket under
	// it ends that as well.
	release := context.AfterFunc(ctx, d.abandon)
	defer release()
	var err error
	l.conn, err = nats.Connect(at.url.String(), append(options, nats.SetCustomDialer(d))...)
	if err == nil {
		return l, nil
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case d.err != nil:
		err = d.err // the library tells a refused connection as "no servers available"
	}
	return nil, fmt.Errorf("connect to the NATS server at %s: %w", at.url.Host, err)
}

// next takes the next message of any subscription.
func (l *natsLink) next(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-l.messages:
		return m, nil
	case <-l.lost:
		return nil, lostBy(nil)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// close ends the connection, sends what is still to be sent, and returns when the library
// has let go of it.
func (l *natsLink) close() error { //nolint:unparam // a wire may fail to close, this one does not
	l.conn.Close()
	<-l.lost
	return nil
}

// natsDialer makes the library's socket, bounded by a context, and remembers why it could not.
type natsDialer struct {
	ctx  context.Context
	err  error
	made atomic.Pointer[net.Conn]
}

// Dial connects without Nagle's algorithm, so that every message leaves at once.
func (d *natsDialer) Dial(_, address string) (net.Conn, error) {
	c, err := dialTCP(d.ctx, address)
	if err != nil {
		d.err = err
		return nil, err
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
