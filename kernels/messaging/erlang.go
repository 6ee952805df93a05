package messaging

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"

	"benchd/kernels"
	"benchd/kernels/messaging/erldist"
)

// erlangBroker is no broker between: nodes of Erlang speak to each other. A client is a
// mailbox of a node of ours and sends {Pid, Ref, Body} to the process of another node that
// echoes; this sends {Ref, Body} to the pid.
//
// The other node is ours, in the process of the kernel's Server, with a port mapper of its
// own; or it is the named service, at which a process answers in the same way.
type erlangBroker struct{ nodes *erlangNodes }

var _ broker = erlangBroker{}

// erlangProcess is the name of the process that echoes, where an address tells no other.
const erlangProcess = "echo"

// start runs a port mapper, with a cookie for those that meet at it.
func (erlangBroker) start(ctx context.Context, _ kernels.Params) (string, func(), error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen as a port mapper: %w", err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = erldist.ServeEPMD(life, l) // who cannot look a node up any more says so
	}()
	stop := func() {
		end()
		<-ended
	}
	return "erlang://:" + rand.Text() + "@" + l.Addr().String(), stop, nil
}

// respond runs the echo node at a port mapper. Where the address names a node, its process
// is the echo service, and nothing is to be run here.
func (b erlangBroker) respond(ctx context.Context, addr string, _ kernels.Params, newService func() service, ready func(string)) error {
	return b.run(ctx, addr, func() erldist.Handler { return erlangEcho(newService()) }, ready)
}

// run is respond, for whatever the echo does.
func (b erlangBroker) run(ctx context.Context, addr string, newHandler func() erldist.Handler, ready func(string)) error {
	at, err := parseErlang(addr)
	if err != nil {
		return err
	}
	if at.node != "" {
		return b.visit(ctx, addr, at, ready)
	}
	at.node = unguessable() + "@127.0.0.1"
	n, err := erldist.Start(ctx, erldist.Config{Name: at.node, Cookie: at.cookie, Listen: "127.0.0.1:0", EPMD: at.hostPort()})
	if err == nil {
		_, err = n.Handle(at.process, newHandler)
		if err == nil {
			ready(at.String())
			<-ctx.Done()
		}
		err = errors.Join(err, n.Close())
	}
	if ctx.Err() != nil {
		return nil // what ended it is the end that was asked for
	}
	return err
}

// visit makes sure that the node of a named service can be reached, so that a service that is
// down fails the trial before its clock runs. It stays connected for as long as that does.
func (b erlangBroker) visit(ctx context.Context, addr string, at erlangPlace, ready func(string)) error {
	l, err := b.link(ctx, at, false)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // told to end before it was ready
	case err != nil:
		return err
	}
	ready(addr)
	<-ctx.Done()
	return l.close()
}

// erlangEcho makes the handler of a connection out of a service. It works on the goroutine
// that reads the connection: no other has to be woken, and what many lanes sent in one piece
// is answered in one piece.
func erlangEcho(answer service) erldist.Handler {
	var head []byte
	return func(p *erldist.Peer, message []byte) {
		pid, ref, body, err := erlangRequest(message)
		if err != nil {
			return // no message of ours
		}
		reply := answer(body)
		head = append(erldist.AppendTupleHeader(append(head[:0], erlangVersion), 2), ref...)
		head = erldist.AppendBinaryHeader(head, len(reply))
		_ = p.Send(pid, head, reply) // a connection that is gone needs no answer
	}
}

// erlangRequest takes a request apart, leaving pid and reference as they are written.
func erlangRequest(message []byte) (pid, ref, body []byte, err error) {
	r, err := erldist.NewReader(message)
	if err != nil {
		return nil, nil, nil, err
	}
	if n, err := r.Tuple(); err != nil || n != 3 {
		return nil, nil, nil, erldist.ErrTerm
	}
	if _, pid, err = r.Pid(); err != nil {
		return nil, nil, nil, err
	}
	if ref, err = r.Raw(); err != nil {
		return nil, nil, nil, err
	}
	body, err = r.Binary()
	return pid, ref, body, err
}

// dial connects one lane: with a node of its own, or as one of several mailboxes of the
// node that all lanes share, and its one connection.
func (b erlangBroker) dial(ctx context.Context, addr string, p kernels.Params) (conn, error) {
	at, err := parseErlang(addr)
	if err != nil {
		return nil, err
	}
	if at.node == "" {
		return nil, fmt.Errorf("the address of the port mapper at %s names no node: it ends with /NAME@HOST", at.url.Host)
	}
	l, err := newLane(ctx, false, func(ctx context.Context) (wire, error) {
		return b.wire(ctx, at, p.Word("connections") == shared)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// wire makes the wire of a lane.
func (b erlangBroker) wire(ctx context.Context, at erlangPlace, together bool) (wire, error) {
	link, err := b.link(ctx, at, together)
	if err != nil {
		return nil, err
	}
	w, err := newErlangWire(link)
	if err != nil {
		_ = link.close() // the error that counts is the one before
		return nil, err
	}
	return w, nil
}

// link opens a mailbox at the node that all lanes share, or at a node of its own.
func (b erlangBroker) link(ctx context.Context, at erlangPlace, together bool) (*erlangLink, error) {
	if together {
		return b.nodes.join(ctx, at)
	}
	n, err := at.start(ctx)
	if err != nil {
		return nil, err
	}
	return newErlangLink(ctx, n, at, n.Close)
}

// erlangWire is a mailbox, and the connection of its node to the other.
type erlangWire struct {
	*erlangLink
	request []byte // the head of a request, up to the number
	out     []byte
}

var (
	_ wire      = (*erlangWire)(nil)
	_ describer = (*erlangWire)(nil)
)

// newErlangWire makes the head of the requests.
func newErlangWire(l *erlangLink) (*erlangWire, error) {
	w := &erlangWire{erlangLink: l}
	w.request = w.box.AppendPid(erldist.AppendTupleHeader([]byte{erlangVersion}, 3))
	// A reference of three words, the first of which has 18 bits.
	ref, err := erldist.Append(nil, erldist.Ref{Node: w.box.Pid().Node, Creation: w.box.Pid().Creation, Len: erlangWords})
	if err != nil {
		return nil, fmt.Errorf("make the head of a request: %w", err)
	}
	w.request = append(w.request, ref[1:len(ref)-4*erlangWords]...)
	return w, nil
}

const (
	// erlangVersion begins every message.
	erlangVersion = 131
	// erlangWords is how many words of 32 bits a reference of ours has.
	erlangWords = 3
	// erlangFirst is how many bits of the first word older nodes look at.
	erlangFirst = 18
)

// send sends a request to the process, with the number as its reference.
func (w *erlangWire) send(ctx context.Context, p *parcel) error {
	w.out = append(w.out[:0], w.request...)
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(p.number&(1<<erlangFirst-1)))
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(p.number>>erlangFirst))
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(p.number>>(erlangFirst+32)))
	w.out = erldist.AppendBinaryHeader(w.out, len(p.body))
	return w.ask(ctx, w.out, p.body)
}

// receive takes the next reply, which is good until the next call.
func (w *erlangWire) receive(ctx context.Context) (parcel, error) {
	message, err := w.answer(ctx)
	if err != nil {
		return parcel{}, err
	}
	p, err := erlangReply(message)
	if err != nil {
		return parcel{}, &kernels.Failure{Class: malformed, Err: fmt.Errorf("what came is no {Ref, Body}: %w", err)}
	}
	return p, nil
}

// erlangReply takes a reply apart.
func erlangReply(message []byte) (parcel, error) {
	r, err := erldist.NewReader(message)
	if err != nil {
		return parcel{}, err
	}
	if n, err := r.Tuple(); err != nil || n != 2 {
		return parcel{}, errors.Join(erldist.ErrTerm, err)
	}
	ref, err := r.Raw()
	if err != nil {
		return parcel{}, err
	}
	if len(ref) < 4*erlangWords || len(ref) > 4*erlangWords && ref[0] != 90 {
		return parcel{}, erldist.ErrTerm
	}
	// Whoever answers gives the reference back as it was, so that its words are at the end.
	words := ref[len(ref)-4*erlangWords:]
	number := uint64(binary.BigEndian.Uint32(words)) | uint64(binary.BigEndian.Uint32(words[4:]))<<erlangFirst |
		uint64(binary.BigEndian.Uint32(words[8:]))<<(erlangFirst+32)
	body, err := r.Binary()
	return parcel{number: number, body: body}, err
}

// confirm has nothing to wait for: a message that was sent is confirmed by its reply.
func (w *erlangWire) confirm(context.Context) error { return nil }

// erlangHost is the part of a node's name behind the @.
func erlangHost(name string) string {
	_, host, _ := strings.Cut(name, "@")
	return host
}
