package messaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"benchd/kernels"
	"benchd/kernels/messaging/erldist"
)

// echoKernel measures the smallest exchange between two Erlang nodes: a pid there, five
// bytes back. All clients are mailboxes of one node and use its one connection.
type echoKernel struct{ pool *pool }

var (
	_ kernels.Kernel = echoKernel{}
	_ kernels.Server = echoKernel{}
)

// Info describes the kernel.
func (echoKernel) Info() kernels.Info {
	return kernels.Info{
		Name:  "messaging.echo",
		Title: "A client's pid to a mailbox of another Erlang node, and five bytes back.",
		Operation: "one message there and back: a mailbox sends its pid to the process echo of another node, which sends " +
			"a binary of five bytes to the pid; all clients are mailboxes of one node and share its one connection",
		Unit: "message/s", Noun: "message", Lanes: "clients", Rate: "rate", Attends: true,
		Params: []kernels.Param{
			{Name: "server", Doc: "A node of its own, or a named service of the worker's: a node at which a process answers like that.", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"erlang"}},
			{Name: "clients", Doc: "Clients, each a mailbox of the node that they share.", Kind: kernels.Int, Default: "1", Min: 1, Max: maxLanes},
			{Name: "rate", Doc: "Messages that begin in a second, over all clients; 0 sends one after another.", Kind: kernels.Int, Default: "0", Min: 0, Max: maxRate},
		},
	}
}

// Serve runs the echo node and its port mapper, or makes sure that the node of the named
// service can be reached.
func (k echoKernel) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	b := erlangBroker{&k.pool.nodes}
	// Without a named service there is neither a port mapper nor a node yet.
	addr, stop := p[kernels.Addr], func() {}
	if addr == "" {
		var err error
		if addr, stop, err = b.start(ctx, p); err != nil {
			return fmt.Errorf("start the echo node: %w", err)
		}
	}
	defer stop()
	if err := b.run(ctx, addr, sendFive, ready); err != nil {
		return fmt.Errorf("run the echo node: %w", err)
	}
	return nil
}

// five is the message of the answer: a binary of five bytes.
func five() []byte {
	return append(erldist.AppendBinaryHeader([]byte{erlangVersion}, 5), 1, 2, 3, 4, 5)
}

// sendFive makes a handler that answers a pid with five bytes.
func sendFive() erldist.Handler {
	answer := five()
	return func(p *erldist.Peer, message []byte) {
		r, err := erldist.NewReader(message)
		if err != nil {
			return // no message of ours
		}
		if _, pid, err := r.Pid(); err == nil {
			_ = p.Send(pid, answer, nil) // a connection that is gone needs no answer
		}
	}
}

// Open opens a mailbox at the node that all clients share. The first client starts that node
// and its connection, and the last that closes ends both.
func (k echoKernel) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	addr := p[kernels.Addr]
	if addr == "" {
		return nil, errors.New("open a lane of messaging.echo: no address of a node was given")
	}
	at, err := parseErlang(addr)
	if err != nil {
		return nil, err
	}
	t := &echoTrial{guard: guard{patience: replyPatience}, want: five()}
	t.connect = func(ctx context.Context) (*erlangLink, error) { return k.pool.nodes.join(ctx, at) }
	if err := t.take(ctx); err != nil {
		return nil, fmt.Errorf("open a lane of messaging.echo: %w", err)
	}
	return t, nil
}

// echoTrial is one client: a mailbox over all the losses of its node's connection.
type echoTrial struct {
	connect func(ctx context.Context) (*erlangLink, error)
	link    *erlangLink // nil after a loss
	backoff backoff
	guard   guard
	pid     []byte // the message
	want    []byte
	facts   map[string]string
}

var (
	_ kernels.Counter   = (*echoTrial)(nil)
	_ kernels.Describer = (*echoTrial)(nil)
)

// take connects.
func (t *echoTrial) take(ctx context.Context) error {
	l, err := t.connect(ctx)
	if err != nil {
		return err
	}
	t.link, t.facts = l, l.describe()
	t.pid = l.box.AppendPid([]byte{erlangVersion})
	return nil
}

// Do sends the pid n times, each time after the answer to the one before.
func (t *echoTrial) Do(ctx context.Context, n int) error {
	for range n {
		if err := t.once(ctx); err != nil {
			return err
		}
	}
	return nil
}

// once is one message there and back. An answer bears no number, so that after any failure
// the mailbox is given up: what still comes for its pid comes to nobody.
func (t *echoTrial) once(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("send a pid: %w", err)
	}
	if err := t.connected(ctx); err != nil {
		return err
	}
	bounded := t.guard.hold(ctx)
	err := t.exchange(bounded)
	t.guard.release()
	if err == nil {
		return nil
	}
	t.drop()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("wait for an answer: %w", ctx.Err())
	case bounded.Err() != nil:
		return &kernels.Failure{Class: "lost", Err: fmt.Errorf("no answer came within %s: the pid or the answer was lost", t.guard.patience)}
	default:
		return err
	}
}

// exchange sends the pid and looks at the answer, which must be the five bytes to the last.
func (t *echoTrial) exchange(ctx context.Context) error {
	if err := t.link.ask(ctx, t.pid, nil); err != nil {
		return err
	}
	answer, err := t.link.answer(ctx)
	if err != nil {
		return err
	}
	if !bytes.Equal(answer, t.want) {
		return mismatch("the answer is %.32x, due was %x", answer, t.want)
	}
	return nil
}

// connected makes sure that there is a mailbox at a node that is connected.
func (t *echoTrial) connected(ctx context.Context) error {
	if t.link != nil {
		return nil
	}
	if err := t.backoff.wait(ctx); err != nil {
		return fmt.Errorf("wait to connect again: %w", err)
	}
	if err := t.take(ctx); err != nil {
		t.backoff.failed()
		return fmt.Errorf("connect again: %w", err)
	}
	t.backoff.succeeded()
	return nil
}

// drop gives the mailbox up.
func (t *echoTrial) drop() {
	if t.link != nil {
		_ = t.link.close() // what was wrong with it has been told
		t.link = nil
	}
}

// Count returns the bytes of the message and of its answer.
func (t *echoTrial) Count() kernels.Work {
	return kernels.Work{Bytes: float64(len(t.pid) + len(t.want))}
}

// Describe tells what carries the messages.
func (t *echoTrial) Describe() map[string]string { return t.facts }

// Close closes the mailbox; a second call does nothing.
func (t *echoTrial) Close() error {
	defer t.guard.end()
	if t.link == nil {
		return nil
	}
	err := t.link.close()
	t.link = nil
	return err
}
