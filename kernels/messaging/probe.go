package messaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"benchd/kernels"
)

var _ kernels.Prober = roundtripKernel{}

// A prober is a broker that can tell what answers at an address, given what a trial has to
// ask of every broker of its kind.
type prober interface {
	probe(ctx context.Context, addr string, way kernels.Params) (kernels.Report, error)
}

// A driverProber is a driver that can tell what answers at a place. Of the drivers that speak
// the same protocol one is enough.
type driverProber interface {
	inquire(ctx context.Context, at place) (finding, error)
}

// A finding is what a driver found.
type finding struct {
	kernels.Report
	// way is what a trial has to ask of just this broker.
	way kernels.Params
	// replying tells that a message goes to the reply queue of a client and not to the queue
	// of the services: who has to acknowledge each message, as those, hides by that a broker
	// which waits for an acknowledgement itself.
	replying bool
}

// Probe tells what broker is at an address. Of the brokers that have its scheme the first
// that can ask does: where there is another, it speaks the same protocol.
func (k roundtripKernel) Probe(ctx context.Context, addr string) (kernels.Report, error) {
	for _, e := range table() {
		p, ok := e.make(k.pool).(prober)
		if !ok || e.fits(addr) != nil {
			continue
		}
		r, err := p.probe(ctx, addr, e.way())
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			continue
		case err != nil:
			return kernels.Report{}, err
		}
		r.NoDelay = switchAt(r.Product, e.name)
		return r, nil
	}
	return kernels.Report{}, fmt.Errorf("find the broker: %w", errors.ErrUnsupported)
}

// switchAt returns the switch of a product or, where that is not told, of a kind of brokers.
func switchAt(product, broker string) string {
	facts := map[string]string{}
	if product != "" {
		facts["broker"] = product
	}
	return kernels.Info{Switches: switches()}.SwitchFor(facts, kernels.Params{"broker": broker})
}

// way is what a trial asks of a broker to have a message confirmed.
func (e entry) way() kernels.Params {
	p := kernels.Params{"broker": e.name, "clients": "1", "qos": "0"}
	p["persistent"] = strconv.FormatBool(!e.transient)
	p["sync"] = strconv.FormatBool(e.sync == anySync)
	if e.qos {
		p["qos"] = "1"
	}
	return p
}

// probe asks the driver, and then sends messages to itself by the way that trials take: a
// broker may answer everything and still not let this user make a queue.
func (b queueBroker) probe(ctx context.Context, addr string, way kernels.Params) (kernels.Report, error) {
	d, ok := b.driver.(driverProber)
	if !ok {
		return kernels.Report{}, errors.ErrUnsupported
	}
	at, err := parsePlace(addr)
	if err != nil {
		return kernels.Report{}, err
	}
	f, err := d.inquire(ctx, at)
	if err != nil {
		return kernels.Report{}, err
	}
	for name, value := range f.way {
		way = way.With(name, value)
	}
	if f.Message, err = b.itself(ctx, at, way, f.replying); err != nil {
		return kernels.Report{}, fmt.Errorf("send a message through it and have it back: %w", err)
	}
	return f.Report, nil
}

// itself times messages from a wire through the broker back to the same wire. They are as
// short as can be, since what is looked for is what they wait for, and not their weight.
func (b queueBroker) itself(ctx context.Context, at place, p kernels.Params, replying bool) (kernels.Pace, error) {
	at.queue = unguessable()
	remove, err := b.prepare(ctx, at, p)
	if err != nil {
		return kernels.Pace{}, err
	}
	defer remove()
	w, err := b.connect(ctx, at, p, role{serving: !replying, name: at.queue})
	if err != nil {
		return kernels.Pace{}, err
	}
	defer func() { _ = w.close() }()
	to := "" // the queue of the place, where a wire need not be told
	switch a := w.(type) {
	case interface{ address(queue string) string }:
		to = a.address(at.queue)
	case interface{ ownAddress() string }:
		to = a.ownAddress()
	}
	n := uint64(0)
	return kernels.Repeat(ctx, func(ctx context.Context) error {
		n++
		body := strconv.AppendUint(nil, n, 10)
		if err := w.send(ctx, &parcel{to: to, number: n, body: body, oneWay: true}); err != nil {
			return err
		}
		p, err := w.receive(ctx)
		if err == nil && !bytes.Equal(p.body, body) {
			err = mismatch("%.20q came back for %q", p.body, body)
		}
		return err
	})
}

// switches are the settings of brokers which, as they come or by a wrong one, write a message
// in pieces that wait for each other (Nagle's algorithm and delayed acknowledgements). Their
// names are those of the brokers' manuals.
func switches() []kernels.Switch {
	const (
		mosquitto = "set_tcp_nodelay true in mosquitto.conf"
		activemq  = "transport.tcpNoDelay=true in the URI of the transportConnector"
		rabbit    = "tcp_listen_options.nodelay = true in rabbitmq.conf, for a plug-in with mqtt. or stomp. before it"
	)
	return []kernels.Switch{
		{Of: "broker", Begins: "mosquitto", Turn: mosquitto},
		{Of: "broker", Begins: "ActiveMQ", Turn: activemq},
		{Of: "broker", Begins: "RabbitMQ", Turn: rabbit},
		// MQTT does not tell of its broker, and this is the one which is known for it.
		{Of: "broker", Begins: "mqtt", Turn: mosquitto + ", if it is Mosquitto"},
	}
}

// productOf parts a product from its version, as "RabbitMQ 3.10.8", "ActiveMQ/5.17.2" and
// "mosquitto version 2.0.11" have them.
func productOf(text string) (product, version string) {
	text = strings.TrimSpace(text)
	i := strings.IndexAny(text, " /")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(strings.TrimPrefix(text[i+1:], "version "))
}
