package soap

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"benchd/kernels"
	"benchd/kernels/direct"
)

// Limits of an answer and of its head.
const (
	answerLimit = 8 << 20
	headRoom    = 64 << 10
)

var errAnswerTooLong = malformed("the answer and its head are longer than %d bytes", answerLimit+headRoom)

// A client sends requests over one connection, which it keeps, and makes a new one when the
// service has closed it. net/http.Transport would do the same with two goroutines for each
// connection and several times the allocations; what a client costs is part of the figure.
//
// One goroutine uses it; only interrupt may come from another.
type client struct {
	endpoint
	gzip  bool   // bodies are compressed
	head  string // the request's head up to the value of Content-Length
	once  bool   // a connection is for one call
	waits bool   // connections wait in the system call

	request http.Request // what the answers are answers to
	out     []byte       // room for the head, and the body behind it
	in      []byte       // the body of the last answer
	kind    string       // its content type
	coding  string       // what its body came in
	coded   []byte       // the body before it was unpacked
	unpack  unpacker
	source  source
	reader  *bufio.Reader
	served  bool // the connection has carried an answer
	guard   guard
	facts   facts

	mu      sync.Mutex // held to change, or to read in interrupt:
	raw     net.Conn   // the connection; nil when there is none
	conn    net.Conn   // what is spoken on: raw, or TLS over it
	watched *watch     // nil when no context is
}

// lengthRoom is room for the value of Content-Length and the empty line.
const lengthRoom = 24

// newClient makes a client that sends bodies of a content type. Without an action there is no
// header for it.
func newClient(to endpoint, kind, action string) *client {
	head := "POST " + to.uri + " HTTP/1.1\r\nHost: " + to.name + "\r\nUser-Agent: benchd\r\nContent-Type: " + kind + "\r\n"
	if action != "" {
		head += "SOAPAction: \"" + action + "\"\r\n"
	}
	if to.auth != "" {
		head += "Authorization: " + to.auth + "\r\n"
	}
	c := &client{endpoint: to, head: head + lengthName, request: http.Request{Method: http.MethodPost}}
	c.guard.patience = callPatience
	c.reader = bufio.NewReaderSize(&c.source, 16<<10)
	return c
}

// lengthName ends the head.
const lengthName = "Content-Length: "

// single makes the client take a new connection for each call, and say so.
func (c *client) single() {
	c.once = true
	c.say("Connection: close\r\n")
}

// compressed makes the client say that what it sends is gzip, and that it takes it too.
func (c *client) compressed() {
	c.gzip = true
	c.say("Content-Encoding: " + codingGzip + "\r\nAccept-Encoding: " + codingGzip + "\r\n")
}

// say adds a field to the head.
func (c *client) say(field string) {
	c.head = strings.TrimSuffix(c.head, lengthName) + field + lengthName
}

// body returns the empty slice to append the body of the next request to: behind the room
// for its head, so that both are sent with one write and nothing is moved.
func (c *client) body() []byte {
	return slices.Grow(c.out[:0], len(c.head)+lengthRoom)[:len(c.head)+lengthRoom]
}

// frame writes the head in front of the body and returns the whole request.
func (c *client) frame(out []byte) []byte {
	c.out = out
	room := len(c.head) + lengthRoom
	var tail [lengthRoom]byte
	end := append(strconv.AppendInt(tail[:0], int64(len(out)-room), 10), "\r\n\r\n"...)
	begin := room - len(end) - len(c.head)
	copy(out[begin:], c.head)
	copy(out[begin+len(c.head):], end)
	return out[begin:]
}

// call sends the request that was appended to body and returns the status and the body of
// the answer, which are valid until the next call.
//
// A service may close a connection between two calls. If it has, which shows before the
// first byte of an answer, the call is made once more on a new connection.
func (c *client) call(ctx context.Context, out []byte) (status int, answer []byte, err error) {
	request := c.frame(out)
	return c.try(ctx, func() error {
		_, err := c.conn.Write(request)
		return err
	})
}

// try makes a call whose request is written to the connection by send.
func (c *client) try(ctx context.Context, send func() error) (status int, answer []byte, err error) {
	if c.guard.timer == nil {
		c.stand()
	}
	for {
		served := c.conn != nil && c.served
		if c.conn == nil {
			if err := c.connect(ctx); err != nil {
				return 0, nil, err
			}
		}
		begun := false
		c.guard.begin()
		status, begun, err = c.exchange(send)
		tooLate := c.guard.end()
		if err != nil || tooLate {
			c.drop()
		}
		switch {
		case err == nil:
			return status, c.in, nil
		case ctx.Err() != nil:
			return 0, nil, fmt.Errorf("call the SOAP service: %w", ctx.Err())
		case tooLate:
			return 0, nil, failure("call the SOAP service", late(c.guard.patience))
		case !served || begun || !isCut(err):
			return 0, nil, failure("call the SOAP service", err)
		}
		c.facts.repeated++
	}
}

// exchange writes the request and reads the answer. It tells whether an answer has begun:
// once it has, the service has seen the request, and to send it again would be a second call.
// A service may answer, and close the connection, before it has read the whole request.
func (c *client) exchange(send func() error) (status int, begun bool, err error) {
	c.source.left = answerLimit + headRoom
	cut := send()
	if _, err := c.reader.Peek(1); err != nil {
		return 0, false, cmp.Or(cut, err)
	}
	resp, err := c.response()
	if err != nil {
		return 0, true, err
	}
	c.in, err = readAll(resp.Body, c.room(resp.ContentLength), answerLimit)
	if err == nil && len(c.in) > answerLimit {
		err = malformed("the answer is longer than %d bytes", answerLimit)
	}
	if err != nil {
		return 0, true, err
	}
	_ = resp.Body.Close() // it is at its end
	if !c.served {
		c.facts.answered(c, resp.Header)
	}
	c.served, c.kind = true, resp.Header.Get("Content-Type")
	switch {
	case cut != nil:
		c.drop()
	case c.once || resp.Close || c.reader.Buffered() > 0: // what is there unasked for belongs to no call
		c.leave()
	}
	return resp.StatusCode, true, c.decode(resp.Header)
}

// decode takes the coding off the answer that its head tells.
func (c *client) decode(h http.Header) (err error) {
	c.coding = codingOf(h)
	switch {
	case c.coding == codingPlain:
		return nil
	case c.coding != codingGzip || !c.gzip:
		return malformed("the answer is encoded as %s, which was not asked for", knownCoding(c.coding))
	}
	c.in, c.coded = c.coded, c.in
	c.in, err = c.unpack.unpack(c.in[:0], c.coded, answerLimit)
	switch {
	case err != nil:
		return malformed("the answer is not gzip as it says: %v", err)
	case len(c.in) > answerLimit:
		return malformed("the answer is longer than %d bytes", answerLimit)
	}
	return nil
}

// noFault makes the failure of an answer that has neither the status of success nor a fault.
// What it says in plain text is told: a service may say there how to call it.
func (c *client) noFault(status int) *kernels.Failure {
	if !strings.HasPrefix(c.kind, "text/plain") || len(c.in) == 0 {
		return malformed("the service answered with status %d and no fault", status)
	}
	return malformed("the service answered with status %d and no fault, and says: %q", status, c.brief(bytes.TrimSpace(c.in), 200))
}

// room returns the slice to read an answer into, large enough for one of the given length.
func (c *client) room(length int64) []byte {
	if length < 0 || length > answerLimit {
		return c.in[:0]
	}
	return slices.Grow(c.in[:0], int(length)+1)
}

// response reads the head of the answer and passes over interim ones.
func (c *client) response() (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(c.reader, &c.request)
		switch {
		case err != nil && c.source.err != nil:
			return nil, c.source.err // which may look to the parser like a malformed head
		case err != nil:
			return nil, malformed("the answer is not HTTP: %s", c.brief([]byte(err.Error()), excerpt))
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, malformed("the service switches protocols unasked")
		case resp.StatusCode >= http.StatusOK:
			return resp, nil
		}
	}
}

// connect makes the connection. TCP_NODELAY is set, so that no answer waits for an
// acknowledgement.
func (c *client) connect(ctx context.Context) error {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.host)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("connect to the SOAP service: %w", ctx.Err())
		}
		return failure("connect to the SOAP service", err)
	}
	if raw, err = c.prepare(raw); err != nil {
		return failure("connect to the SOAP service", err)
	}
	conn, err := c.secure(ctx, raw)
	if err != nil {
		_ = raw.Close() // of no use
		return err
	}
	c.source, c.served = source{conn: conn, over: errAnswerTooLong}, false
	c.reader.Reset(&c.source)
	c.facts.connected(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw, c.conn = raw, conn
	c.bound()
	return nil
}

// prepare sets how a new connection sends and waits. On an error it is closed.
func (c *client) prepare(raw net.Conn) (net.Conn, error) {
	tcp, ok := raw.(*net.TCPConn)
	if !ok {
		return raw, nil
	}
	err := tcp.SetNoDelay(true)
	if err == nil && c.waits {
		raw, err = direct.Take(tcp)
	}
	if err != nil {
		return nil, errors.Join(err, tcp.Close())
	}
	return raw, nil
}

// secure makes the handshake of TLS if the address asks for it. It ends with ctx, and within
// its own time: a service that says nothing is not waited for.
func (c *client) secure(ctx context.Context, raw net.Conn) (net.Conn, error) {
	if c.tls == nil {
		return raw, nil
	}
	conn := tls.Client(raw, c.tls)
	bounded, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	err := conn.HandshakeContext(bounded)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("connect to the SOAP service: %w", ctx.Err())
	}
	f := failure("connect to the SOAP service by TLS", err)
	if f.Class == classMalformed {
		f.Class = classTLS
	}
	return nil, f
}

// bound ends the connection's operations if the watched context is done, and lets them take
// their time if not. The caller holds the lock.
func (c *client) bound() {
	if c.conn == nil || c.watched == nil {
		return
	}
	var deadline time.Time // none
	if c.watched.ctx.Err() != nil {
		deadline = time.Unix(1, 0) // long ago
	}
	_ = c.conn.SetDeadline(deadline) // fails only on a closed connection, where all operations fail
}

// A watch is a context whose end ends the calls.
type watch struct {
	ctx  context.Context
	stop func() bool
}

// watch makes the calls that follow end with ctx. To watch the same context again costs
// nothing, so that calls asked for one at a time are not dearer than many at once.
func (c *client) watch(ctx context.Context) {
	if c.watched != nil && c.watched.ctx.Done() == ctx.Done() {
		return
	}
	c.unwatch()
	w := &watch{ctx: ctx}
	c.mu.Lock()
	c.watched = w
	c.bound()
	c.mu.Unlock()
	w.stop = context.AfterFunc(ctx, func() { c.interrupt(w) })
}

// unwatch lets go of the watched context.
func (c *client) unwatch() {
	if c.watched == nil {
		return
	}
	c.watched.stop()
	c.mu.Lock()
	c.watched = nil
	c.mu.Unlock()
}

// interrupt ends what the connection is doing, if w is still what is being watched.
func (c *client) interrupt(w *watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched == w {
		c.bound()
	}
}

// drop closes the connection at once.
func (c *client) drop() { c.hangUp(func() error { return c.raw.Close() }) }

// leave closes the connection in order: by TLS, the other side is told (RFC 8446, section
// 6.1).
func (c *client) leave() { c.hangUp(func() error { return c.conn.Close() }) }

func (c *client) hangUp(by func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = by() // nothing is waiting to be written
		c.raw, c.conn = nil, nil
	}
}

// close gives back what the client holds.
func (c *client) close() {
	c.goOff()
	c.unwatch()
	c.leave()
}
