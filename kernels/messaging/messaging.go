// Package messaging measures messages that go to somebody and come back: through a broker
// (messaging.roundtrip), between two nodes of Erlang (messaging.echo) and between two
// mailboxes of one process (messaging.mailbox).
//
// A broker is one file with a type that implements broker, and one line in brokers. What is
// sent and how it is judged is the business of a content, which knows no broker; a broker
// carries bytes and knows no content. So every broker carries the same messages, has them
// verified in the same way, and is timed by the same clock.
package messaging

import (
	"context"
	"fmt"

	"benchd/kernels"
)

// maxLanes is the most clients or pairs of mailboxes that a trial can ask for.
const maxLanes = 256

// Family returns the kernels of the family.
func Family() kernels.Family {
	pool := newPool()
	return kernels.Family{
		Name:    "messaging",
		Title:   "Messages there and back, through a broker and between mailboxes.",
		Kernels: []kernels.Kernel{roundtripKernel{pool}, publishKernel{}, consumeKernel{}, echoKernel{pool}, mailboxKernel{}},
	}
}

// A broker carries requests to an echo service and the replies back, by its own convention
// for request and reply.
type broker interface {
	// start runs the broker in this process on a random loopback port. It returns the
	// address at which respond and dial find it, and a function that ends it in order.
	start(ctx context.Context, p kernels.Params) (addr string, stop func(), err error)
	// respond attaches the echo service to the broker at addr and calls ready once it is
	// there, with the address at which dial reaches it. It answers every request until ctx is
	// done and then returns nil. It may answer from several goroutines, each with a service
	// that newService made for it.
	respond(ctx context.Context, addr string, p kernels.Params, newService func() service, ready func(addr string)) error
	// dial connects one lane to the broker at addr.
	dial(ctx context.Context, addr string, p kernels.Params) (conn, error)
}

// A conn is the connection of one lane, with a reply address of its own. One goroutine uses
// it.
type conn interface {
	// roundTrip sends a request, at once, and waits for the reply to just this request. It
	// leaves the request alone afterwards; the reply is the caller's until the next call.
	//
	// A connection that was lost is a Failure of class reset; the next call connects again,
	// and waits before it does if the last attempt failed, so that a broker that is down
	// does not meet a storm. Under an ended context the error wraps that of the context.
	roundTrip(ctx context.Context, request []byte) (reply []byte, err error)
	// close ends the connection and leaves nothing behind at the broker.
	close() error
}

// mismatch is the Failure of a reply that is not the one that was due.
func mismatch(format string, args ...any) error {
	return &kernels.Failure{Class: "mismatch", Err: fmt.Errorf(format, args...)}
}
