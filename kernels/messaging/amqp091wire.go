package messaging

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"benchd/kernels"
)

// rabbitWire is a connection with one consumer.
type rabbitWire struct {
	*rabbitLink
	requests   string
	replies    string // the reply queue of a client
	persistent bool
	sync       bool
	serving    bool
	manual     bool // every message that comes is acknowledged
	deliveries <-chan amqp.Delivery
	last       uint64 // the tag of the message to be acknowledged, or 0
	confirming bool
	awaited    []*amqp.DeferredConfirmation
	blocked    string          // why the broker takes no messages, or empty
	alone      bool            // one goroutine sends and receives
	sent       uint64          // the number of the last request
	given      map[uint64]bool // the requests that were given up while the broker took none
}

// open makes the reply queue of a client and begins to consume.
func (w *rabbitWire) open() error {
	queue := w.requests
	if !w.serving {
		w.replies = unguessable()
		queue = w.replies
		if _, err := w.channel.QueueDeclare(queue, w.persistent, true, true, false, nil); err != nil {
			return err
		}
	}
	if err := w.channel.Qos(rabbitPrefetch, 0, false); err != nil {
		return err
	}
	if w.sync {
		if err := w.confirms(); err != nil {
			return err
		}
	}
	var err error
	w.deliveries, err = w.channel.Consume(queue, "", !w.manual, false, false, false, nil)
	return err
}

// confirms asks the broker to confirm every message from now on.
func (w *rabbitWire) confirms() error {
	if w.confirming {
		return nil
	}
	w.confirming = true
	return w.channel.Confirm(false)
}

// send publishes to a queue, and waits for the broker's confirm if sync asks for that.
func (w *rabbitWire) send(ctx context.Context, p *parcel) error {
	if err := w.taking(); err != nil {
		return err
	}
	m := amqp.Publishing{DeliveryMode: deliveryMode(w.persistent), CorrelationId: strconv.FormatUint(p.number, 36), Body: p.body}
	to := p.to
	if to == "" {
		to = w.requests
		if !p.oneWay {
			m.ReplyTo = w.replies
		}
	}
	if p.oneWay {
		if err := w.confirms(); err != nil {
			return lostBy(err)
		}
	}
	// A request that no queue takes comes back; a reply whose client has gone may vanish.
	done, err := w.channel.PublishWithDeferredConfirm("", to, !w.serving, false, m)
	switch {
	case err != nil:
		return lostBy(err)
	case done != nil:
		w.awaited = append(w.awaited, done)
	}
	w.sent = p.number
	if w.sync {
		return w.confirm(ctx)
	}
	return nil
}

// taking tells whether the broker takes messages.
func (w *rabbitWire) taking() error {
	for {
		select {
		case b, ok := <-w.blocks:
			if !ok {
				return lostBy(nil)
			}
			w.heed(b)
			continue
		default:
		}
		if w.blocked != "" {
			return w.refusal()
		}
		return nil
	}
}

// heed notes what the broker says of taking messages.
func (w *rabbitWire) heed(b amqp.Blocking) {
	w.blocked = ""
	if b.Active {
		w.blocked = b.Reason
	}
}

// refusal is the Failure of a message that the broker does not take.
func (w *rabbitWire) refusal() error {
	return &kernels.Failure{Class: "refused", Err: fmt.Errorf("RabbitMQ takes no messages at present: %s", w.blocked)}
}

// giveUp gives the last request up, which the broker may still take when it takes messages again.
func (w *rabbitWire) giveUp() error {
	w.awaited = w.awaited[:0]
	if w.sent != 0 {
		w.given[w.sent] = true
	}
	return w.refusal()
}

// alarms is where the broker tells of taking messages to one who waits for a reply: only with
// the first message that it does not take it says so. Who serves goes on with what there is,
// and of several lanes on one wire each would have to be told.
func (w *rabbitWire) alarms() <-chan amqp.Blocking {
	if w.serving || !w.alone {
		return nil
	}
	return w.blocks
}

// confirm waits for the broker's word on all that was sent.
func (w *rabbitWire) confirm(ctx context.Context) error {
	refused := false
	for _, done := range w.awaited {
		taken, err := w.taken(ctx, done)
		if err != nil {
			return err
		}
		refused = refused || !taken
	}
	w.awaited = w.awaited[:0]
	switch {
	case w.channel.IsClosed():
		return w.lost()
	case refused:
		return &kernels.Failure{Class: "refused", Err: errors.New("RabbitMQ answers a message with basic.nack")}
	}
	return nil
}

// taken waits for the broker's word on one message.
func (w *rabbitWire) taken(ctx context.Context, done *amqp.DeferredConfirmation) (bool, error) {
	for {
		select {
		case <-done.Done():
			return done.Acked(), nil
		case b, ok := <-w.alarms():
			if !ok {
				return false, w.lost()
			}
			if w.heed(b); w.blocked != "" {
				return false, w.giveUp()
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// receive acknowledges the message before and takes the next one.
func (w *rabbitWire) receive(ctx context.Context) (parcel, error) {
	if err := w.acknowledge(); err != nil {
		return parcel{}, err
	}
	for {
		if p, over, err := w.next(ctx); over {
			return p, err
		}
	}
}

// next waits for what comes first, and tells whether that is what receive is over with.
func (w *rabbitWire) next(ctx context.Context) (p parcel, over bool, err error) {
	select {
	case d, ok := <-w.deliveries:
		if ok {
			return w.delivered(d)
		}
	case b, ok := <-w.alarms():
		if ok {
			if w.heed(b); w.blocked != "" {
				return parcel{number: w.sent}, true, w.giveUp()
			}
			return parcel{}, false, nil
		}
	case r, ok := <-w.returns:
		if ok && !w.serving {
			return parcel{number: rabbitNumber(r.CorrelationId)}, true, &kernels.Failure{Class: "refused", Err: fmt.Errorf("RabbitMQ returns the message: %s", r.ReplyText)}
		}
		if ok {
			return parcel{}, false, nil
		}
	case <-ctx.Done():
		return parcel{}, true, ctx.Err()
	}
	return parcel{}, true, w.lost()
}

// delivered takes a message in, or passes it over if it was given up: the broker took the
// request in the end.
func (w *rabbitWire) delivered(d amqp.Delivery) (p parcel, over bool, err error) {
	p = w.parcel(d)
	if !w.given[p.number] {
		return p, true, nil
	}
	delete(w.given, p.number)
	err = w.acknowledge()
	return parcel{}, err != nil, err
}

// parcel takes a message out of its delivery.
func (w *rabbitWire) parcel(d amqp.Delivery) parcel {
	if w.manual {
		w.last = d.DeliveryTag
	}
	return parcel{reply: d.ReplyTo, number: rabbitNumber(d.CorrelationId), body: d.Body, oneWay: d.ReplyTo == ""}
}

// lost is the Failure of a channel that ended, which the broker may have done to a message:
// as one that is too large (precondition-failed or content-too-large).
func (w *rabbitWire) lost() error {
	err := w.why()
	var said *amqp.Error
	if errors.As(err, &said) && (said.Code == amqp.PreconditionFailed || said.Code == amqp.ContentTooLarge) {
		return refusedBy(err)
	}
	return lostBy(err)
}

// why is what the broker said when it ended the channel.
func (w *rabbitWire) why() error {
	select {
	case err, ok := <-w.closed:
		if ok && err != nil {
			return err
		}
	default:
	}
	return errLost
}

func (w *rabbitWire) acknowledge() error {
	if w.last == 0 {
		return nil
	}
	tag := w.last
	w.last = 0
	if err := w.channel.Ack(tag, false); err != nil {
		return lostBy(err)
	}
	return nil
}

// describe tells how queues and messages were made.
func (w *rabbitWire) describe(oneWay bool) map[string]string {
	ack := "automatic"
	if w.persistent {
		ack = "manual"
	}
	return map[string]string{
		"broker": w.version(), "protocol": "AMQP 0-9-1", "delivery_mode": strconv.Itoa(int(deliveryMode(w.persistent))), "durable": strconv.FormatBool(w.persistent),
		"publisher_confirms": strconv.FormatBool(w.sync || oneWay), "ack_requests": "manual", "ack_replies": ack, "prefetch": strconv.Itoa(rabbitPrefetch),
	}
}

// close acknowledges what was received; the reply queue goes with the connection.
func (w *rabbitWire) close() error {
	_ = w.acknowledge() // a broker that is gone delivers again
	return w.rabbitLink.close()
}
