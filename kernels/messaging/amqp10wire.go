package messaging

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	amqp10 "github.com/Azure/go-amqp"

	"benchd/kernels"
)

// amqpWire is a connection with a link to receive on, and links to send on.
type amqpWire struct {
	*amqpLink
	receiver *amqp10.Receiver
	requests *amqp10.Sender
	// replies are the links to the reply queues of clients. They go with the connection.
	replies    map[string]*amqp10.Sender
	persistent bool
	sync       bool
	last       *amqp10.Message
	credit     int // messages that may still come
	awaited    []amqp10.SendReceipt
}

// connect receives the requests, or the replies of one client.
func (amqpDriver) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	l, err := amqpConnect(ctx, at)
	if err != nil {
		return nil, err
	}
	w := &amqpWire{amqpLink: l, replies: make(map[string]*amqp10.Sender), persistent: p.Bool("persistent"), sync: p.Bool("sync")}
	bounded, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	if err := w.open(bounded, at, r); err != nil {
		_ = l.close() // the error that counts is the one before
		return nil, fmt.Errorf("open a link at the AMQP broker at %s: %w", at.url.Host, endOf(ctx, err))
	}
	return w, nil
}

// open makes the links.
func (w *amqpWire) open(ctx context.Context, at place, r role) error {
	var err error
	if r.serving {
		w.receiver, err = w.source(ctx, w.address(at.queue))
		return err
	}
	if w.isRabbit() {
		// It has no dynamic nodes.
		queue := unguessable()
		if err = rabbitDeclare(ctx, at, queue, w.persistent, true); err == nil {
			w.receiver, err = w.source(ctx, w.address(queue))
		}
	} else {
		w.receiver, err = w.source(ctx, "")
	}
	if err == nil {
		w.requests, err = w.session.NewSender(ctx, w.address(at.queue), nil)
	}
	return err
}

// source opens a link to receive on, from a node of the broker's making if it has no address.
func (w *amqpWire) source(ctx context.Context, address string) (*amqp10.Receiver, error) {
	return w.session.NewReceiver(ctx, address, &amqp10.ReceiverOptions{Credit: -1, DynamicAddress: address == ""})
}

// address is that of a queue. At RabbitMQ that of a queue that is there already is another
// than that of one to be made.
func (w *amqpWire) address(queue string) string {
	if w.isRabbit() {
		return "/amq/queue/" + queue
	}
	return queue
}

// send transfers a message, and waits until the broker has settled it if sync asks for that.
func (w *amqpWire) send(ctx context.Context, p *parcel) error {
	number, link := p.number, w.requests
	m := &amqp10.Message{
		Header:     &amqp10.MessageHeader{Durable: w.persistent},
		Properties: &amqp10.MessageProperties{CorrelationID: number},
		Data:       [][]byte{p.body},
	}
	if p.to != "" {
		var err error
		if link, err = w.reply(ctx, p.to); err != nil {
			return err
		}
	} else if !p.oneWay {
		address := w.receiver.Address()
		m.Properties.ReplyTo = &address
	}
	receipt, err := link.SendWithReceipt(ctx, m, nil)
	switch {
	case err != nil:
		return amqpJudge(ctx, err)
	case w.sync || p.oneWay:
		w.awaited = append(w.awaited, receipt)
	}
	if w.sync {
		return w.confirm(ctx)
	}
	return nil
}

// reply returns the link to a reply queue.
func (w *amqpWire) reply(ctx context.Context, address string) (*amqp10.Sender, error) {
	if link := w.replies[address]; link != nil {
		return link, nil
	}
	link, err := w.session.NewSender(ctx, address, nil)
	var refused *amqp10.LinkError
	switch {
	case errors.As(err, &refused):
		return nil, &kernels.Failure{Class: "refused", Err: err} // its client has gone
	case err != nil:
		return nil, amqpJudge(ctx, err)
	}
	w.replies[address] = link
	return link, nil
}

// confirm waits until the broker has settled everything that was sent.
func (w *amqpWire) confirm(ctx context.Context) error {
	var refused error
	for i := range w.awaited {
		state, err := w.awaited[i].Wait(ctx)
		if err != nil {
			return amqpJudge(ctx, err)
		}
		if _, ok := state.(*amqp10.StateAccepted); !ok {
			refused = &kernels.Failure{Class: "refused", Err: fmt.Errorf("the broker does not accept a message: %v", state)}
		}
	}
	w.awaited = w.awaited[:0]
	return refused
}

// receive accepts the message before and takes the next one.
func (w *amqpWire) receive(ctx context.Context) (parcel, error) {
	if err := w.acknowledge(ctx); err != nil {
		return parcel{}, err
	}
	if w.credit == 0 {
		if err := w.receiver.IssueCredit(amqpCredit); err != nil {
			return parcel{}, lostBy(err)
		}
		w.credit = amqpCredit
	}
	m, err := w.receiver.Receive(ctx, nil)
	if err != nil {
		return parcel{}, amqpJudge(ctx, err)
	}
	w.credit--
	w.last = m
	p := parcel{body: m.GetData(), oneWay: true}
	if q := m.Properties; q != nil {
		p.number, _ = q.CorrelationID.(uint64)
		if q.ReplyTo != nil {
			p.reply, p.oneWay = *q.ReplyTo, false
		}
	}
	return p, nil
}

func (w *amqpWire) acknowledge(ctx context.Context) error {
	if w.last == nil {
		return nil
	}
	m := w.last
	w.last = nil
	return amqpJudge(ctx, w.receiver.AcceptMessage(ctx, m))
}

// amqpJudge makes a Failure of an error.
func amqpJudge(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case endOf(ctx, err) != err: //nolint:errorlint // the same error, not a like one
		return endOf(ctx, err)
	case amqpRefused(err):
		return refusedBy(err)
	default:
		return lostBy(err)
	}
}

// amqpRefused tells whether the broker ended link, session or connection for what a message is.
func amqpRefused(err error) bool {
	var said *amqp10.Error
	var link *amqp10.LinkError
	var session *amqp10.SessionError
	var conn *amqp10.ConnError
	switch {
	case errors.As(err, &link):
		said = link.RemoteErr
	case errors.As(err, &session):
		said = session.RemoteErr
	case errors.As(err, &conn):
		said = conn.RemoteErr
	}
	return said != nil && (said.Condition == amqp10.ErrCondPreconditionFailed || said.Condition == amqp10.ErrCondMessageSizeExceeded)
}

// amqpTick is how long before a context's end the library's own deadline for it may come.
const amqpTick = 20 * time.Millisecond

// endOf returns the error of the context if that is what lies behind another: the library
// gives its socket the deadline of a context, which may strike a moment before that ends.
func endOf(ctx context.Context, err error) error {
	if d, ok := ctx.Deadline(); ok && time.Until(d) < amqpTick {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// describe tells how messages are sent and settled.
func (w *amqpWire) describe(oneWay bool) map[string]string {
	settled := "by the broker, not awaited"
	if w.sync || oneWay {
		settled = "by the broker, awaited"
	}
	return map[string]string{
		"broker": w.product(), "protocol": "AMQP 1.0", "durable": strconv.FormatBool(w.persistent), "settled": settled,
		"received": "accepted one by one", "credit": strconv.Itoa(amqpCredit),
	}
}

// close accepts what was received; the reply queue goes with the connection.
func (w *amqpWire) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = w.acknowledge(ctx) // a broker that is gone delivers again
	return w.amqpLink.close()
}
