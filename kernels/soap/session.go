package soap

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// headerLimit bounds the head of a request.
const headerLimit = 16 << 10

var errHeadTooLong = errors.New("the head of the request is too long")

// tlsHandshake is the first byte of a client that speaks TLS (RFC 8446, section 5.1). Since
// no method of HTTP begins with it, such a client need not be waited for until it gives up.
const tlsHandshake = 22

// A session is one connection of the service: calls one after another.
type session struct {
	server *server
	raw    net.Conn // the connection itself
	conn   net.Conn // what is spoken on: raw, or TLS over it
	source source
	reader *bufio.Reader
	atWork atomic.Bool // between the first byte of a request and the last of its answer
}

func newSession(s *server, conn net.Conn) *session {
	c := &session{server: s, raw: conn, conn: conn}
	if s.tls != nil {
		c.conn = tls.Server(conn, s.tls)
	}
	c.source = source{conn: c.conn, over: errHeadTooLong}
	c.reader = bufio.NewReaderSize(&c.source, 4<<10) // a head and beans in one piece; more goes past it
	return c
}

// run serves calls until one of both sides has had enough.
func (c *session) run(ctx context.Context) {
	defer func() { _ = c.conn.Close() }()
	if !c.greet(ctx) {
		return
	}
	for c.wait() && c.call() {
		c.atWork.Store(false)
	}
}

// greet makes the handshake of TLS, where it is spoken, and tells whether the connection can
// be used. Who speaks plain HTTP is told so in plain HTTP.
func (c *session) greet(ctx context.Context) bool {
	secure, ok := c.conn.(*tls.Conn)
	if !ok {
		return true
	}
	if c.raw.SetDeadline(time.Now().Add(handshakeTime)) != nil {
		return false
	}
	err := secure.HandshakeContext(ctx)
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && plain.Conn != nil {
		c.conn = c.raw
		x := c.server.service.take()
		defer c.server.service.give(x)
		a := x.plain(http.StatusBadRequest, "The service speaks TLS; its address begins with https.\n")
		a.keep = false
		if _, err := c.conn.Write(x.frame(a, time.Now())); err == nil {
			c.part()
		}
	}
	return err == nil
}

// wait waits for the first byte of a request and tells whether it came.
func (c *session) wait() bool {
	if c.server.closing.Load() || c.conn.SetReadDeadline(time.Now().Add(idleTimeout)) != nil {
		return false
	}
	c.source.left = headerLimit
	_, err := c.reader.Peek(1)
	c.atWork.Store(err == nil)
	return err == nil
}

// call reads a request, answers it, and tells whether the connection can carry another. What
// the call needed is given back before the connection is parted with, which takes a while.
func (c *session) call() bool {
	now := time.Now()
	if c.conn.SetDeadline(now.Add(callTimeout)) != nil {
		return false
	}
	x := c.server.service.take()
	x.pace = pace{conn: c.conn, stall: c.server.service.limits.Stall, until: now.Add(callTimeout)}
	keep, coming := c.exchange(x, now)
	c.server.service.give(x)
	if coming {
		c.part()
	}
	return keep
}

// exchange makes a call. It tells whether the connection can carry another, and, if not,
// whether there is an answer to read and more of the request may be coming.
func (c *session) exchange(x *exchange, now time.Time) (keep, coming bool) {
	r, err := c.request()
	var a reply
	switch {
	case err == nil:
		a = x.serve(r)
		a.keep, a.told = a.keep && !r.Close, !r.ProtoAtLeast(1, 1)
	case errors.Is(c.source.err, errHeadTooLong):
		a = x.plain(http.StatusRequestHeaderFieldsTooLarge, "The head of the request is too long.\n")
	case c.source.err != nil:
		return false, false // the client is gone, or stalls
	default:
		a = x.plain(http.StatusBadRequest, "The request is not HTTP: "+err.Error()+".\n")
	}
	answer := x.frame(a, now)
	if x.held > 0 && !c.hurry(len(answer)) {
		return false, false
	}
	if _, err := c.conn.Write(answer); err != nil {
		return false, false
	}
	return a.keep, !a.keep && (err != nil || !x.read || c.reader.Buffered() > 0)
}

// hurry gives the client no longer to read a large answer than it would have to send one, and
// tells whether the connection is still there.
func (c *session) hurry(bytes int) bool {
	soon := c.server.service.limits.Stall * time.Duration(1+bytes/paceBytes)
	return c.conn.SetWriteDeadline(time.Now().Add(min(soon, callTimeout))) == nil
}

// request reads the head of a request. Its body is read later, from what is behind it.
func (c *session) request() (*http.Request, error) {
	if first, err := c.reader.Peek(1); err == nil && first[0] == tlsHandshake {
		return nil, errors.New("it is TLS, and the service's address begins with http")
	}
	r, err := http.ReadRequest(c.reader)
	if err != nil {
		return nil, err
	}
	if r.Host == "" && r.ProtoAtLeast(1, 1) {
		return nil, errors.New("it has no Host header") // RFC 9112, section 3.2
	}
	c.source.left = math.MaxInt // the body has a limit of its own
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		r.Body = &promised{ReadCloser: r.Body, conn: c.conn}
	}
	return r, nil
}

// part ends a connection on which more of a request may be coming. To close it at once would
// take the answer away from a client that is still sending (RFC 9112, section 9.6).
func (c *session) part() {
	half, ok := c.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || c.conn.SetReadDeadline(time.Now().Add(parting)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, c.conn) // until the client closes its side, or for as long as that
}

// A promised body is sent once the service has said that it will read it (RFC 9110, section
// 10.1.1).
type promised struct {
	io.ReadCloser
	conn net.Conn
	said bool
}

func (p *promised) Read(b []byte) (int, error) {
	if !p.said {
		p.said = true
		if _, err := io.WriteString(p.conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return 0, err
		}
	}
	return p.ReadCloser.Read(b)
}

// A source reads from a connection, no more than a limit, and keeps the error.
type source struct {
	conn io.Reader
	left int   // until more is too much
	over error // then
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		s.err = s.over
		return 0, s.err
	}
	n, err := s.conn.Read(p[:min(len(p), s.left)])
	s.left -= n
	s.err = err
	return n, err
}
