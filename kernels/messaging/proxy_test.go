package messaging_test

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// A proxy is a wire between a lane and its broker that a test can cut and stall.
type proxy struct {
	addr     string
	listener net.Listener
	target   string

	mu    sync.Mutex
	calls int
	conns []net.Conn
	gate  sync.RWMutex // held while the wire stalls
	open  func()       // opens the gate, or nothing
	all   sync.WaitGroup
}

// newProxy listens on a random loopback port until the test ends.
func newProxy(tb testing.TB, target string) *proxy {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), listener: l, target: hostOf(tb, target), open: func() {}}
	p.all.Go(p.accept)
	tb.Cleanup(func() {
		_ = l.Close() // a test's wire need not end in order
		p.release()
		p.cut()
		p.all.Wait()
	})
	return p
}

// hostOf returns the host and port of an address; of an Erlang node's, which is that of its
// port mapper, the node's own.
func hostOf(tb testing.TB, addr string) string {
	tb.Helper()
	u, err := url.Parse(addr)
	if err != nil {
		tb.Fatal(err)
	}
	if u.Scheme == "erlang" {
		return nodeOf(tb, u)
	}
	return u.Host
}

// via returns an address with the wire's in its place.
func (p *proxy) via(addr string) string {
	u, err := url.Parse(addr)
	if err != nil {
		return addr
	}
	u.Host = p.addr
	if u.Scheme == "erlang" {
		u.RawQuery = "epmd=false"
	}
	return u.String()
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		p.mu.Lock()
		p.calls++
		p.conns = append(p.conns, near, far)
		p.mu.Unlock()
		p.all.Go(func() { p.pump(far, near) })
		p.all.Go(func() { p.pump(near, far) })
	}
}

// pump copies one direction until an end is closed, and then closes the other.
func (p *proxy) pump(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.gate.RLock()
		_, failed := to.Write(buf[:n])
		p.gate.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}

// cut closes every connection there is.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// hold lets nothing more through until release, which lets through what has piled up.
func (p *proxy) hold() {
	p.gate.Lock()
	p.open = sync.OnceFunc(p.gate.Unlock)
}

func (p *proxy) release() { p.open() }

// accepted is how many connections were made.
func (p *proxy) accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}
