package messaging

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/eclipse/paho.golang/paho"

	"benchd/kernels"
)

// mqttKeepAlive is how many seconds a connection may rest before it shows that it is there.
const mqttKeepAlive = 60

// mqttExpiry is how many seconds the broker keeps the session of a service that is away, where
// messages are to be kept.
const mqttExpiry = 60

// mqttWire is a connection with one subscription.
type mqttWire struct {
	*inbox
	client     *paho.Client
	name       string // of its session, or empty
	requests   string // the topic that clients send to
	replies    string // a client's response topic
	qos        byte
	sync       bool
	persistent bool
	embedded   bool          // the broker is a stand-in
	acked      chan struct{} // lets the library acknowledge the message that was received
	unacked    bool
	once       sync.Once
}

// open makes the session.
func (w *mqttWire) open(ctx context.Context, at place) error {
	socket, err := at.dial(ctx)
	if err != nil {
		return err
	}
	if at.secure() {
		socket = &gatherer{Conn: socket}
	}
	w.client = paho.NewClient(paho.ClientConfig{
		Conn: socket, PacketTimeout: connectPatience,
		OnPublishReceived:  []func(paho.PublishReceived) (bool, error){w.take},
		OnServerDisconnect: func(d *paho.Disconnect) { w.gone(fmt.Errorf("the broker ends the session: %s", mqttReason(d))) },
		OnClientError:      w.gone,
	})
	expiry, most := uint32(0), uint16(mqttInflight)
	if w.persistent && w.name != "" { // a client never comes back under its name
		expiry = mqttExpiry
	}
	c := &paho.Connect{
		ClientID: w.name, CleanStart: !w.persistent || w.name == "", KeepAlive: mqttKeepAlive,
		Properties: &paho.ConnectProperties{SessionExpiryInterval: &expiry, ReceiveMaximum: &most},
	}
	if c.ClientID == "" {
		c.ClientID = unguessable()
	}
	if user, password := at.credentials("", ""); user != "" {
		c.Username, c.UsernameFlag, c.Password, c.PasswordFlag = user, true, []byte(password), true
	}
	answer, err := w.client.Connect(ctx, c)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case answer != nil:
		return fmt.Errorf("%w (reason code 0x%02x)", err, answer.ReasonCode)
	default:
		return mqttElder(ctx, at, err)
	}
}

// mqttReason is what a broker says when it ends a session.
func mqttReason(d *paho.Disconnect) string {
	if d.Properties != nil && d.Properties.ReasonString != "" {
		return d.Properties.ReasonString
	}
	return fmt.Sprintf("reason code 0x%02x", d.ReasonCode)
}

// gone tells once that the connection is lost.
func (w *mqttWire) gone(err error) { w.once.Do(func() { w.lose(err) }) }

func (w *mqttWire) subscribe(ctx context.Context, topic string) error {
	_, err := w.client.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: topic, QoS: w.qos}}})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// take is called by the library for every message, one at a time. It acknowledges a message
// when take returns, which is when the next one is asked for.
func (w *mqttWire) take(m paho.PublishReceived) (bool, error) {
	p := parcel{body: m.Packet.Payload, oneWay: true}
	if q := m.Packet.Properties; q != nil {
		if len(q.CorrelationData) == 8 {
			p.number = binary.BigEndian.Uint64(q.CorrelationData)
		}
		p.reply, p.oneWay = q.ResponseTopic, q.ResponseTopic == ""
	}
	w.deliver(p)
	if w.qos > 0 {
		select {
		case <-w.acked:
		case <-w.lost:
		}
	}
	return true, nil
}

// send publishes a request with its response topic, or a reply to that.
func (w *mqttWire) send(ctx context.Context, p *parcel) error {
	m := &paho.Publish{
		QoS: w.qos, Topic: w.requests, Payload: p.body,
		Properties: &paho.PublishProperties{CorrelationData: binary.BigEndian.AppendUint64(nil, p.number)},
	}
	if p.to != "" {
		m.Topic = p.to
	} else if !p.oneWay {
		m.Properties.ResponseTopic = w.replies
	}
	// To be told of each confirm the library wants to be waited for.
	o := paho.PublishOptions{Method: paho.PublishMethod_AsyncSend}
	if w.sync || p.oneWay {
		o.Method = paho.PublishMethod_Blocking
	}
	answer, err := w.client.PublishWithOptions(ctx, m, o)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case answer != nil && answer.ReasonCode >= 0x80:
		return &kernels.Failure{Class: "refused", Err: fmt.Errorf("the broker does not take the message: reason code 0x%02x", answer.ReasonCode)}
	case errors.Is(err, paho.ErrInvalidArguments):
		return &kernels.Failure{Class: "refused", Err: err}
	default:
		return lostBy(err)
	}
}

// receive lets the message before be acknowledged and takes the next one.
func (w *mqttWire) receive(ctx context.Context) (parcel, error) {
	w.acknowledge()
	p, err := w.next(ctx)
	w.unacked = err == nil && w.qos > 0
	return p, err
}

func (w *mqttWire) acknowledge() {
	if !w.unacked {
		return
	}
	w.unacked = false
	select {
	case w.acked <- struct{}{}:
	case <-w.lost:
	}
}

// confirm has nothing to wait for: a message that is confirmed at all was so when send returned.
func (w *mqttWire) confirm(context.Context) error { return nil }

// describe tells what was asked of the broker.
func (w *mqttWire) describe(oneWay bool) map[string]string {
	session := "clean"
	if w.persistent {
		session = "of the service, kept for " + strconv.Itoa(mqttExpiry) + " s"
	}
	facts := map[string]string{
		"protocol": "MQTT 5", "qos": strconv.Itoa(int(w.qos)), "session": session, "confirm": strconv.FormatBool(w.sync || oneWay), "receive_maximum": strconv.Itoa(mqttInflight),
	}
	if w.embedded {
		facts["broker"] = mqttStandIn
	}
	return facts
}

// close ends the session, and what the broker kept of it.
func (w *mqttWire) close() error {
	w.acknowledge()
	over := uint32(0)
	d := &paho.Disconnect{}
	if w.persistent {
		d.Properties = &paho.DisconnectProperties{SessionExpiryInterval: &over}
	}
	w.gone(errLost) // the library waits for take, and take for this
	err := w.client.Disconnect(d)
	<-w.client.Done()
	if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "broken pipe") && !strings.Contains(err.Error(), "reset by peer") {
		return fmt.Errorf("close the connection to the MQTT broker: %w", err)
	}
	return nil
}

// A gatherer makes one write of all that are made under its lock: over TLS each would be a
// record, and a packet of its own, else.
type gatherer struct {
	net.Conn
	mu      sync.Mutex
	pending []byte
}

var _ sync.Locker = (*gatherer)(nil)

// Lock begins a packet.
func (g *gatherer) Lock() { g.mu.Lock() }

// Unlock sends it. What goes wrong shows at the next read.
func (g *gatherer) Unlock() {
	_, _ = g.Conn.Write(g.pending) // the reader of the connection is told too
	g.pending = g.pending[:0]
	g.mu.Unlock()
}

// Write adds a piece of the packet.
func (g *gatherer) Write(b []byte) (int, error) {
	g.pending = append(g.pending, b...)
	return len(b), nil
}
