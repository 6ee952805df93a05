package messaging

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"benchd/kernels"
)

// natsDriver speaks to a NATS server. With core messages nothing is stored, and a message
// without a receiver is gone; messages that are to be kept go through JetStream.
//
// Request and reply go by the convention of NATS: the request names a reply subject of one
// use under the client's inbox, and the service publishes its answer there.
type natsDriver struct{}

var _ driver = natsDriver{}

const (
	natsGroup = "services"
	// natsMaxPayload leaves room above the largest message, as natsMaxPending does for the
	// largest messages of all the lanes at once, which the service's connection may have to
	// hold; the server cuts off who exceeds it.
	natsMaxPayload = 8 << 20
	natsMaxPending = 1 << 30
)

// start runs a server that logs nothing, handles no signals and knows no other server.
func (natsDriver) start(_ context.Context, p kernels.Params) (string, func(), error) {
	o := &server.Options{
		ServerName: "benchd", Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoLog: true, NoSigs: true, NoSystemAccount: true,
		MaxPayload: natsMaxPayload, MaxPending: natsMaxPending,
	}
	forget, err := natsStore(o, p)
	if err != nil {
		return "", nil, err
	}
	s, err := server.NewServer(o)
	if err != nil {
		forget()
		return "", nil, fmt.Errorf("make a NATS server: %w", err)
	}
	stop := func() {
		s.Shutdown()
		s.WaitForShutdown()
		forget()
	}
	s.Start()
	if !s.ReadyForConnections(connectPatience) {
		stop()
		return "", nil, fmt.Errorf("start a NATS server: it took no connections within %s", connectPatience)
	}
	return "nats://" + s.Addr().String(), stop, nil
}

// prepare makes the stream where messages are kept; core messages need nothing.
func (natsDriver) prepare(ctx context.Context, at place, p kernels.Params) (func(), error) {
	if p.Bool("persistent") {
		return prepareStream(ctx, at, p)
	}
	return func() {}, nil
}

// connect connects a service to the queue group of the trial's subject, or a client with an
// inbox of its own.
func (natsDriver) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	l, err := natsConnectRoom(ctx, at, natsRoom(p))
	if err != nil {
		return nil, err
	}
	if p.Bool("persistent") {
		return newStreamWire(l, at, p, r)
	}
	w := &natsWire{natsLink: l, subject: at.queue, serving: r.serving}
	if r.serving {
		_, err = l.conn.ChanQueueSubscribe(at.queue, natsGroup, l.messages)
	} else {
		w.inbox = l.conn.NewInbox() + "."
		_, err = l.conn.ChanSubscribe(w.inbox+"*", l.messages)
	}
	if err == nil {
		// The server is to know of the subscription before anybody sends to it.
		err = l.conn.FlushTimeout(connectPatience)
	}
	if err != nil {
		_ = l.close() // the error that counts is the one before
		return nil, fmt.Errorf("subscribe to a subject of the NATS server at %s: %w", at.url.Host, err)
	}
	return w, nil
}

// natsRoom is how many messages a link holds for its reader: more than there can be under way,
// since the library throws away what finds no room.
func natsRoom(p kernels.Params) int { return max(1, p.Int("clients"))*publishTally + 2*maxWindow }

// natsWire is a connection for core messages.
//
// Of the ways that the client library offers this is the one with the fewest steps: the
// subscription hands its messages straight to a channel, where a request of the library's
// own passes a handler's goroutine, a map and a channel made for it.
type natsWire struct {
	*natsLink
	subject string
	inbox   string // the reply subjects up to the number
	serving bool
}

// send publishes a request with its reply subject, or a reply on it.
func (w *natsWire) send(_ context.Context, p *parcel) error {
	var err error
	switch {
	case p.to != "":
		err = w.conn.Publish(replySubject(p.to, p.number), p.body)
	case p.oneWay:
		err = w.conn.Publish(w.subject, p.body)
	default:
		err = w.conn.PublishRequest(w.subject, replySubject(w.inbox, p.number), p.body)
	}
	return w.judge("publish a message", err)
}

// replySubject is the subject of one use for the reply to one request. One that is no inbox
// of ours is taken as it is.
func replySubject(inbox string, number uint64) string {
	if !strings.HasSuffix(inbox, ".") {
		return inbox
	}
	var b [64]byte
	return string(strconv.AppendUint(append(b[:0], inbox...), number, 36))
}

// receive takes the next message.
func (w *natsWire) receive(ctx context.Context) (parcel, error) {
	m, err := w.next(ctx)
	if err != nil {
		return parcel{}, err
	}
	// The server's word that nobody listens on the subject: status 503 and no bytes. It
	// comes to the subject of the reply.
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return natsParcel(m.Subject, nil), &kernels.Failure{Class: "refused", Err: nats.ErrNoResponders}
	}
	if w.serving {
		return natsParcel(m.Reply, m.Data), nil
	}
	return natsParcel(m.Subject, m.Data), nil
}

// natsParcel takes a reply subject apart.
func natsParcel(subject string, body []byte) parcel {
	i := strings.LastIndexByte(subject, '.') + 1
	number, err := strconv.ParseUint(subject[i:], 36, 64)
	if err != nil || subject[i] == '0' || strings.ToLower(subject[i:]) != subject[i:] {
		// It is no number as replySubject writes it: the subject is somebody else's.
		return parcel{reply: subject, body: body, oneWay: subject == ""}
	}
	return parcel{reply: subject[:i], number: number, body: body}
}

// confirm makes a round trip to the server, which has then seen all that went before it: it
// is all that core NATS has for a confirm.
func (w *natsWire) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, replyPatience)
	defer cancel()
	return w.judge("flush to the server", w.conn.FlushWithContext(ctx))
}

// describe tells what carries the messages.
func (w *natsWire) describe(_ bool) map[string]string {
	return map[string]string{"broker": "NATS " + w.conn.ConnectedServerVersion(), "messages": "core", "delivery": "at most once", "storage": "none"}
}

// judge tells a lost connection from a message that the server does not take.
func (l *natsLink) judge(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return &kernels.Failure{Class: "refused", Err: fmt.Errorf("%s: it is larger than the server's max_payload of %d bytes", what, l.conn.MaxPayload())}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	default:
		return lostBy(fmt.Errorf("%s: %w", what, err))
	}
}

// streamAckWait is how long JetStream waits for an acknowledgement before it delivers again.
const streamAckWait = 5 * time.Second
