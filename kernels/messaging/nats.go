package messaging

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"benchd/kernels"
)

// natsBroker is the NATS server, core messages only: nothing is stored, and a message
// without a receiver is gone.
//
// Request and reply go by the convention of NATS: the request names a reply subject of one
// use under the client's inbox, and the service publishes its answer there.
type natsBroker struct{}

var _ broker = natsBroker{}

const (
	natsSubject  = "benchd.echo"
	natsGroup    = "benchd.echo.services"
	natsPatience = 10 * time.Second
	// natsMaxPayload leaves room above the largest message, as natsMaxPending does for the
	// largest messages of all the lanes at once, which the service's connection may have to
	// hold; the server cuts off who exceeds it.
	natsMaxPayload = 8 << 20
	natsMaxPending = 1 << 30
)

// start runs a server that logs nothing, handles no signals and knows no other server.
func (natsBroker) start(_ context.Context, _ kernels.Params) (string, func(), error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "benchd", Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoLog: true, NoSigs: true, NoSystemAccount: true,
		MaxPayload: natsMaxPayload, MaxPending: natsMaxPending,
	})
	if err != nil {
		return "", nil, fmt.Errorf("make a NATS server: %w", err)
	}
	stop := func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	s.Start()
	if !s.ReadyForConnections(natsPatience) {
		stop()
		return "", nil, fmt.Errorf("start a NATS server: it took no connections within %s", natsPatience)
	}
	return s.Addr().String(), stop, nil
}

// respond runs as many services as can work at one time, each on a connection of its own,
// in one queue group, so that the server hands each request to one of them.
func (natsBroker) respond(ctx context.Context, addr string, p kernels.Params, newService func() service, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := min(max(1, p.Int("clients")), runtime.GOMAXPROCS(0))
	links := make([]*natsLink, 0, n)
	defer func() {
		for _, l := range links {
			l.close()
		}
	}()
	for range n {
		l, err := natsListen(ctx, addr)
		if err != nil && ctx.Err() != nil {
			return nil // told to end before it was ready
		}
		if err != nil {
			return err
		}
		links = append(links, l)
	}
	ready()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i, l := range links {
		all.Go(func() {
			errs[i] = l.serve(ctx, newService())
			cancel()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// natsListen connects a service and makes sure that the server knows of its subscription.
func natsListen(ctx context.Context, addr string) (*natsLink, error) {
	l, err := natsConnect(ctx, addr)
	if err != nil {
		return nil, err
	}
	_, err = l.conn.ChanQueueSubscribe(natsSubject, natsGroup, l.messages)
	if err == nil {
		err = l.conn.FlushTimeout(natsPatience)
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("subscribe to %s: %w", natsSubject, err)
	}
	return l, nil
}

// serve answers requests until ctx is done, which is its orderly end.
func (l *natsLink) serve(ctx context.Context, answer service) error {
	for {
		select {
		case m := <-l.messages:
			if err := l.conn.Publish(m.Reply, answer(m.Data)); err != nil {
				return fmt.Errorf("publish a reply: %w", err)
			}
		case <-l.lost:
			if ctx.Err() != nil {
				return nil
			}
			return errLost
		case <-ctx.Done():
			return nil
		}
	}
}

// dial connects one lane.
func (natsBroker) dial(ctx context.Context, addr string, _ kernels.Params) (conn, error) {
	l, err := natsInbox(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &natsConn{addr: addr, link: l}, nil
}

// natsConn is the connection of one lane over all its losses.
type natsConn struct {
	addr    string
	link    *natsLink // nil after a loss
	backoff backoff
	number  uint64
}

// roundTrip publishes the request and waits for the message on its reply subject.
//
// Of the ways that the client library offers this is the one with the fewest steps: the
// subscription hands its messages straight to a channel, where a request of the library's
// own passes a handler's goroutine, a map and a channel made for it.
func (c *natsConn) roundTrip(ctx context.Context, request []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("send a request: %w", err)
	}
	if err := c.connected(ctx); err != nil {
		return nil, err
	}
	c.number++
	reply, err := c.link.request(ctx, c.number, request)
	if err != nil && c.link.isLost() {
		c.link.close()
		c.link = nil
	}
	return reply, err
}

// connected makes sure that there is a link.
func (c *natsConn) connected(ctx context.Context) error {
	if c.link != nil {
		return nil
	}
	if err := c.backoff.wait(ctx); err != nil {
		return fmt.Errorf("wait to connect again: %w", err)
	}
	l, err := natsInbox(ctx, c.addr)
	if err != nil {
		c.backoff.failed()
		return fmt.Errorf("connect again: %w", err)
	}
	c.backoff.succeeded()
	c.link = l
	return nil
}

// close ends the connection; a second call does nothing.
func (c *natsConn) close() error {
	if c.link != nil {
		c.link.close()
		c.link = nil
	}
	return nil
}

// request sends one request and waits for its reply.
func (l *natsLink) request(ctx context.Context, number uint64, request []byte) ([]byte, error) {
	due := string(strconv.AppendUint(l.inbox, number, 36))
	if err := l.conn.PublishRequest(natsSubject, due, request); err != nil {
		if l.isLost() {
			return nil, &kernels.Failure{Class: "reset", Err: fmt.Errorf("publish a request: %w", err)}
		}
		return nil, fmt.Errorf("publish a request: %w", err)
	}
	for {
		select {
		case m := <-l.messages:
			if m.Subject == due {
				return natsReply(m)
			}
			if !l.givenUp[m.Subject] {
				return nil, mismatch("a reply came on %s, due was one on %s", m.Subject, due)
			}
			delete(l.givenUp, m.Subject)
		case <-l.lost:
			return nil, &kernels.Failure{Class: "reset", Err: fmt.Errorf("wait for a reply: %w", errLost)}
		case <-ctx.Done():
			// The reply may still come, and must not be taken for the next one.
			l.givenUp[due] = true
			return nil, fmt.Errorf("wait for a reply: %w", ctx.Err())
		}
	}
}

// natsReply returns the message's bytes, unless it is the server's word that nobody listens
// on the subject: status 503 and no bytes.
func natsReply(m *nats.Msg) ([]byte, error) {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return nil, &kernels.Failure{Class: "refused", Err: nats.ErrNoResponders}
	}
	return m.Data, nil
}
