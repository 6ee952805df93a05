package messaging

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"benchd/kernels"
)

// roundtripKernel measures a request and its reply through a broker.
type roundtripKernel struct{ pool *pool }

var (
	_ kernels.Kernel = roundtripKernel{}
	_ kernels.Server = roundtripKernel{}
)

// maxRate is the largest rate in messages per second that can be asked for.
const maxRate = 1_000_000

// Info describes the kernel.
func (roundtripKernel) Info() kernels.Info {
	return kernels.Info{
		Name:  "messaging.roundtrip",
		Title: "A request through a broker to an echo service, and the reply back.",
		Operation: "one message there and back: a client sends a request through the broker, a service in " +
			"another process sends it back, and the client verifies the reply",
		Unit: "message/s", Noun: "message", Lanes: "clients", Rate: "rate", Attends: true, Switches: switches(), Blocks: 1,
		Floor: kernels.Params{"broker": "tcp", "server": kernels.Embedded, "persistent": "false", "sync": "false", "qos": "0", "content": raw, "model": stream, "connections": own},
		Params: append(brokerParams(table()),
			kernels.Param{Name: "content", Doc: "A SOAP envelope that both sides write and read, with one text or with a document of many elements in it, or bytes that go unread.", Kind: kernels.Word, Default: soap, Values: contents()},
			kernels.Param{Name: "model", Doc: "How both sides read and write SOAP: as a stream, or as a tree.", Kind: kernels.Word, Default: stream, Values: []string{stream, tree}},
			kernels.Param{Name: "size", Doc: "Bytes of one message, the whole envelope included.", Kind: kernels.Size, Default: "1KB", Values: []string{"1KB", "10KB", "1MB"}},
			kernels.Param{Name: "connections", Doc: "Whether each client has a connection of its own, or all share one.", Kind: kernels.Word, Default: own, Values: []string{own, shared}},
			kernels.Param{Name: "clients", Doc: "Clients, each with a reply address of its own.", Kind: kernels.Int, Default: "1", Min: 1, Max: maxLanes},
			kernels.Param{Name: "rate", Doc: "Messages that begin in a second, over all clients; 0 sends one after another.", Kind: kernels.Int, Default: "0", Min: 0, Max: maxRate},
		),
	}
}

// brokerParams are the parameters of every kernel that goes through one of the brokers.
func brokerParams(list []entry) []kernels.Param {
	var names []string
	for _, e := range list {
		names = append(names, e.name)
	}
	return []kernels.Param{
		{Name: "broker", Doc: "The broker that carries the messages; tcp is none, only a connection to the echo service: the floor below all brokers.", Kind: kernels.Word, Default: names[0], Values: names},
		{Name: "server", Doc: "A broker of its own, or a named service of the worker's.", Kind: kernels.Service, Default: kernels.Embedded, Schemes: schemes(list), Of: "broker", Servers: servers(list)},
		{Name: "persistent", Doc: "Whether the broker keeps the messages, so that they outlive it.", Kind: kernels.Bool, Default: "false"},
		{Name: "sync", Doc: "Whether a sender waits for the broker's confirm before it goes on.", Kind: kernels.Bool, Default: "false"},
		{Name: "qos", Doc: "The quality of service of MQTT: at most once, at least once, exactly once.", Kind: kernels.Word, Default: "0", Values: []string{"0", "1", "2"}},
	}
}

// host starts the broker that the parameters ask for, or takes the named service in its
// stead, and returns its address.
func host(ctx context.Context, e entry, b broker, p kernels.Params) (addr string, stop func(), err error) {
	if addr := p[kernels.Addr]; addr != "" {
		return addr, func() {}, e.fits(addr)
	}
	if !e.embedded {
		return "", nil, fmt.Errorf("the broker %s is a service outside; server can only be the name of one", e.name)
	}
	if addr, stop, err = b.start(ctx, p); err != nil {
		return "", nil, fmt.Errorf("start the %s broker: %w", e.name, err)
	}
	return addr, stop, nil
}

// Serve runs the broker and the echo service, so that the process of the clients does
// nothing but ask. The service is a client of the broker like any other: its messages go
// through sockets too. With a named service only the echo service runs here.
func (k roundtripKernel) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	e, err := entryOf(p)
	if err != nil {
		return err
	}
	newService, err := serviceOf(p)
	if err != nil {
		return err
	}
	b := e.make(k.pool)
	addr, stop, err := host(ctx, e, b, p)
	if err != nil {
		return err
	}
	defer stop()
	if err := b.respond(ctx, addr, p, newService, ready); err != nil {
		return fmt.Errorf("run the echo service on the %s broker: %w", e.name, err)
	}
	return nil
}

// Open connects one lane and makes its message.
func (k roundtripKernel) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	e, err := entryOf(p)
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
	lane, err := e.make(k.pool).dial(ctx, p[kernels.Addr], p)
	if err != nil {
		return nil, fmt.Errorf("connect to the %s broker: %w", e.name, err)
	}
	return &roundtripTrial{lane: lane, content: c, bytes: 2 * float64(p.Bytes("size"))}, nil
}

// roundtripTrial is one lane: a connection and what it sends.
type roundtripTrial struct {
	lane    conn
	content content
	bytes   float64
}

var (
	_ kernels.Counter   = (*roundtripTrial)(nil)
	_ kernels.Describer = (*roundtripTrial)(nil)
)

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

// Describe tells what was set at the broker.
func (t *roundtripTrial) Describe() map[string]string { return describe(t.lane) }

// A describer is a connection that tells what was set at the broker.
type describer interface{ describe() map[string]string }

// describe asks what can tell.
func describe(c any) map[string]string {
	facts := map[string]string{"tcp_nodelay": "true"}
	if d, ok := c.(describer); ok {
		maps.Copy(facts, d.describe())
	}
	return facts
}

// Close ends the connection.
func (t *roundtripTrial) Close() error { return t.lane.close() }
