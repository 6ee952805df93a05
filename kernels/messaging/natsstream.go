package messaging

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"benchd/kernels"
)

// The headers that carry what core messages have in their reply subject: JetStream needs
// that of a message for the acknowledgement.
const (
	streamReply  = "Benchd-Reply"
	streamNumber = "Benchd-Number"
)

// streamAge is when a stream forgets a message that nobody fetched.
const streamAge = time.Hour

// natsStore lets an embedded server keep messages in a folder of its own, if the trial asks
// for that, and returns what removes the folder.
func natsStore(o *server.Options, p kernels.Params) (func(), error) {
	if !p.Bool("persistent") {
		return func() {}, nil
	}
	folder, err := os.MkdirTemp("", "benchd-nats-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for JetStream: %w", err)
	}
	o.JetStream, o.StoreDir, o.SyncAlways = true, folder, p.Bool("sync")
	return func() { _ = os.RemoveAll(folder) }, nil // what stays is in the system's folder for such things
}

// prepareStream makes the stream of a trial: on disk, and a message stays until it was
// acknowledged.
func prepareStream(ctx context.Context, at place, _ kernels.Params) (func(), error) {
	l, err := natsConnect(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.close() }()
	js, err := l.conn.JetStream(nats.MaxWait(connectPatience))
	if err == nil {
		sweepStreams(ctx, js, time.Now())
		_, err = js.AddStream(&nats.StreamConfig{
			Name: at.queue, Subjects: []string{at.queue + ".>"}, Storage: nats.FileStorage,
			Retention: nats.WorkQueuePolicy, MaxAge: streamAge,
		}, nats.Context(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("make a stream at the NATS server at %s: %w", at.url.Host, err)
	}
	return func() { removeStream(context.WithoutCancel(ctx), at) }, nil
}

// removeStream removes the stream of a trial with its consumers. It comes after the trial,
// whose context may have ended.
func removeStream(ctx context.Context, at place) {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	l, err := natsConnect(ctx, at)
	if err != nil {
		return // a server that is gone is told by everything else
	}
	defer func() { _ = l.close() }()
	if js, err := l.conn.JetStream(); err == nil {
		_ = js.DeleteStream(at.queue, nats.Context(ctx)) // as above
	}
}

// streamWire is a connection whose messages go through JetStream.
type streamWire struct {
	*natsLink
	js       nats.JetStreamContext
	at       place
	subject  string // where it receives
	consumer string // what is to be removed at the end, or empty
	sync     bool
	embedded bool // the server is ours
	last     *nats.Msg
}

// newStreamWire makes the consumer that the service's wires have in common, or that of a
// client, and subscribes to what it delivers.
func newStreamWire(l *natsLink, at place, p kernels.Params, r role) (wire, error) {
	w := &streamWire{natsLink: l, at: at, sync: p.Bool("sync"), embedded: p["server"] == kernels.Embedded, subject: at.queue + ".requests"}
	name := natsGroup
	if !r.serving {
		name = unguessable()
		w.subject, w.consumer = at.queue+".replies."+name, name
	}
	deliver := at.queue + "-to-" + name
	var err error
	if w.js, err = l.conn.JetStream(nats.MaxWait(connectPatience)); err == nil {
		_, err = w.js.AddConsumer(at.queue, &nats.ConsumerConfig{
			Durable: name, FilterSubject: w.subject, DeliverSubject: deliver, DeliverGroup: natsGroup,
			AckPolicy: nats.AckExplicitPolicy, AckWait: streamAckWait, MaxAckPending: room,
		})
	}
	if err == nil {
		_, err = l.conn.ChanQueueSubscribe(deliver, natsGroup, l.messages)
	}
	if err == nil {
		err = l.conn.FlushTimeout(connectPatience)
	}
	if err != nil {
		_ = l.close() // the error that counts is the one before
		return nil, fmt.Errorf("make a consumer at the NATS server at %s: %w", at.url.Host, err)
	}
	return w, nil
}

// send publishes into the stream, and waits for the server's word that it is there if sync
// asks for that.
func (w *streamWire) send(ctx context.Context, p *parcel) error {
	m := nats.NewMsg(w.at.queue + ".requests")
	m.Data = p.body
	if p.to != "" {
		m.Subject = p.to
	} else if !p.oneWay {
		m.Header[streamReply] = []string{w.subject}
	}
	m.Header[streamNumber] = []string{strconv.FormatUint(p.number, 36)}
	var err error
	switch {
	case w.sync:
		_, err = w.js.PublishMsg(m, nats.Context(ctx))
	case p.oneWay:
		m.Data = append([]byte(nil), p.body...) // the library keeps it until it is confirmed
		_, err = w.js.PublishMsgAsync(m)
	default:
		err = w.conn.PublishMsg(m)
	}
	return w.judge("publish into a stream", err)
}

// receive acknowledges the message before and takes the next one.
func (w *streamWire) receive(ctx context.Context) (parcel, error) {
	if err := w.acknowledge(); err != nil {
		return parcel{}, err
	}
	m, err := w.next(ctx)
	if err != nil {
		return parcel{}, err
	}
	w.last = m
	number, err := strconv.ParseUint(m.Header.Get(streamNumber), 36, 64)
	if err != nil {
		number = 0 // no number of a request's
	}
	reply := m.Header.Get(streamReply)
	return parcel{reply: reply, number: number, body: m.Data, oneWay: reply == ""}, nil
}

func (w *streamWire) acknowledge() error {
	if w.last == nil {
		return nil
	}
	err := w.last.Ack()
	w.last = nil
	return w.judge("acknowledge a message", err)
}

// confirm waits for the server's word that everything is in the stream.
func (w *streamWire) confirm(ctx context.Context) error {
	select {
	case <-w.js.PublishAsyncComplete():
		return nil
	case <-w.lost:
		return lostBy(nil)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// describe tells how the messages are kept.
func (w *streamWire) describe(oneWay bool) map[string]string {
	facts := map[string]string{
		"broker": "NATS " + w.conn.ConnectedServerVersion(), "messages": "JetStream", "storage": "file",
		"retention": "workqueue", "ack_policy": "explicit", "publish_ack": "not awaited",
		"sync_interval": "that of the server, which it does not tell",
	}
	if w.sync || oneWay {
		facts["publish_ack"] = "awaited"
	}
	if w.embedded {
		facts["sync_interval"] = "the manual's own, two minutes"
		if w.sync {
			facts["sync_interval"] = "always"
		}
	}
	return facts
}

// close acknowledges what was received, and removes a client's consumer.
func (w *streamWire) close() error {
	err := w.acknowledge()
	if w.consumer != "" && err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = w.js.DeleteConsumer(w.at.queue, w.consumer, nats.Context(ctx)) // goes with its stream at the latest
	}
	_ = w.natsLink.close() // returns no error
	return err
}
