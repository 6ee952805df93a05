package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog" //nolint:depguard // the embedded server writes to standard output unless it is given a logger that does not
	"net"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"benchd/kernels"
)

// mqttStandIn is what the embedded broker is.
const mqttStandIn = "mochi-mqtt " + mqtt.Version + ", a stand-in"

// mqttDriver speaks MQTT 5, whose convention for request and reply is the response topic and
// the correlation data. Nothing has to be made or removed: a topic is there for as long as
// somebody subscribes to it.
type mqttDriver struct{}

var _ driver = mqttDriver{}

// mqttInflight is how many messages of quality of service 1 or 2 are under way to a client.
const mqttInflight = 128

// start runs a server that logs nothing and lets everybody in. It has quality of service 0
// only: at the others the library locks itself out when it receives from a client while it
// sends to it (it takes one read lock inside the other).
func (mqttDriver) start(ctx context.Context, p kernels.Params) (string, func(), error) {
	if p.Int("qos") > 0 {
		return "", nil, errors.New("the MQTT server inside this process comes to a stand at qos 1 and 2; qos can only be 0 with it, or server the name of a broker")
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for MQTT connections: %w", err)
	}
	s := mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler)})
	if err = s.AddHook(new(mqttOpen), nil); err == nil {
		err = s.AddListener(listeners.NewNet("loopback", l))
	}
	if err == nil {
		err = s.Serve()
	}
	if err != nil {
		_ = l.Close() // the error that counts is the one before
		return "", nil, fmt.Errorf("start an MQTT server: %w", err)
	}
	return "mqtt://" + l.Addr().String(), func() { _ = s.Close() }, nil
}

func (mqttDriver) prepare(context.Context, place, kernels.Params) (func(), error) {
	return func() {}, nil
}

// connect subscribes to the requests, which the services share, or to a client's replies.
func (mqttDriver) connect(ctx context.Context, at place, p kernels.Params, r role) (wire, error) {
	w := &mqttWire{
		name: r.name, requests: at.queue + "/requests", qos: byte(p.Int("qos")), sync: p.Bool("sync"), persistent: p.Bool("persistent"),
		embedded: p["server"] == kernels.Embedded, acked: make(chan struct{}, 1), inbox: newInbox(),
	}
	topic := "$share/services/" + w.requests
	if !r.serving {
		w.replies = at.queue + "/replies/" + unguessable()
		topic = w.replies
	}
	if err := w.open(ctx, at); err != nil {
		return nil, fmt.Errorf("connect to the MQTT broker at %s: %w", at.url.Host, err)
	}
	if err := w.subscribe(ctx, topic); err != nil {
		_ = w.close() // the error that counts is the one before
		return nil, fmt.Errorf("subscribe at the MQTT broker at %s: %w", at.url.Host, err)
	}
	return w, nil
}

// mqttOpen is the rule of a server that lets everybody in.
type mqttOpen struct{ mqtt.HookBase }

// ID names the rule.
func (*mqttOpen) ID() string { return "open" }

// Provides tells what it is asked for.
func (*mqttOpen) Provides(b byte) bool {
	return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck
}

// OnConnectAuthenticate lets a client in.
func (*mqttOpen) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }

// OnACLCheck lets it read and write every topic.
func (*mqttOpen) OnACLCheck(*mqtt.Client, string, bool) bool { return true }
