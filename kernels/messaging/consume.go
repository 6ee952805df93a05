package messaging

import (
	"context"
	"encoding/binary"

	"benchd/kernels"
)

// consumeKernel measures messages in the other direction: from the broker, which is told that
// they were received.
type consumeKernel struct{}

var (
	_ kernels.Kernel = consumeKernel{}
	_ kernels.Server = consumeKernel{}
)

// consumeGlance is how many messages are received under one look at the time.
const consumeGlance = 64

// Info describes the kernel.
func (consumeKernel) Info() kernels.Info {
	return kernels.Info{
		Name:  "messaging.consume",
		Title: "Messages from a broker, which are acknowledged, while another process brings more.",
		Operation: "one message received, verified and acknowledged; a producer in another process keeps the client's queue filled, " +
			"and the broker confirms to it what it sends",
		Unit: "message/s", Noun: "message", Lanes: "clients", Rate: "rate", Attends: true, Blocks: 1, Switches: switches(),
		Params: oneWayParams(kernels.Param{Name: "window", Doc: "Messages that a client asks the producer for at a time, when half of the last are left.", Kind: kernels.Int, Default: "128", Min: 2, Max: maxWindow}),
	}
}

// maxWindow bounds what is at the broker for one client.
const maxWindow = 4096

// Serve runs the broker, if none is named, and the producer.
func (consumeKernel) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	return serveOneWay(ctx, p, func() handler { return feed(p.Bytes("size")) }, ready)
}

// feed is the handler that sends as many messages as it is asked for. The number of the first
// and how many there are stand in the request.
func feed(size int) handler {
	sheet := newSheet(size)
	return func(ctx context.Context, w wire, p *parcel) error {
		if len(p.body) != sheetHead {
			return &kernels.Failure{Class: malformed, Err: errNoAnswer}
		}
		first, count := binary.BigEndian.Uint64(p.body), min(binary.BigEndian.Uint64(p.body[8:]), maxWindow)
		for n := first; n < first+count; n++ {
			if err := w.send(ctx, &parcel{to: p.reply, number: n, body: sheet.write(0, n), oneWay: true}); err != nil {
				return err
			}
		}
		return w.confirm(ctx)
	}
}

// Open connects one lane.
func (consumeKernel) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	l, err := openOneWay(ctx, "messaging.consume", p)
	if err != nil {
		return nil, err
	}
	return &consumeTrial{lane: l, sheet: newSheet(p.Bytes("size")), window: uint64(max(2, p.Int("window")))}, nil
}

// consumeTrial is one lane.
type consumeTrial struct {
	lane   *lane
	sheet  sheet
	window uint64
	from   wire   // the wire that was asked; its queue has gone with it
	asked  uint64 // the last number that was asked for
	ledger ledger
	out    parcel
	ask    [sheetHead]byte
}

var (
	_ kernels.Counter   = (*consumeTrial)(nil)
	_ kernels.Describer = (*consumeTrial)(nil)
)

// Do receives n messages.
func (t *consumeTrial) Do(ctx context.Context, n int) error {
	for n > 0 {
		batch := min(n, consumeGlance)
		err := t.lane.guarded(ctx, "message", func(ctx context.Context) error {
			for range batch {
				if err := t.receive(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		n -= batch
	}
	return nil
}

// receive takes one message, after asking for more if few are left.
func (t *consumeTrial) receive(ctx context.Context) error {
	if err := t.fill(ctx); err != nil {
		return err
	}
	p, err := t.lane.wire.receive(ctx)
	if err != nil {
		return err
	}
	_, number, ok := t.sheet.read(p.body)
	if !ok || number != p.number {
		return mismatch("message %d is not as it was sent", p.number)
	}
	return failure(t.ledger.note(number), number)
}

// fill asks for more messages. Over a new wire it begins anew behind all that were asked for.
func (t *consumeTrial) fill(ctx context.Context) error {
	if t.from != t.lane.wire {
		t.from, t.ledger = t.lane.wire, ledger{last: t.asked}
	}
	if t.asked-min(t.asked, t.ledger.last) > t.window/2 {
		return nil
	}
	binary.BigEndian.PutUint64(t.ask[:], t.asked+1)
	binary.BigEndian.PutUint64(t.ask[8:], t.window)
	t.out = parcel{number: t.asked + 1, body: t.ask[:]}
	if err := t.lane.wire.send(ctx, &t.out); err != nil {
		return err
	}
	t.asked += t.window
	return nil
}

// Count returns the message's bytes.
func (t *consumeTrial) Count() kernels.Work { return kernels.Work{Bytes: float64(len(t.sheet.body))} }

// Describe tells what was set at the broker.
func (t *consumeTrial) Describe() map[string]string { return describe(t.lane) }

// Close ends the connection.
func (t *consumeTrial) Close() error { return t.lane.close() }
