package messaging

import (
	"context"
	"fmt"

	"benchd/kernels"
)

// A lane is one client: a wire over all its losses.
type lane struct {
	connect func(ctx context.Context) (wire, error)
	wire    wire // nil after a loss
	backoff backoff
	guard   guard
	number  uint64
	out     parcel
	oneWay  bool
	facts   map[string]string
}

// newLane connects a lane, whose messages may go one way only.
func newLane(ctx context.Context, oneWay bool, connect func(context.Context) (wire, error)) (*lane, error) {
	l := &lane{connect: connect, oneWay: oneWay, guard: guard{patience: replyPatience}}
	w, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	l.take(w)
	return l, nil
}

// take makes w the wire of the lane.
func (l *lane) take(w wire) {
	l.wire = w
	if d, ok := w.(wireDescriber); ok {
		l.facts = d.describe(l.oneWay)
	}
}

// roundTrip sends the request and waits for the reply with its number. A new wire has a new
// reply queue, so what comes late for an operation that was given up comes to nobody.
func (l *lane) roundTrip(ctx context.Context, request []byte) ([]byte, error) {
	var body []byte
	err := l.guarded(ctx, "reply", func(ctx context.Context) error {
		l.number++
		l.out = parcel{number: l.number, body: request}
		if err := l.wire.send(ctx, &l.out); err != nil {
			return err
		}
		reply, err := l.wire.receive(ctx)
		if err != nil {
			return err
		}
		body = reply.body
		return l.judge(reply.number)
	})
	return body, err
}

// judge tells what is wrong with the number of a reply.
func (l *lane) judge(number uint64) error {
	switch {
	case number == l.number:
		return nil
	case number < l.number && number > 0:
		// The reply that is due is still under way: it will not be taken for the next one's.
		l.drop()
		return &kernels.Failure{Class: "duplicate", Err: fmt.Errorf("a second reply to request %d came, due was that to request %d", number, l.number)}
	default:
		l.drop()
		return mismatch("a reply to request %d came, due was that to request %d", number, l.number)
	}
}

// guarded runs one operation on a wire that stands, within the time it may take.
func (l *lane) guarded(ctx context.Context, what string, operation func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("send a message: %w", err)
	}
	if err := l.connected(ctx); err != nil {
		return err
	}
	bounded := l.guard.hold(ctx)
	err := operation(bounded)
	l.guard.release()
	if survives(err) {
		return err
	}
	l.drop()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("wait for a %s: %w", what, ctx.Err())
	case bounded.Err() != nil:
		return &kernels.Failure{Class: "lost", Err: fmt.Errorf("no %s came within %s: %s", what, l.guard.patience, lostOf(what))}
	default:
		return err
	}
}

// lostOf tells what may have been lost when something did not come. A message that is read
// from a queue answers nothing.
func lostOf(what string) string {
	if what == "message" {
		return "it was lost, or nobody sends any"
	}
	return "the message or the " + what + " was lost"
}

// connected makes sure that there is a wire.
func (l *lane) connected(ctx context.Context) error {
	if l.wire != nil {
		return nil
	}
	if err := l.backoff.wait(ctx); err != nil {
		return fmt.Errorf("wait to connect again: %w", err)
	}
	w, err := l.connect(ctx)
	if err != nil {
		l.backoff.failed()
		return fmt.Errorf("connect again: %w", err)
	}
	l.backoff.succeeded()
	l.take(w)
	return nil
}

// drop gives a wire up that is lost, or that something may still come over which nobody
// waits for.
func (l *lane) drop() {
	if l.wire != nil {
		_ = l.wire.close() // what was wrong with it has been told
		l.wire = nil
	}
}

// describe tells what was set at the broker.
func (l *lane) describe() map[string]string { return l.facts }

// close ends the connection; a second call does nothing.
func (l *lane) close() error {
	defer l.guard.end()
	if l.wire == nil {
		return nil
	}
	err := l.wire.close()
	l.wire = nil
	return err
}
