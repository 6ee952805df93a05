package messaging

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"benchd/kernels"
)

// publishKernel measures messages in one direction: to the broker, which confirms them.
type publishKernel struct{}

var (
	_ kernels.Kernel = publishKernel{}
	_ kernels.Server = publishKernel{}
)

// publishTally is after how many messages a lane asks the consumer what it has got. It bounds
// what piles up at a broker that takes messages faster than it gives them out.
const publishTally = 1024

// Info describes the kernel.
func (publishKernel) Info() kernels.Info {
	return kernels.Info{
		Name:  "messaging.publish",
		Title: "Messages to a broker, which confirms them, while another process takes them away.",
		Operation: "one message handed to the broker and confirmed by it; a consumer in another process takes it away and verifies it, " +
			"and after 1,024 messages the client waits until the consumer tells that all are there",
		Unit: "message/s", Noun: "message", Lanes: "clients", Rate: "rate", Attends: true, Blocks: 1, Switches: switches(),
		Params: oneWayParams(kernels.Param{Name: "window", Doc: "Messages that a client sends before it waits for their confirms.", Kind: kernels.Int, Default: "1", Min: 1, Max: publishTally}),
	}
}

// Serve runs the broker, if none is named, and the consumer.
func (publishKernel) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	return serveOneWay(ctx, p, func() handler { return drain(p.Bytes("size")) }, ready)
}

// drain is the handler that counts what comes, and tells what it counted to who asks.
func drain(size int) handler {
	sheet, ledgers := newSheet(size), make(map[uint64]*ledger)
	return func(ctx context.Context, w wire, p *parcel) error {
		if !p.oneWay {
			series := uint64(0)
			if len(p.body) == 8 {
				series = binary.BigEndian.Uint64(p.body)
			}
			var t tally
			if l := ledgers[series]; l != nil {
				t = l.tally
			}
			return w.send(ctx, &parcel{to: p.reply, number: p.number, body: t.append(nil)})
		}
		series, number, ok := sheet.read(p.body)
		l := ledgers[series]
		if l == nil {
			l = &ledger{}
			ledgers[series] = l
		}
		if ok {
			l.note(number)
		} else {
			l.tally.damaged++
		}
		return nil
	}
}

// append writes a tally as an answer.
func (t tally) append(b []byte) []byte {
	for _, n := range []uint64{t.received, t.duplicate, t.reordered, t.damaged} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return b
}

// readTally reads an answer.
func readTally(b []byte) (tally, error) {
	if len(b) != 32 {
		return tally{}, &kernels.Failure{Class: malformed, Err: errNoAnswer}
	}
	n := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return tally{received: n(0), duplicate: n(1), reordered: n(2), damaged: n(3)}, nil
}

// Open connects one lane.
func (publishKernel) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	l, err := openOneWay(ctx, "messaging.publish", p)
	if err != nil {
		return nil, err
	}
	t := &publishTrial{lane: l, sheet: newSheet(p.Bytes("size")), window: max(1, p.Int("window"))}
	t.restart()
	return t, nil
}

// publishTrial is one lane.
type publishTrial struct {
	lane   *lane
	sheet  sheet
	window int
	series uint64 // the name of the messages that are counted together
	sent   uint64 // of the series
	told   uint64 // of those, how many the consumer has told of
	out    parcel
}

var (
	_ kernels.Checker   = (*publishTrial)(nil)
	_ kernels.Counter   = (*publishTrial)(nil)
	_ kernels.Describer = (*publishTrial)(nil)
)

// restart begins a new series, since of the old one it is not known what arrives.
func (t *publishTrial) restart() { t.series, t.sent, t.told = rand.Uint64(), 0, 0 }

// Do publishes n messages and returns when all are confirmed.
func (t *publishTrial) Do(ctx context.Context, n int) error {
	for n > 0 {
		batch := min(n, t.window, publishTally-int(t.sent-t.told))
		if err := t.publish(ctx, batch); err != nil {
			t.restart()
			return err
		}
		n -= batch
		if t.sent-t.told >= publishTally {
			if err := t.settle(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// publish sends some messages and waits for their confirms.
func (t *publishTrial) publish(ctx context.Context, n int) error {
	return t.lane.guarded(ctx, "confirm", func(ctx context.Context) error {
		for range n {
			t.out = parcel{body: t.sheet.write(t.series, t.sent+1), oneWay: true}
			if err := t.lane.wire.send(ctx, &t.out); err != nil {
				return err
			}
			t.sent++
		}
		return t.lane.wire.confirm(ctx)
	})
}

// settle asks the consumer what has arrived. The question goes the way of the messages, so
// they have all come before it.
func (t *publishTrial) settle(ctx context.Context) error {
	answer, err := t.lane.roundTrip(ctx, binary.BigEndian.AppendUint64(nil, t.series))
	var told tally
	if err == nil {
		told, err = readTally(answer)
	}
	if err == nil {
		err = told.judge(t.sent)
	}
	if err != nil {
		t.restart()
		return err
	}
	t.told = t.sent
	return nil
}

// Check tells whether everything that was confirmed has arrived, once and in order.
func (t *publishTrial) Check() error { return t.settle(context.Background()) }

// Count returns the message's bytes.
func (t *publishTrial) Count() kernels.Work { return kernels.Work{Bytes: float64(len(t.sheet.body))} }

// Describe tells what was set at the broker.
func (t *publishTrial) Describe() map[string]string { return describe(t.lane) }

// Close ends the connection.
func (t *publishTrial) Close() error { return t.lane.close() }
