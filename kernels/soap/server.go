package soap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"benchd/kernels"
	"benchd/kernels/direct"
	"benchd/kernels/envelope"
)

// The time-outs of the embedded service. A client that stalls loses its connection; one
// that pauses between two calls does not, as long as a trial may pause.
const (
	callTimeout = 2 * time.Minute // from the first byte of a request to the last of its answer
	idleTimeout = 10 * time.Minute
)

// parting is how long calls at work may take to end after the service was told to.
const parting = 500 * time.Millisecond

// Serve runs the service until ctx is done, at the address kernels.Listen or on a random port
// of the loopback. It calls ready with the URL of the service.
func (Echo) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	s := Services{Listen: p[kernels.Listen], Model: envelope.Model(p.Word("model")), TLS: p.Bool("tls"), waiting: waiting(p)}
	if err := s.Serve(ctx, func(at Addresses) { ready(at.believed(at.Echo)) }); err != nil {
		return fmt.Errorf("serve soap.echo: %w", err)
	}
	return nil
}

// A server has the connections of a service. That of net/http would do, but it makes twice
// the allocations and reads ahead in a second goroutine, and what a service costs is part of
// the figure. What is hard about HTTP, to parse a request and to know where its body ends, is
// left to net/http all the same.
type server struct {
	service *service
	tls     *tls.Config   // nil for none
	waiting chan struct{} // as many in it as there are connections that wait in the system call
	closing atomic.Bool   // no session begins another call
	places  chan struct{} // as many in it as there are connections

	mu       sync.Mutex
	sessions map[*session]struct{}
	ended    sync.WaitGroup
}

func newServer(s *service, settings *tls.Config, waiting int) *server {
	return &server{
		service: s, tls: settings, waiting: make(chan struct{}, waiting), sessions: make(map[*session]struct{}),
		places: make(chan struct{}, s.limits.Connections),
	}
}

// serve accepts connections until ctx is done or the listener fails, and returns when the
// last session has ended.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() {
		s.closing.Store(true)
		_ = listener.Close() // which ends Accept
	})
	defer stop()
	err := s.accept(ctx, listener)
	s.end()
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(fmt.Errorf("accept a connection: %w", err), listener.Close())
}

// accept begins sessions until the listener fails for good.
func (s *server) accept(ctx context.Context, listener net.Listener) error {
	pause := firstPause
	for {
		select {
		case s.places <- struct{}{}: // given back by the session
		case <-ctx.Done():
			return ctx.Err()
		}
		conn, err := listener.Accept()
		if err == nil {
			pause = firstPause
			s.begin(ctx, conn)
			continue
		}
		<-s.places
		if !passes(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, lastPause)
	}
}

// How long the service waits before it tries to accept a connection again, at first and at
// most.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// passes tells whether an error of Accept may pass: a client that is gone again, or that the
// system has no descriptors or memory left, which it may have when other connections end.
func passes(err error) bool {
	for _, known := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EPROTO} {
		if errors.Is(err, known) {
			return true
		}
	}
	var named interface{ Temporary() bool } // systems have other numbers for them
	return errors.As(err, &named) && named.Temporary() && !errors.Is(err, net.ErrClosed)
}

// begin runs the session of a new connection.
func (s *server) begin(ctx context.Context, conn net.Conn) {
	conn, done, err := s.prepare(conn)
	if err != nil {
		_ = conn.Close() // as if it could not be accepted
		<-s.places
		return
	}
	c := newSession(s, conn)
	s.mu.Lock()
	s.sessions[c] = struct{}{}
	s.mu.Unlock()
	s.ended.Go(func() {
		c.run(ctx)
		done()
		s.mu.Lock()
		delete(s.sessions, c)
		s.mu.Unlock()
		<-s.places
	})
}

// prepare lets a new connection wait in the system call if there is a place for it left. What
// it returns beside it is to be called at its end.
func (s *server) prepare(conn net.Conn) (prepared net.Conn, done func(), err error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, func() {}, nil
	}
	select {
	case s.waiting <- struct{}{}:
	default:
		return conn, func() {}, nil
	}
	done = func() { <-s.waiting }
	if prepared, err = direct.Take(tcp); err != nil {
		done()
		return conn, nil, err
	}
	return prepared, done, nil
}

// end closes what is idle at once, gives calls at work a while, and closes them too.
func (s *server) end() {
	s.closing.Store(true)
	close(s.service.budget.end)
	s.close(func(c *session) bool { return !c.atWork.Load() })
	timer := time.AfterFunc(parting, func() { s.close(func(*session) bool { return true }) })
	defer timer.Stop()
	s.ended.Wait()
}

// close closes the connections of the sessions that are chosen.
func (s *server) close(chosen func(*session) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.sessions {
		if chosen(c) {
			_ = c.raw.Close() // of no more use to anybody
		}
	}
}
