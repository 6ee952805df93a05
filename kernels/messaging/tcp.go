package messaging

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"benchd/kernels"
)

// tcpBroker is no broker at all: each lane has a TCP connection to the echo service itself,
// and a message is its length in four bytes and then its bytes. What a broker costs is what
// it is slower than this.
//
// It remembers its listener between start and respond, so that a value serves one start.
type tcpBroker struct{ listener net.Listener }

var _ broker = (*tcpBroker)(nil)

const (
	tcpHeader  = 4       // bytes of a length, big endian
	tcpLargest = 8 << 20 // bytes of a message; a longer one is a frame out of step
	// tcpCopied is how much of a message is copied behind its length, so that both are written
	// at once; what is longer is written from where it is.
	tcpCopied = 64 << 10
	tcpBuffer = 16 << 10 // bytes that are asked for at first
)

// start listens.
func (b *tcpBroker) start(ctx context.Context, _ kernels.Params) (string, func(), error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for connections: %w", err)
	}
	b.listener = l
	// respond has closed it already when it ended in order.
	return "tcp://" + l.Addr().String(), func() { _ = l.Close() }, nil
}

// respond takes the lanes' connections and answers each from a goroutine of its own. A
// connection that breaks is its lane's affair.
func (b *tcpBroker) respond(ctx context.Context, addr string, p kernels.Params, newService func() service, ready func(string)) error {
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = b.listener.Close() }) // Accept then says all there is to say
	ready(addr)
	for {
		c, err := b.listener.Accept()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("accept a connection: %w", err)
		}
		if isLone(p) {
			if c, err = lone(c); err != nil {
				return fmt.Errorf("accept a connection: %w", err)
			}
		}
		all.Go(func() {
			defer func() { _ = c.Close() }()
			defer context.AfterFunc(ctx, func() { _ = c.Close() })()
			_ = newTCPLink(c).serve(newService()) // ends with the connection
		})
	}
}

// dial connects one lane.
func (*tcpBroker) dial(ctx context.Context, addr string, p kernels.Params) (conn, error) {
	at, err := parsePlace(addr)
	if err != nil {
		return nil, err
	}
	c := &tcpConn{addr: at.hostPort(), alone: isLone(p)}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// tcpConn is the connection of one lane over all its losses.
type tcpConn struct {
	addr    string
	alone   bool     // whether it waits in the system call
	link    *tcpLink // nil after a loss
	backoff backoff
	leash   tcpLeash
}

// roundTrip writes the request and reads the reply. Since a lane has one message under way,
// the frame that comes is the reply, and after an error nothing that still comes would be:
// the connection is given up.
func (c *tcpConn) roundTrip(ctx context.Context, request []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("send a request: %w", err)
	}
	if c.link == nil {
		if err := c.again(ctx); err != nil {
			return nil, err
		}
	}
	c.leash.hold(ctx, c.link.conn)
	err := c.link.send(request)
	if err == nil {
		var reply []byte
		if reply, err = c.link.receive(); err == nil {
			return reply, nil
		}
	}
	_ = c.close() // the error that counts is the one before
	var failure *kernels.Failure
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("wait for a reply: %w", ctx.Err())
	case errors.As(err, &failure):
		return nil, err
	}
	return nil, &kernels.Failure{Class: "reset", Err: fmt.Errorf("%w: %w", errLost, err)}
}

// again connects after a loss, not before the pause is over.
func (c *tcpConn) again(ctx context.Context) error {
	if err := c.backoff.wait(ctx); err != nil {
		return fmt.Errorf("wait to connect again: %w", err)
	}
	if err := c.connect(ctx); err != nil {
		c.backoff.failed()
		return fmt.Errorf("connect again: %w", err)
	}
	c.backoff.succeeded()
	return nil
}

// connect connects and waits for the service's greeting, an empty message: a system takes
// connections for a process that does not.
func (c *tcpConn) connect(ctx context.Context) error {
	wire, err := dialTCP(ctx, c.addr)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", c.addr, err)
	}
	if c.alone {
		if wire, err = lone(wire); err != nil {
			return fmt.Errorf("connect to %s: %w", c.addr, err)
		}
	}
	c.link = newTCPLink(wire)
	c.leash.hold(ctx, wire)
	if _, err := c.link.receive(); err != nil {
		_ = c.close() // the error that counts is the one before
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("wait for the greeting of the service at %s: %w", c.addr, err)
	}
	return nil
}

// close ends the connection; a second call does nothing.
func (c *tcpConn) close() error {
	if c.link == nil {
		return nil
	}
	c.leash.release()
	err := c.link.conn.Close()
	c.link = nil
	if err != nil {
		return fmt.Errorf("close the connection: %w", err)
	}
	return nil
}

// tcpLeash breaks off what goes on at a socket when a context ends. It is held on from call
// to call, since all calls of a lane come under one context: they pay for a look at it.
type tcpLeash struct {
	wire   net.Conn
	done   <-chan struct{}
	stop   func() bool
	pulled chan struct{}
}

// hold puts a socket on the leash of a context.
func (l *tcpLeash) hold(ctx context.Context, wire net.Conn) {
	if ctx.Done() == l.done && wire == l.wire {
		return
	}
	l.release()
	l.done, l.wire = ctx.Done(), wire
	if l.done == nil {
		return
	}
	pulled := make(chan struct{})
	l.pulled = pulled
	l.stop = context.AfterFunc(ctx, func() {
		defer close(pulled)
		_ = wire.SetDeadline(time.Unix(1, 0)) // fails on a closed socket only, which is as good
	})
}

// release takes the socket off. A leash that was pulled between two calls is undone.
func (l *tcpLeash) release() {
	if l.stop != nil && !l.stop() {
		<-l.pulled
		_ = l.wire.SetDeadline(time.Time{}) // as above
	}
	*l = tcpLeash{}
}

// tcpLink is one end of a connection, which carries one message at a time.
type tcpLink struct {
	conn net.Conn
	in   []byte // the frame that was read last is at its beginning
	out  []byte
}

// newTCPLink makes an end of a socket. Go's sockets are made without Nagle's algorithm, so
// that every message leaves at once.
func newTCPLink(c net.Conn) *tcpLink {
	return &tcpLink{conn: c, in: make([]byte, tcpBuffer), out: make([]byte, 0, tcpHeader+tcpBuffer)}
}

// serve greets and then answers every request until the connection ends.
func (l *tcpLink) serve(answer service) error {
	if err := l.send(nil); err != nil {
		return err
	}
	for {
		request, err := l.receive()
		if err != nil {
			return err
		}
		reply := answer(request)
		if len(reply) > 0 && len(reply) == len(request) && &reply[0] == &request[0] {
			// The request itself still stands behind its length.
			_, err = l.conn.Write(l.in[:tcpHeader+len(reply)])
		} else {
			err = l.send(reply)
		}
		if err != nil {
			return err
		}
	}
}

// send writes a message with its length, in one go unless it is long.
func (l *tcpLink) send(message []byte) error {
	first := min(len(message), tcpCopied)
	l.out = append(binary.BigEndian.AppendUint32(l.out[:0], uint32(len(message))), message[:first]...)
	_, err := l.conn.Write(l.out)
	if err == nil && first < len(message) {
		_, err = l.conn.Write(message[first:])
	}
	return err
}

// receive reads one message, which is good until the next call. It asks for all that there
// is, since more than the one message cannot be under way.
func (l *tcpLink) receive() ([]byte, error) {
	for n := 0; ; {
		if n >= tcpHeader {
			end := tcpHeader + int(binary.BigEndian.Uint32(l.in))
			if end > tcpHeader+tcpLargest || n > end {
				return nil, mismatch("what came is no frame: its length says %d bytes, and %d came", end-tcpHeader, n-tcpHeader)
			}
			if n == end {
				return l.in[tcpHeader:end], nil
			}
			if end > len(l.in) {
				l.in = append(make([]byte, 0, end), l.in[:n]...)[:end]
			}
		}
		m, err := l.conn.Read(l.in[n:])
		if n += m; err != nil && m == 0 {
			return nil, err
		}
	}
}
