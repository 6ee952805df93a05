package messaging

import (
	"context"
	"errors"
	"fmt"

	"benchd/kernels"
)

// roundtripKernel measures a request and its reply through a broker.
type roundtripKernel struct{}

var (
	_ kernels.Kernel = roundtripKernel{}
	_ kernels.Server = roundtripKernel{}
)

// Info describes the kernel.
func (roundtripKernel) Info() kernels.Info {
	return kernels.Info{
		Name:  "messaging.roundtrip",
		Title: "A request through a broker to an echo service, and the reply back.",
		Operation: "one message there and back: a client sends a request through the broker, a service in " +
			"another process sends it back, and the client verifies the reply",
		Unit: "message/s", Noun: "message", Lanes: "clients",
		Params: []kernels.Param{
			{Name: "broker", Doc: "The broker that carries the messages; tcp is none, only a connection to the echo service: the floor below all brokers.", Kind: kernels.Word, Default: brokerNames()[0], Values: brokerNames()},
			{Name: "content", Doc: "A SOAP envelope that both sides write and read, or bytes that go unread.", Kind: kernels.Word, Default: soap, Values: []string{soap, raw}},
			{Name: "size", Doc: "Bytes of one message, the whole envelope included.", Kind: kernels.Size, Default: "1KB", Values: []string{"1KB", "10KB", "1MB"}},
			{Name: "clients", Doc: "Clients, each with a connection and a reply address of its own.", Kind: kernels.Int, Default: "1", Min: 1, Max: maxLanes},
		},
	}
}

// Serve runs the broker and the echo service, so that the process of the clients does
// nothing but ask. The service is a client of the broker like any other: its messages go
// through sockets too.
func (roundtripKernel) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	b, err := brokerOf(p)
	if err != nil {
		return err
	}
	newService, err := serviceOf(p)
	if err != nil {
		return err
	}
	addr, stop, err := b.start(ctx, p)
	if err != nil {
		return fmt.Errorf("start the %s broker: %w", p.Word("broker"), err)
	}
	defer stop()
	if err := b.respond(ctx, addr, p, newService, func() { ready(addr) }); err != nil {
		return fmt.Errorf("run the echo service on the %s broker: %w", p.Word("broker"), err)
	}
	return nil
}

// Open connects one lane and makes its message.
func (roundtripKernel) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	b, err := brokerOf(p)
	if err != nil {
		return nil, err
	}
	if p[kernels.Addr] == "" {
		return nil, errors.New("open a lane of messaging.roundtrip: no address of a broker was given")
	}
	c, err := contentOf(p)
	if err != nil {
		return nil, err
	}
	lane, err := b.dial(ctx, p[kernels.Addr], p)
	if err != nil {
		return nil, fmt.Errorf("connect to the %s broker: %w", p.Word("broker"), err)
	}
	return &roundtripTrial{lane: lane, content: c, bytes: 2 * float64(p.Bytes("size"))}, nil
}

// roundtripTrial is one lane: a connection and what it sends.
type roundtripTrial struct {
	lane    conn
	content content
	bytes   float64
}

var _ kernels.Counter = (*roundtripTrial)(nil)

// Do sends n requests, each after the reply to the one before, and verifies every reply.
func (t *roundtripTrial) Do(ctx context.Context, n int) error {
	for range n {
		reply, err := t.lane.roundTrip(ctx, t.content.next())
		if err != nil {
			return err
		}
		if err := t.content.check(reply); err != nil {
			return err
		}
	}
	return nil
}

// Count returns the message's bytes, there and back.
func (t *roundtripTrial) Count() kernels.Work { return kernels.Work{Bytes: t.bytes} }

// Close ends the connection.
func (t *roundtripTrial) Close() error { return t.lane.close() }
