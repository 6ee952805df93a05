package messaging

import (
	"context"
	"strconv"
	"time"

	"github.com/go-stomp/stomp/v3/frame"
)

// stompWire is a connection with one subscription.
type stompWire struct {
	*stompLink
	broker     stompBroker
	target     string // where requests go
	replyTo    string // what requests name in reply-to
	persistent bool
	sync       bool
	individual bool // every message that comes is acknowledged
	headers    []string
	last       any // what the broker wants back for the last message
	awaited    int // receipts to come
	sweeps     bool
	answered   map[string]bool // of a service that sweeps, the reply queues that it sent to
}

// stompSubscription is the id of the one subscription.
const stompSubscription = "1"

// subscribe makes the queue, where the broker makes it so, and waits until messages come from it.
func (w *stompWire) subscribe(ctx context.Context, destination string) error {
	ack := frame.AckAuto
	if w.individual {
		ack = frame.AckClientIndividual
	}
	headers := []string{frame.Id, stompSubscription, frame.Destination, destination, frame.Ack, ack}
	headers = append(headers, w.broker.headers(w.persistent)...)
	if w.broker.whole {
		headers = append(headers, frame.Receipt, "0")
	}
	if err := w.write(frame.SUBSCRIBE, headers, nil); err != nil || !w.broker.whole {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	return w.receipt(ctx)
}

// send sends a request or a reply, and waits for the broker's receipt if sync asks for that.
func (w *stompWire) send(ctx context.Context, p *parcel) error {
	to := p.to
	if to == "" {
		to = w.target
	}
	h := w.headers[:0]
	h = append(h, frame.Destination, to, stompCorrelation, strconv.FormatUint(p.number, 36))
	if p.to == "" && !p.oneWay {
		h = append(h, stompReplyTo, w.replyTo)
	}
	if w.sweeps && p.to != "" {
		w.answered[p.to] = true
	}
	if w.persistent {
		h = append(h, "persistent", "true")
	}
	if w.sync || p.oneWay {
		h = append(h, frame.Receipt, "0")
		w.awaited++
	}
	w.headers = h
	if err := w.write(frame.SEND, h, p.body); err != nil {
		return lostBy(err)
	}
	if !w.sync {
		return nil
	}
	return w.confirm(ctx)
}

// confirm waits for the receipts of all that was sent.
func (w *stompWire) confirm(ctx context.Context) error {
	for ; w.awaited > 0; w.awaited-- {
		if err := w.receipt(ctx); err != nil {
			return err
		}
	}
	return nil
}

// receive acknowledges the message before and takes the next one.
func (w *stompWire) receive(ctx context.Context) (parcel, error) {
	if err := w.acknowledge(); err != nil {
		return parcel{}, err
	}
	p, err := w.next(ctx)
	if w.individual {
		w.last = p.receipt
	}
	return p, err
}

func (w *stompWire) acknowledge() error {
	id, ok := w.last.(string)
	w.last = nil
	if !ok {
		return nil
	}
	if err := w.write(frame.ACK, []string{frame.Id, id}, nil); err != nil {
		return lostBy(err)
	}
	return nil
}

// describe tells how the messages are sent and acknowledged.
func (w *stompWire) describe(oneWay bool) map[string]string {
	requests, replies := frame.AckAuto, frame.AckAuto
	if w.broker.whole {
		requests = frame.AckClientIndividual
	}
	if w.broker.whole && w.persistent {
		replies = frame.AckClientIndividual
	}
	return map[string]string{
		"broker": w.broker.name, "protocol": "STOMP 1.2", "persistent": strconv.FormatBool(w.persistent),
		"receipt": strconv.FormatBool(w.sync || oneWay), "ack_requests": requests, "ack_replies": replies,
	}
}

// close acknowledges what was received and takes leave.
func (w *stompWire) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = w.acknowledge() // a broker that is gone delivers again
	if w.confirm(ctx) == nil && w.sweep(ctx) == nil && w.write(frame.DISCONNECT, []string{frame.Receipt, "0"}, nil) == nil {
		_ = w.receipt(ctx) // as above
	}
	return w.end()
}

// sweepPause is how long what lies in reply queues has to come out of them.
const sweepPause = 100 * time.Millisecond

// sweep empties the reply queues of clients that were killed before they did so themselves:
// the trial has come to its end, and nobody else reads them.
func (w *stompWire) sweep(ctx context.Context) error {
	if len(w.answered) == 0 {
		return nil
	}
	for queue := range w.answered {
		w.awaited++
		headers := []string{frame.Id, "sweep" + strconv.Itoa(w.awaited), frame.Destination, queue, frame.Ack, frame.AckAuto, frame.Receipt, "0"}
		if err := w.write(frame.SUBSCRIBE, headers, nil); err != nil {
			return lostBy(err)
		}
	}
	if err := w.confirm(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sweepPause)
	defer cancel()
	for {
		if _, err := w.next(ctx); err != nil {
			return nil //nolint:nilerr // nothing more comes
		}
	}
}
