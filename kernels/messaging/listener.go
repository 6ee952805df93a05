package messaging

import (
	"net"
	"sync"
)

// A hangUp is a listener of a server that does not end the connections it took: to close it
// closes them too.
type hangUp struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
	ended bool
}

// Accept takes a connection and remembers it.
func (h *hangUp) Accept() (net.Conn, error) {
	c, err := h.Listener.Accept()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		_ = c.Close() // came while the listener was closed
	}
	h.conns = append(h.conns, c)
	return c, nil
}

// Close ends the listener and every connection.
func (h *hangUp) Close() error {
	err := h.Listener.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for _, c := range h.conns {
		_ = c.Close() // may have ended before
	}
	return err
}
