package messaging

import (
	"context"
	"fmt"
	"time"

	"benchd/kernels"
	"benchd/kernels/messaging/erldist"
)

var _ prober = erlangBroker{}

// erlangPatience is how long something may take that not every node answers.
const erlangPatience = 500 * time.Millisecond

// probe connects to the node, and times the question of net_adm:ping, which every node
// answers. Then it asks for the release of OTP, which only that tells, and for an echo, which
// only a node answers that has the process for it.
func (b erlangBroker) probe(ctx context.Context, addr string, _ kernels.Params) (kernels.Report, error) {
	at, err := parseErlang(addr)
	if err != nil {
		return kernels.Report{}, err
	}
	if at.node == "" {
		return kernels.Report{}, fmt.Errorf("the address of the port mapper at %s names no node: it ends with /NAME@HOST", at.url.Host)
	}
	l, err := b.link(ctx, at, false)
	if err != nil {
		return kernels.Report{}, err
	}
	defer func() { _ = l.close() }()
	c := &erlangCaller{erlangLink: l}
	r := kernels.Report{Product: "an Erlang node", Supports: []string{"node " + at.node, "handshake of version 6"}}
	ping := erldist.Tuple{erldist.Atom("is_auth"), l.box.Pid().Node}
	r.RoundTrip, err = kernels.Repeat(ctx, func(ctx context.Context) error {
		answer, err := c.call(ctx, "net_kernel", ping)
		if err == nil && answer != erldist.Term(erldist.Atom("yes")) {
			err = mismatch("yes was due, and %.40v came", answer)
		}
		return err
	})
	if err != nil {
		return kernels.Report{}, fmt.Errorf("ping the Erlang node %s: %w", at.node, err)
	}
	if release := c.release(ctx); release != "" {
		r.Product, r.Version = "Erlang/OTP", release
	}
	if r.Message, err = b.echoes(ctx, addr); err == nil {
		r.Supports = append(r.Supports, "process "+at.process+" echoes {Pid, Ref, Body}")
	}
	return r, nil
}

// echoes times messages to the process that a trial would send its own to.
func (b erlangBroker) echoes(ctx context.Context, addr string) (kernels.Pace, error) {
	// One context for all of them: a connection is closed under the end of one that it has seen.
	ctx, cancel := context.WithTimeout(ctx, 3*erlangPatience)
	defer cancel()
	c, err := b.dial(ctx, addr, kernels.Params{"connections": own})
	if err != nil {
		return kernels.Pace{}, err
	}
	defer func() { _ = c.close() }()
	return kernels.Repeat(ctx, func(ctx context.Context) error {
		_, err := c.roundTrip(ctx, []byte("1"))
		return err
	})
}

// An erlangCaller asks the processes of another node, one question after another.
type erlangCaller struct {
	*erlangLink
	calls uint32
}

// release asks the server for calls from other nodes for the release of OTP. Nodes of another
// make have none, and drop the question.
func (l *erlangCaller) release(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, erlangPatience)
	defer cancel()
	question := erldist.Tuple{
		erldist.Atom("call"), erldist.Atom("erlang"), erldist.Atom("system_info"),
		erldist.List{erldist.Atom("otp_release")},
		l.box.Pid(),
	}
	answer, err := l.call(ctx, "rex", question)
	if err != nil {
		return ""
	}
	text, _ := answer.(erldist.List)
	var release []byte
	for _, digit := range text {
		if n, ok := digit.(int64); ok && n >= '0' && n <= '9' {
			release = append(release, byte(n))
		}
	}
	return string(release)
}

// call asks a server process as gen_server:call does: {'$gen_call', {Pid, Ref}, Request},
// which is answered by {Ref, Answer}.
func (l *erlangCaller) call(ctx context.Context, process string, request erldist.Term) (erldist.Term, error) {
	l.calls++
	ref := erldist.Ref{Node: l.box.Pid().Node, Creation: l.box.Pid().Creation, Len: erlangWords, IDs: [5]uint32{l.calls}}
	message, err := erldist.Append(nil, erldist.Tuple{erldist.Atom("$gen_call"), erldist.Tuple{l.box.Pid(), ref}, request})
	if err != nil {
		return nil, fmt.Errorf("write a question: %w", err)
	}
	if err := l.sending.under(ctx, func() error { return l.peer.SendName(l.box, process, message, nil) }); err != nil {
		return nil, err
	}
	for {
		b, err := l.answer(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := erldist.Decode(b)
		if err != nil {
			return nil, fmt.Errorf("read an answer: %w", err)
		}
		// An answer to a question that nobody waits for any more may come before it.
		if t, ok := answer.(erldist.Tuple); ok && len(t) == 2 && t[0] == erldist.Term(ref) {
			return t[1], nil
		}
	}
}
