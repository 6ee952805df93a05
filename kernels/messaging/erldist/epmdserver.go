package erldist

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sort"
	"sync"
	"time"
)

// maxEPMDConns is how many connections the port mapper keeps at one time; a node takes one.
const maxEPMDConns = 1024

// A mapper is the register of a port mapper.
type mapper struct {
	port int
	mu   sync.Mutex
	list map[string]alive
	next uint32 // the creation that the next node gets
}

// alive is a registered node.
type alive struct {
	Entry
	kind  byte
	extra []byte
}

// ServeEPMD is a port mapper at a listener until ctx is done, for a host where none runs.
// It knows registration, look-up and the list of names, and refuses what would stop or
// change it from outside. It closes the listener.
func ServeEPMD(ctx context.Context, l net.Listener) error {
	m := &mapper{list: make(map[string]alive), next: 1}
	if a, ok := l.Addr().(*net.TCPAddr); ok {
		m.port = a.Port
	}
	err := serveAll(ctx, l, maxEPMDConns, func(ctx context.Context, c net.Conn) { m.serve(ctx, c) })
	if err != nil {
		return fmt.Errorf("serve as a port mapper: %w", err)
	}
	return nil
}

// serveAll takes connections until ctx is done, serves each from a goroutine of its own, no
// more than most at one time, and closes them and the listener in the end.
func serveAll(ctx context.Context, l net.Listener, most int, serve func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })() // Accept then says all there is to say
	defer func() { _ = l.Close() }()
	room := make(chan struct{}, most)
	for {
		c, err := l.Accept()
		switch {
		case err != nil && ctx.Err() != nil, errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("accept a connection: %w", err)
		}
		select {
		case room <- struct{}{}:
		default:
			_ = c.Close() // who comes when there is no room is told so
			continue
		}
		// One that never says anything holds its place for as long as serve has patience.
		all.Go(func() {
			defer func() { <-room }()
			defer func() { _ = c.Close() }()
			serve(ctx, c)
		})
	}
}

// serve answers one request, and keeps the connection of a node for as long as that does.
func (m *mapper) serve(ctx context.Context, c net.Conn) {
	var name string
	err := under(ctx, c, epmdPatience, func() (err error) {
		request, err := readEPMD(c)
		if err != nil {
			return err
		}
		var answer []byte
		answer, name = m.answer(request)
		_, err = c.Write(answer)
		return err
	})
	if name == "" {
		return
	}
	// The connection is the registration: a node that dies takes its name along, whether or
	// not it had time to say so.
	if err == nil {
		release := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
		_, _ = io.Copy(io.Discard, c) // a node says nothing more, and its end is all that matters
		release()
	}
	m.mu.Lock()
	delete(m.list, name)
	m.mu.Unlock()
}

// maxEPMDRequest bounds a request, in bytes: a name and what a node may say besides.
const maxEPMDRequest = 1024

// readEPMD reads one request. Whoever connects may send it, so that it is bounded in length
// here and in time by the caller.
func readEPMD(r io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint16(size[:])
	if n > maxEPMDRequest {
		return nil, fmt.Errorf("a request of %d bytes", n)
	}
	request := make([]byte, n)
	_, err := io.ReadFull(r, request)
	return request, err
}

// answer answers a request, with nothing if it is none. The name is that of the node which
// has registered by it.
func (m *mapper) answer(request []byte) (answer []byte, registered string) {
	if len(request) == 0 {
		return nil, ""
	}
	switch request[0] {
	case epmdAlive:
		return m.register(request[1:])
	case epmdPort:
		return m.lookup(string(request[1:])), ""
	case epmdNames:
		return m.names(), ""
	default:
		return nil, ""
	}
}

// register adds a node. Its creation differs from that of every node before.
func (m *mapper) register(b []byte) (answer []byte, registered string) {
	a, ok := parseAlive(b)
	if !ok {
		return nil, ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// What the mapper says of versions it has from the node itself; the form of the answer goes
	// by them too.
	code := byte(0)
	if _, taken := m.list[a.Name]; taken {
		code = 1
	} else {
		m.list[a.Name] = a
		registered = a.Name
		if m.next++; m.next < 4 { // the first three are for nodes that were never registered
			m.next = 4
		}
	}
	if a.Highest >= handshakeVersion {
		return binary.BigEndian.AppendUint32([]byte{epmdAliveXResp, code}, m.next), registered
	}
	return binary.BigEndian.AppendUint16([]byte{epmdAliveResp, code}, uint16(m.next%3+1)), registered
}

// parseAlive reads what a node says of itself.
func parseAlive(b []byte) (alive, bool) {
	if len(b) < 10 {
		return alive{}, false
	}
	n := int(binary.BigEndian.Uint16(b[8:]))
	if n == 0 || n > maxEPMDName || len(b) < 10+n+2 {
		return alive{}, false
	}
	extra := b[10+n+2:]
	if m := int(binary.BigEndian.Uint16(b[10+n:])); m <= len(extra) {
		extra = extra[:m]
	}
	return alive{Entry{
		Name: string(b[10 : 10+n]), Port: int(binary.BigEndian.Uint16(b)), Hidden: b[2] == kindHidden,
		Highest: binary.BigEndian.Uint16(b[4:]), Lowest: binary.BigEndian.Uint16(b[6:]),
	}, b[2], extra}, true
}

// lookup answers where a node is, with all that the node has said of itself.
func (m *mapper) lookup(name string) []byte {
	m.mu.Lock()
	a, ok := m.list[name]
	m.mu.Unlock()
	if !ok {
		return []byte{epmdPortResp, 1}
	}
	b := []byte{epmdPortResp, 0, byte(a.Port >> 8), byte(a.Port), a.kind, 0}
	b = binary.BigEndian.AppendUint16(b, a.Highest)
	b = binary.BigEndian.AppendUint16(b, a.Lowest)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(a.Name))), a.Name...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(a.extra))), a.extra...)
}

// names lists the nodes, by name.
func (m *mapper) names() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, 0, len(m.list))
	for name := range m.list {
		names = append(names, name)
	}
	sort.Strings(names)
	b := binary.BigEndian.AppendUint32(nil, uint32(m.port))
	for _, name := range names {
		b = fmt.Appendf(b, "name %s at port %d\n", name, m.list[name].Port)
	}
	return b
}
