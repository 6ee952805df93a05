package messaging

import (
	"context"
	"errors"
	"fmt"

	"benchd/kernels"
)

// A driver speaks the protocol of one broker. What it connects is a wire; all that is the
// same for every broker is done above it: numbers, lost connections, time-outs, the echo
// service, and lanes that share a connection.
type driver interface {
	// start runs the broker in this process on a random loopback port, and returns its
	// address and a function that ends it in order.
	start(ctx context.Context, p kernels.Params) (addr string, stop func(), err error)
	// prepare makes the queue that at names, wherever the broker does not make it at its
	// first use, and returns a function that removes it and all that the trial left. It may
	// be called again after the broker was gone.
	prepare(ctx context.Context, at place, p kernels.Params) (remove func(), err error)
	// connect makes a wire for a role.
	connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error)
}

// A role is what a wire is for.
type role struct {
	// serving is the end of the service: what it receives comes from the queue of the place.
	// Else it is the end of a client, which receives from a reply queue of its own.
	serving bool
	// shared tells that one goroutine receives while others send.
	shared bool
	// name is, of the service's end, the same again when it comes back after a loss.
	name string
	// lane is the number of the client, or of the service's place. A broker that divides its
	// queues beforehand gives each its part by that.
	lane int
	// answered are, of the service's end, the reply queues that it sent to where they have to be
	// swept, over all the wires that it had.
	answered map[string]bool
}

// A parcel is one message with what a broker carries beside it.
type parcel struct {
	// to is the reply queue that it goes to; empty is the queue of the place.
	to string
	// reply is, of a request that came, the reply queue of who sent it.
	reply string
	// number is the correlation id. A reply bears that of its request.
	number uint64
	// body is the message.
	body []byte
	// oneWay tells that no reply is expected.
	oneWay bool
	// receipt is what the broker wants to have back as the acknowledgement.
	receipt any
}

// A wire is a connection to a broker, from its making to its loss. After any error but a
// Failure that has nothing to do with errLost it is lost, and is only to be closed.
type wire interface {
	// send hands a message to the broker, at once, and with the assurance that the parameter
	// sync asks for. It is done with the body when it returns.
	send(ctx context.Context, p *parcel) error
	// receive returns the next message, and acknowledges the one that it returned before.
	// The body is the caller's.
	receive(ctx context.Context) (parcel, error)
	// confirm returns once the broker has confirmed every message that was sent.
	confirm(ctx context.Context) error
	// close ends the connection, acknowledges what was received, and removes the reply queue.
	close() error
}

// A wireDescriber is a wire that tells what it set at the broker, in the words of its manual.
// Messages that go one way are confirmed whatever the parameter sync says.
type wireDescriber interface {
	describe(oneWay bool) map[string]string
}

// errLost is the cause of a Failure of class reset, and one of those of a refusal by which the
// connection ended.
var errLost = errors.New("the connection to the broker was lost")

// lostBy is the Failure of a lost connection.
func lostBy(err error) error {
	switch {
	case err == nil:
		err = errLost
	case class(err) != "":
		return err // it has been told what it was
	case !errors.Is(err, errLost):
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	return &kernels.Failure{Class: "reset", Err: err}
}

// refusedBy is the Failure of a message that the broker refused by ending the connection.
func refusedBy(err error) error {
	return &kernels.Failure{Class: "refused", Err: fmt.Errorf("%w: %w", errLost, err)}
}

// judge makes a Failure of what went wrong at a broker: a refusal of what is an error E, in
// which the broker itself speaks, and a loss of any other.
func judge[E error](ctx context.Context, broker string, err error) error {
	var told E
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &told):
		return &kernels.Failure{Class: "refused", Err: fmt.Errorf("%s says: %w", broker, err)}
	default:
		return lostBy(err)
	}
}

// malformed is the class of what came and is no message of ours.
const malformed = "malformed"

// class is the class of the Failure in err, or empty.
func class(err error) string {
	var f *kernels.Failure
	if errors.As(err, &f) {
		return f.Class
	}
	return ""
}

// survives tells whether a wire is still good after an error.
func survives(err error) bool {
	return err == nil || class(err) != "" && !errors.Is(err, errLost)
}

// An inbox takes what the goroutine of a client library reads and keeps it for the one that
// calls receive.
type inbox struct {
	parcels chan parcel
	lost    chan struct{} // closed once the connection is gone
	why     error         // set before that
}

// room is how many messages an inbox holds. Whoever reads for it waits when it is full, and
// so does the broker in the end.
const room = 2 * maxLanes

func newInbox() *inbox {
	return &inbox{parcels: make(chan parcel, room), lost: make(chan struct{})}
}

// deliver puts a message in, unless the connection is gone.
func (i *inbox) deliver(p parcel) {
	select {
	case i.parcels <- p:
	case <-i.lost:
	}
}

// lose tells that the connection is gone. It is called once.
func (i *inbox) lose(why error) {
	i.why = why
	close(i.lost)
}

// next waits for a message. What came before the connection was lost is still given out.
func (i *inbox) next(ctx context.Context) (parcel, error) {
	select {
	case p := <-i.parcels:
		return p, nil
	default:
	}
	select {
	case p := <-i.parcels:
		return p, nil
	case <-i.lost:
		return parcel{}, lostBy(i.why)
	case <-ctx.Done():
		return parcel{}, ctx.Err()
	}
}
