package erldist_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/messaging/erldist"
	"benchd/kernels/messaging/erldist/erltest"
)

const cookie = erltest.Cookie

// start starts a node until the test ends, listening and registered where the config says.
func start(tb testing.TB, c erldist.Config) *erldist.Node {
	tb.Helper()
	if c.Cookie == "" {
		c.Cookie = cookie
	}
	n, err := erldist.Start(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.Close(); err != nil {
			tb.Errorf("close %s: %v", c.Name, err)
		}
	})
	return n
}

// listener is the config of a node that listens.
func listener(name string) erldist.Config {
	return erldist.Config{Name: name, Listen: "127.0.0.1:0"}
}

// at is where a node listens.
func at(n *erldist.Node) string { return fmt.Sprintf("127.0.0.1:%d", n.Port()) }

// connect connects one node to another.
func connect(tb testing.TB, from, to *erldist.Node) *erldist.Peer {
	tb.Helper()
	p, err := from.ConnectAt(tb.Context(), to.Name(), at(to))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func open(tb testing.TB, n *erldist.Node, name string) *erldist.Mailbox {
	tb.Helper()
	m, err := n.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// write writes a message.
func write(tb testing.TB, t erldist.Term) []byte {
	tb.Helper()
	b, err := erldist.Append(nil, t)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// receive receives one message as a term, in time.
func receive(tb testing.TB, m *erldist.Mailbox) erldist.Term {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 20*time.Second)
	defer cancel()
	b, err := m.Receive(ctx, nil)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := erldist.Decode(b)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// pidOf returns the bytes of a pid.
func pidOf(tb testing.TB, p erldist.Pid) []byte { tb.Helper(); return write(tb, p)[1:] }

// echo has a node answer as the echoes in testdata do.
func echo(tb testing.TB, n *erldist.Node) {
	tb.Helper()
	if err := handleEcho(n); err != nil {
		tb.Fatal(err)
	}
}

func handleEcho(n *erldist.Node) error {
	_, err := n.Handle("echo", func() erldist.Handler { return answer })
	return err
}

func answer(p *erldist.Peer, message []byte) {
	r, err := erldist.NewReader(message)
	if err != nil {
		return
	}
	if _, pid, err := r.Pid(); err == nil {
		_ = p.Send(pid, []byte{131, 109, 0, 0, 0, 5, 1, 2, 3, 4, 5}, nil)
		return
	}
	arity, err := r.Tuple()
	if err != nil {
		return
	}
	if _, pid, err := r.Pid(); err == nil {
		head := []byte{131}
		if arity == 3 {
			head = erldist.AppendTupleHeader(head, 2)
		}
		_ = p.Send(pid, head, r.Rest())
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	server, client := start(t, listener("server@127.0.0.1")), start(t, erldist.Config{Name: "client@127.0.0.1"})
	echo(t, server)
	p := connect(t, client, server)
	m := open(t, client, "")
	for _, size := range []int{0, 1, 1000, 40 << 10, 64 << 10, 100 << 10, 1 << 20} {
		want := bytes.Repeat([]byte{7}, size)
		if err := p.SendName(m, "echo", write(t, erldist.Tuple{m.Pid(), want}), nil); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, m); !cmp.Equal(got, erldist.Term(want)) {
			t.Fatalf("of %d bytes came back %.50v", size, got)
		}
	}
	if again := connect(t, client, server); again != p {
		t.Error("a second connection was made")
	}
}

// TestManyMailboxes has many mailboxes share one connection, with messages of all sizes:
// each gets its own, in order.
func TestManyMailboxes(t *testing.T) {
	t.Parallel()
	server, client := start(t, listener("server@127.0.0.1")), start(t, erldist.Config{Name: "client@127.0.0.1"})
	echo(t, server)
	p := connect(t, client, server)
	var all sync.WaitGroup
	for lane := range 8 {
		m := open(t, client, "")
		all.Go(func() {
			for i := range 200 {
				size := (lane*7919 + i*104729) % (i%20*10000 + 1)
				payload := bytes.Repeat([]byte{byte(lane), byte(i)}, size/2+1)
				head := erldist.AppendTupleHeader([]byte{131}, 2)
				head = erldist.AppendBinaryHeader(m.AppendPid(head), len(payload))
				if err := p.SendName(m, "echo", head, payload); err != nil {
					t.Error(err)
					return
				}
				b, err := m.Receive(t.Context(), p)
				if err != nil || len(b) != 6+len(payload) || !bytes.Equal(b[6:], payload) {
					t.Errorf("lane %d, message %d: %d bytes, %v", lane, i, len(b), err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestBothWays(t *testing.T) {
	t.Parallel()
	one, two := start(t, listener("one@127.0.0.1")), start(t, erldist.Config{Name: "two@127.0.0.1"})
	p := connect(t, two, one)
	a, b := open(t, one, "a"), open(t, two, "b")
	if err := p.SendName(b, "a", write(t, b.Pid()), nil); err != nil {
		t.Fatal(err)
	}
	pid := receive(t, a)
	if pid != erldist.Term(b.Pid()) {
		t.Fatalf("the pid came as %v", pid)
	}
	back := connect(t, one, two) // there is one, though two listens nowhere
	if err := back.Send(pidOf(t, b.Pid()), write(t, erldist.Atom("hello")), nil); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, b); got != erldist.Term(erldist.Atom("hello")) {
		t.Errorf("%v came", got)
	}
}

// What is sent to nobody is gone, and harms nobody.
func TestNobody(t *testing.T) {
	t.Parallel()
	server, client := start(t, listener("server@127.0.0.1")), start(t, erldist.Config{Name: "client@127.0.0.1"})
	echo(t, server)
	p := connect(t, client, server)
	m, closed := open(t, client, ""), open(t, server, "closed")
	stale := closed.Pid()
	closed.Close()
	other := stale
	other.ID, other.Creation = 1, stale.Creation+1
	long := bytes.Repeat([]byte{1}, 300<<10)
	for _, size := range []int{10, len(long)} {
		for _, pid := range []erldist.Pid{stale, other} {
			if err := p.Send(pidOf(t, pid), write(t, long[:size]), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.SendName(m, "closed", write(t, long[:size]), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.SendName(m, "echo", write(t, m.Pid()), nil); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, m); !cmp.Equal(got, erldist.Term([]byte{1, 2, 3, 4, 5})) {
		t.Errorf("%v came", got)
	}
	if _, err := closed.Receive(t.Context(), nil); !errors.Is(err, erldist.ErrClosed) {
		t.Errorf("a closed mailbox says %v", err)
	}
}

func TestMailboxNames(t *testing.T) {
	t.Parallel()
	n := start(t, listener("n@127.0.0.1"))
	m := open(t, n, "a")
	for _, name := range []string{"a", "net_kernel", strings.Repeat("a", 256), "\xff"} {
		if _, err := n.Open(name); err == nil {
			t.Errorf("a mailbox %.20q was opened", name)
		}
	}
	m.Close()
	m.Close()
	open(t, n, "a")
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	mapper := erltest.Mapper(t)
	first := listener("taken@127.0.0.1")
	first.EPMD = mapper
	start(t, first)
	for _, tt := range []struct {
		name string
		c    erldist.Config
		want string
	}{
		{"no name", erldist.Config{}, "no name of a node"},
		{"a name without a host", erldist.Config{Name: "a"}, "no name of a node"},
		{"a name with two hosts", erldist.Config{Name: "a@b@c"}, "no name of a node"},
		{"a long name", erldist.Config{Name: strings.Repeat("a", 300) + "@b"}, "no name of a node"},
		{"a taken name", first, "taken"},
		{"an address of somebody else", erldist.Config{Name: "a@b", Listen: "192.0.2.1:1"}, "listen for other nodes"},
		{"no port mapper", erldist.Config{Name: "a@b", Listen: "127.0.0.1:0", EPMD: "127.0.0.1:1"}, "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n, err := erldist.Start(t.Context(), tt.c)
			if err == nil {
				_ = n.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Start returned %v; want %q", err, tt.want)
			}
		})
	}
}

func TestConnectByName(t *testing.T) {
	t.Parallel()
	mapper := erltest.Mapper(t)
	c := listener("server@127.0.0.1")
	c.EPMD = mapper
	server, client := start(t, c), start(t, erldist.Config{Name: "client@127.0.0.1"})
	p, err := client.Connect(t.Context(), server.Name(), mapper)
	if err != nil || p.Name() != server.Name() {
		t.Fatal(p, err)
	}
	if _, err := client.Connect(t.Context(), "nobody@127.0.0.1", mapper); !errors.Is(err, erldist.ErrUnknownNode) {
		t.Errorf("connecting to nobody gave %v", err)
	}
	if _, err := client.Connect(t.Context(), "nobody", mapper); err == nil || !strings.Contains(err.Error(), "no name of a node") {
		t.Errorf("connecting to no name gave %v", err)
	}
}

// Many that want the connection to one node at one time get the same.
func TestConnectTogether(t *testing.T) {
	t.Parallel()
	server, client := start(t, listener("server@127.0.0.1")), start(t, erldist.Config{Name: "client@127.0.0.1"})
	peers := make([]*erldist.Peer, 16)
	var all sync.WaitGroup
	for i := range peers {
		all.Go(func() {
			p, err := client.ConnectAt(t.Context(), server.Name(), at(server))
			if err != nil {
				t.Error(err)
			}
			peers[i] = p
		})
	}
	all.Wait()
	for _, p := range peers {
		if p != peers[0] {
			t.Fatal("there are several connections")
		}
	}
}

// Two nodes that connect to each other at the same moment end up with one connection that
// works both ways.
func TestConnectToEachOther(t *testing.T) {
	t.Parallel()
	for i := range 30 {
		one, two := start(t, listener(fmt.Sprintf("one%d@127.0.0.1", i))), start(t, listener(fmt.Sprintf("two%d@127.0.0.1", i)))
		a, b := open(t, one, "a"), open(t, two, "b")
		var there, back *erldist.Peer
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() { there, errs[0] = one.ConnectAt(t.Context(), two.Name(), at(two)) })
		both.Go(func() { back, errs[1] = two.ConnectAt(t.Context(), one.Name(), at(one)) })
		both.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		reach(t, one, two, there, a, "b", b)
		reach(t, two, one, back, b, "a", a)
	}
}

// reach sends over a connection, or over the one that has taken its place.
func reach(t *testing.T, from, to *erldist.Node, p *erldist.Peer, sender *erldist.Mailbox, name string, receiver *erldist.Mailbox) {
	t.Helper()
	deadline, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		err := p.SendName(sender, name, write(t, erldist.Atom("hi")), nil)
		if err == nil {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = receiver.Receive(ctx, nil)
			cancel()
		}
		if err == nil {
			return
		}
		if deadline.Err() != nil {
			t.Fatalf("%s does not reach %s: %v", from.Name(), to.Name(), err)
		}
		p = connect(t, from, to)
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	server, client := start(t, listener("server@127.0.0.1")), start(t, erldist.Config{Name: "client@127.0.0.1"})
	p := connect(t, client, server)
	m := open(t, client, "")
	if p.Err() != nil {
		t.Fatal(p.Err())
	}
	ended := make(chan error, 1)
	go func() { _, err := m.Receive(t.Context(), p); ended <- err }()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, erldist.ErrDown) {
		t.Errorf("Receive says %v", err)
	}
	<-p.Down()
	if err := p.SendName(m, "echo", write(t, m.Pid()), nil); !errors.Is(err, erldist.ErrDown) {
		t.Errorf("sending says %v", err)
	}
	if _, err := client.ConnectAt(t.Context(), server.Name(), at(server)); err == nil {
		t.Error("it connects to a node that is gone")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Receive(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Receive under an ended context says %v", err)
	}
}

// A mailbox that nobody empties has its senders wait, and loses nothing.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	c := listener("server@127.0.0.1")
	c.MaxMailbox, c.TickTime = 1<<20, time.Second
	server := start(t, c)
	client := start(t, erldist.Config{Name: "client@127.0.0.1", TickTime: time.Minute})
	p := connect(t, client, server)
	in, out := open(t, server, "in"), open(t, client, "")
	const messages = 400
	sent := make(chan error, 1)
	go func() {
		payload := make([]byte, 100<<10)
		for i := range messages {
			payload[0] = byte(i)
			if err := p.SendName(out, "in", erldist.AppendBinaryHeader([]byte{131}, len(payload)), payload); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	time.Sleep(2 * time.Second) // longer than the server's tick time: a peer that is not read is not silent
	select {
	case err := <-sent:
		t.Fatalf("40 MB went into a mailbox of one: %v", err)
	default:
	}
	for i := range messages {
		b, err := in.Receive(t.Context(), nil)
		if err != nil || b[6] != byte(i) {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// A message that is too long ends the connection.
func TestTooLong(t *testing.T) {
	t.Parallel()
	c := listener("server@127.0.0.1")
	c.MaxMessage = 100 << 10
	server, client := start(t, c), start(t, erldist.Config{Name: "client@127.0.0.1"})
	p := connect(t, client, server)
	m := open(t, client, "")
	_ = p.SendName(m, "echo", write(t, make([]byte, 200<<10)), nil) // it may be cut off while it sends
	select {
	case <-p.Down():
	case <-time.After(20 * time.Second):
		t.Error("the connection is still up")
	}
}

// Nodes that say nothing to each other for long keep their connection by ticks.
func TestTicks(t *testing.T) {
	t.Parallel()
	c := listener("server@127.0.0.1")
	c.TickTime = time.Second
	server, client := start(t, c), start(t, erldist.Config{Name: "client@127.0.0.1", TickTime: time.Second})
	echo(t, server)
	p := connect(t, client, server)
	select {
	case <-p.Down():
		t.Fatalf("the connection went down: %v", p.Err())
	case <-time.After(2500 * time.Millisecond):
	}
	m := open(t, client, "")
	if err := p.SendName(m, "echo", write(t, m.Pid()), nil); err != nil {
		t.Fatal(err)
	}
	receive(t, m)
}
