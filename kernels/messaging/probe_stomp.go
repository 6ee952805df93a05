package messaging

import (
	"context"
	"fmt"

	"github.com/go-stomp/stomp/v3/frame"

	"benchd/kernels"
)

// inquire reads how the broker introduces itself, and times the receipts of transactions,
// begun and given up in turn, which nobody but the broker sees.
func (stompDriver) inquire(ctx context.Context, at place) (finding, error) {
	l, err := stompConnect(ctx, at)
	if err != nil {
		return finding{}, err
	}
	defer func() { _ = l.end() }()
	f := finding{Report: kernels.Report{Supports: []string{"STOMP 1.2"}}}
	f.Product, f.Version = productOf(l.server)
	command := frame.ABORT
	f.RoundTrip, err = kernels.Repeat(ctx, func(ctx context.Context) error {
		if command == frame.BEGIN {
			command = frame.ABORT
		} else {
			command = frame.BEGIN
		}
		if err := l.write(command, []string{frame.Transaction, "probe", frame.Receipt, "0"}, nil); err != nil {
			return lostBy(err)
		}
		return l.receipt(ctx)
	})
	if err != nil {
		return finding{}, fmt.Errorf("begin a transaction at the STOMP broker at %s: %w", at.url.Host, err)
	}
	f.replying = f.Product == stompActiveMQ // where a client may write to its own reply queue
	if stompBrokerOf(l.server).whole {
		f.Supports = append(f.Supports, "receipts of subscriptions", "acknowledgement of each message")
	}
	return f, nil
}

// stompActiveMQ is what ActiveMQ calls itself.
const stompActiveMQ = "ActiveMQ"

// ownAddress is the reply queue of a client's wire; of a service's it is nothing.
func (w *stompWire) ownAddress() string { return w.replyTo }
