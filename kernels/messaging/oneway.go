package messaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"benchd/kernels"
)

// oneWayTable is the table of the brokers that have queues.
func oneWayTable() []entry {
	var list []entry
	for _, e := range table() {
		if _, ok := e.make(newPool()).(queueBroker); ok {
			list = append(list, e)
		}
	}
	return list
}

// queueBrokerOf returns the broker with queues that the parameters name.
func queueBrokerOf(p kernels.Params) (entry, queueBroker, error) {
	e, err := entryOf(p)
	if err != nil {
		return entry{}, queueBroker{}, err
	}
	b, ok := e.make(newPool()).(queueBroker)
	if !ok {
		return entry{}, queueBroker{}, fmt.Errorf("the broker %s has no queues to publish to and consume from", e.name)
	}
	return e, b, nil
}

// serveOneWay runs the broker and the other end of a one-way kernel. That is one place of
// work, since what comes is to stay in its order.
func serveOneWay(ctx context.Context, p kernels.Params, newHandler func() handler, ready func(addr string)) error {
	e, b, err := queueBrokerOf(p)
	if err != nil {
		return err
	}
	addr, stop, err := host(ctx, e, b, p)
	if err != nil {
		return err
	}
	defer stop()
	if err := b.serve(ctx, addr, p, 1, newHandler, ready); err != nil {
		return fmt.Errorf("run the other end on the %s broker: %w", e.name, err)
	}
	return nil
}

// openOneWay connects a lane of a one-way kernel.
func openOneWay(ctx context.Context, kernel string, p kernels.Params) (*lane, error) {
	e, b, err := queueBrokerOf(p)
	if err != nil {
		return nil, err
	}
	if p[kernels.Addr] == "" {
		return nil, fmt.Errorf("open a lane of %s: no address of a broker was given", kernel)
	}
	l, err := b.lane(ctx, p[kernels.Addr], p, true)
	if err != nil {
		return nil, fmt.Errorf("connect to the %s broker: %w", e.name, err)
	}
	return l, nil
}

// oneWayParams are the parameters of the one-way kernels.
func oneWayParams(window kernels.Param) []kernels.Param {
	params := brokerParams(oneWayTable())
	params[0].Doc = "The broker that carries the messages."
	return append(params,
		kernels.Param{Name: "size", Doc: "Bytes of one message.", Kind: kernels.Size, Default: "1KB", Values: []string{"1KB", "10KB", "1MB"}},
		window,
		kernels.Param{Name: "clients", Doc: "Clients, each with a connection of its own.", Kind: kernels.Int, Default: "1", Min: 1, Max: maxLanes},
		kernels.Param{Name: "rate", Doc: "Messages that begin in a second, over all clients; 0 sends as fast as it goes.", Kind: kernels.Int, Default: "0", Min: 0, Max: maxRate},
	)
}

// A sheet is what every one-way message is written on: 8 bytes that say in which series it
// is, 8 bytes for its number in that, and bytes that are the same in all.
type sheet struct{ body []byte }

// sheetHead is the bytes before those that are the same.
const sheetHead = 16

func newSheet(size int) sheet { return sheet{body: seeded(size)} }

// write returns the message with a number, which is good until the next call.
func (s sheet) write(series, number uint64) []byte {
	binary.BigEndian.PutUint64(s.body, series)
	binary.BigEndian.PutUint64(s.body[8:], number)
	return s.body
}

// read returns what is written on a message, and whether the rest is as it must be.
func (s sheet) read(b []byte) (series, number uint64, ok bool) {
	if len(b) < sheetHead {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), bytes.Equal(b[sheetHead:], s.body[sheetHead:])
}

// errNoAnswer is the cause of the Failure of an answer that cannot be read.
var errNoAnswer = errors.New("what the other end answers is none of its answers")
