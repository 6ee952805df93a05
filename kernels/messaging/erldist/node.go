package erldist

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// A Config says what a node is. Only Name and Cookie are needed; a node without Listen is
// connected to by nobody, but connects.
type Config struct {
	Name   string // name@host
	Cookie string
	// Listen is the address at which other nodes may connect, host:port.
	Listen string
	// EPMD is the address of the port mapper, host:port, at which a node that listens is
	// registered. Without one, others must know its port.
	EPMD string
	// TickTime is how long a connection may be silent before it is given up; 60 s by default,
	// as in OTP. All nodes that are connected should have the same.
	TickTime time.Duration
	// SetupTime is how long a connection and its handshake may take; 7 s by default, as in OTP.
	SetupTime time.Duration
	// MaxMessage is the longest message that is taken, in bytes; 64 MB by default. Who sends
	// a longer one is cut off.
	MaxMessage int
	// MaxMailbox is how many bytes may wait in a mailbox before the connection is not read
	// any more until some are received; 64 MB by default.
	MaxMailbox int
}

// Defaults of a Config.
const (
	defaultTickTime  = 60 * time.Second
	defaultSetupTime = 7 * time.Second
	defaultMost      = 64 << 20
)

// A Node is one Erlang node.
type Node struct {
	config   Config
	id       identity
	listener net.Listener  // nil without Listen
	entry    *Registration // nil without EPMD
	end      context.CancelFunc
	all      sync.WaitGroup // everything that runs for the node

	mu       sync.RWMutex
	closed   bool
	names    map[string]*Mailbox
	pids     map[uint32]*Mailbox
	next     uint32              // the ID of the next pid
	peers    map[string]*Peer    // those that are up
	attempts map[string]*attempt // to connect, that are going on
	arrived  chan struct{}       // closed, and made anew, whenever there is a new peer
}

// Start starts a node. It ends with Close; ctx is for the start only.
func Start(ctx context.Context, c Config) (*Node, error) {
	if err := checkName(c.Name); err != nil {
		return nil, fmt.Errorf("start a node: %w", err)
	}
	c.setDefaults()
	n := &Node{
		config: c, id: identity{name: c.Name, cookie: c.Cookie, creation: randomCreation(), patience: c.SetupTime},
		names: make(map[string]*Mailbox), pids: make(map[uint32]*Mailbox), peers: make(map[string]*Peer),
		attempts: make(map[string]*attempt), arrived: make(chan struct{}),
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	n.end = end
	if err := n.open(ctx, life); err != nil {
		_ = n.Close() // the error that counts is the one before
		return nil, fmt.Errorf("start the node %s: %w", c.Name, err)
	}
	return n, nil
}

// setDefaults fills in what was left out.
func (c *Config) setDefaults() {
	if c.TickTime <= 0 {
		c.TickTime = defaultTickTime
	}
	if c.SetupTime <= 0 {
		c.SetupTime = defaultSetupTime
	}
	if c.MaxMessage <= 0 {
		c.MaxMessage = defaultMost
	}
	if c.MaxMailbox <= 0 {
		c.MaxMailbox = defaultMost
	}
}

// randomCreation makes the creation of a node that no port mapper gives one. The first three
// are not for that.
func randomCreation() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return max(binary.BigEndian.Uint32(b[:]), 4)
}

// open listens and registers, as far as that is wanted, and opens what every node has.
func (n *Node) open(ctx, life context.Context) error {
	if n.config.Listen != "" {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", n.config.Listen)
		if err != nil {
			return fmt.Errorf("listen for other nodes: %w", err)
		}
		n.listener = l
		if err := n.register(ctx); err != nil {
			return err
		}
	}
	if _, err := n.Handle("net_kernel", func() Handler { return answerPing }); err != nil {
		return err
	}
	if n.listener != nil {
		n.all.Go(func() { _ = serveAll(life, n.listener, maxPeers, n.welcome) }) // it ends with the listener
	}
	return nil
}

// register makes the node known to its port mapper.
func (n *Node) register(ctx context.Context) error {
	if n.config.EPMD == "" {
		return nil
	}
	short, _, _ := strings.Cut(n.config.Name, "@")
	entry, err := Register(ctx, n.config.EPMD, Entry{Name: short, Port: n.Port(), Hidden: true, Lowest: handshakeVersion, Highest: handshakeVersion})
	if err != nil {
		return err
	}
	n.entry, n.id.creation = entry, entry.Creation()
	return nil
}

// Name is the node's name.
func (n *Node) Name() string { return n.config.Name }

// Port is the port at which other nodes connect, or 0.
func (n *Node) Port() int {
	if n.listener == nil {
		return 0
	}
	a, ok := n.listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return a.Port
}

// Open opens a mailbox, registered as name unless that is empty.
func (n *Node) Open(name string) (*Mailbox, error) { return n.add(name, nil) }

// Handle opens a mailbox whose messages are taken by handlers: one for each connection over
// which some come, which newHandler makes.
func (n *Node) Handle(name string, newHandler func() Handler) (*Mailbox, error) {
	return n.add(name, newHandler)
}

func (n *Node) add(name string, h func() Handler) (*Mailbox, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return nil, fmt.Errorf("open a mailbox: the node is %w", ErrClosed)
	case len(name) > maxAtom || !validAtom([]byte(name)):
		return nil, fmt.Errorf("open the mailbox %.300q: a name is up to %d bytes of UTF-8", name, maxAtom)
	case name != "" && n.names[name] != nil:
		return nil, fmt.Errorf("open the mailbox %s: there is one of this name", name)
	}
	n.next++
	m, err := newMailbox(n, Pid{Node: Atom(n.config.Name), ID: n.next, Creation: n.id.creation}, name, h)
	if err != nil {
		return nil, fmt.Errorf("open a mailbox: %w", err)
	}
	n.pids[m.pid.ID] = m
	if name != "" {
		n.names[name] = m
	}
	return m, nil
}

// remove takes a mailbox out of the node.
func (n *Node) remove(m *Mailbox) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pids[m.pid.ID] == m {
		delete(n.pids, m.pid.ID)
	}
	if m.name != "" && n.names[m.name] == m {
		delete(n.names, m.name)
	}
}

// byPid returns the mailbox with a pid of this node, or nil.
func (n *Node) byPid(p Pid) *Mailbox {
	n.mu.RLock()
	m := n.pids[p.ID]
	n.mu.RUnlock()
	if m == nil || m.pid.Serial != p.Serial || m.pid.Creation != p.Creation {
		return nil
	}
	return m
}

// byName returns the mailbox that is registered as name, or nil.
func (n *Node) byName(name []byte) *Mailbox {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.names[string(name)]
}

// Close ends the node: its connections, its mailboxes, and its name at the port mapper.
func (n *Node) Close() error {
	n.mu.Lock()
	first := !n.closed
	n.closed = true
	peers := make([]*Peer, 0, len(n.peers))
	for _, p := range n.peers {
		peers = append(peers, p)
	}
	boxes := make([]*Mailbox, 0, len(n.pids))
	for _, m := range n.pids {
		boxes = append(boxes, m)
	}
	n.mu.Unlock()
	// Whoever waits for something of the node is let go first, and then what they waited for
	// ends; readers may be among them, which wait for room in a mailbox.
	n.end()
	for _, m := range boxes {
		_ = m.end() // the end of the connections tells who watches
	}
	for _, p := range peers {
		p.Close()
	}
	var err error
	if n.entry != nil && first {
		err = n.entry.Close()
	}
	if n.listener != nil {
		err = errors.Join(err, ignoreClosed(n.listener.Close()))
	}
	n.all.Wait()
	return err
}

// ignoreClosed leaves out the error of what was closed already.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// answerPing answers a node that asks whether this is one that speaks: net_adm:ping of
// Erlang, and ping of jinterface. The request is {'$gen_call', {From, Tag}, {is_auth, Node}}.
func answerPing(p *Peer, message []byte) {
	t, err := Decode(message)
	if err != nil {
		return
	}
	call, ok := t.(Tuple)
	if !ok || len(call) != 3 || call[0] != Term(Atom("$gen_call")) {
		return
	}
	from, ok := call[1].(Tuple)
	if !ok || len(from) != 2 {
		return
	}
	pid, ok := from[0].(Pid)
	if question, isTuple := call[2].(Tuple); !ok || !isTuple || len(question) != 2 || question[0] != Term(Atom("is_auth")) {
		return
	}
	raw, err := appendPid(nil, pid)
	if err != nil {
		return
	}
	if answer, err := Append(nil, Tuple{from[1], Atom("yes")}); err == nil {
		_ = p.Send(raw, answer, nil) // who is gone needs no answer
	}
}
