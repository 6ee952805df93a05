package messaging

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"benchd/kernels"
)

// An entry is a line of the table of brokers: what a broker is called, how it is made, and
// what it has.
type entry struct {
	name string
	// title says in a few words what it is.
	title string
	// schemes are those of the addresses at which a named service of this kind may be; none
	// means that it cannot be a named service. The two protocols that are called AMQP have
	// different ones: the scheme alone tells for which brokers a service stands.
	schemes []string
	// embedded tells that the broker runs inside the kernel's Server where no service is named.
	embedded bool
	// forgetful tells that this one keeps no messages.
	forgetful bool
	// transient and persistent tell which values of the parameter persistent it has.
	transient, persistent bool
	// sync tells for which messages it can be asked to confirm before the sender goes on.
	sync syncing
	// qos tells that it has the levels of MQTT.
	qos bool
	// shared tells that lanes can share a connection.
	shared bool
	make   func(*pool) broker
}

// syncing is where a broker has the parameter sync.
type syncing string

const (
	neverSync      syncing = "never"
	persistentSync syncing = "with persistent"
	anySync        syncing = "always"
)

// queues makes the broker that a driver speaks to.
func queues(d driver) func(*pool) broker {
	return func(p *pool) broker { return queueBroker{driver: d, pool: p} }
}

// table is the table of brokers; the first is the default.
func table() []entry {
	return []entry{
		{
			name: "nats", title: "NATS, with JetStream where persistent", schemes: []string{"nats", "tls"}, embedded: true,
			transient: true, persistent: true, sync: persistentSync, shared: true, make: queues(natsDriver{}),
		},
		{
			name: "redis", title: "Redis, lists", schemes: []string{"redis", "rediss"},
			transient: true, persistent: true, sync: persistentSync, shared: true, make: queues(redisLists{}),
		},
		{
			name: "redis-streams", title: "Redis, streams", schemes: []string{"redis", "rediss"},
			transient: true, persistent: true, sync: persistentSync, shared: true, make: queues(redisStreams{}),
		},
		{
			name: "stomp", title: "ActiveMQ, RabbitMQ or another that speaks STOMP", schemes: []string{"stomp", "stomps"}, embedded: true, forgetful: true,
			transient: true, persistent: true, sync: anySync, shared: true, make: queues(stompDriver{}),
		},
		{
			name: "erlang", title: "none, Erlang nodes speak to each other", schemes: []string{"erlang"}, embedded: true,
			transient: true, sync: neverSync, shared: true, make: func(p *pool) broker { return erlangBroker{&p.nodes} },
		},
		{
			name: "amqp091", title: "RabbitMQ, AMQP 0-9-1", schemes: []string{"amqp", "amqps"},
			transient: true, persistent: true, sync: anySync, shared: true, make: queues(rabbitDriver{}),
		},
		{
			name: "amqp10", title: "ActiveMQ, RabbitMQ or another that speaks AMQP 1.0", schemes: []string{"amqp10", "amqp10s"},
			transient: true, persistent: true, sync: anySync, shared: true, make: queues(amqpDriver{}),
		},
		{
			name: "mqtt", title: "an MQTT 5 broker", schemes: []string{"mqtt", "mqtts"}, embedded: true,
			transient: true, persistent: true, sync: anySync, qos: true, shared: true, make: queues(mqttDriver{}),
		},
		{
			name: "kafka", title: "Kafka; the embedded one is a stand-in", schemes: []string{"kafka"}, embedded: true,
			persistent: true, sync: anySync, shared: true, make: queues(kafkaDriver{}),
		},
		{
			name: "tcp", title: "none, only a connection to the echo service: the floor below all brokers", embedded: true,
			transient: true, sync: neverSync, make: func(*pool) broker { return &tcpBroker{} },
		},
	}
}

// brokerNames returns the names in the order of the table.
func brokerNames() []string {
	var names []string
	for _, e := range table() {
		names = append(names, e.name)
	}
	return names
}

// schemes returns every scheme of an address that some broker can use.
func schemes(list []entry) []string {
	var all []string
	for _, e := range list {
		for _, s := range e.schemes {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// servers tells by the broker which servers there are.
func servers(list []entry) map[string]kernels.Servers {
	all := make(map[string]kernels.Servers, len(list))
	for _, e := range list {
		all[e.name] = kernels.Servers{Embedded: e.embedded, Schemes: e.schemes}
	}
	return all
}

// entryOf returns the line of the broker that the parameters name, if it has what they ask
// for.
func entryOf(p kernels.Params) (entry, error) {
	for _, e := range table() {
		if e.name == p.Word("broker") {
			return e, e.check(p)
		}
	}
	return entry{}, fmt.Errorf("there is no broker %q; there are %q", p.Word("broker"), brokerNames())
}

// check returns a sentence if the parameters ask for what the broker has not.
func (e entry) check(p kernels.Params) error {
	persistent, qos := p.Bool("persistent"), p.Int("qos")
	switch {
	case persistent && !e.persistent:
		return fmt.Errorf("the broker %s keeps no messages; persistent can only be false", e.name)
	case !persistent && !e.transient:
		return fmt.Errorf("the broker %s keeps every message; persistent can only be true", e.name)
	case p.Bool("sync") && e.sync == neverSync:
		return fmt.Errorf("the broker %s confirms nothing to a sender; sync can only be false", e.name)
	case p.Bool("sync") && e.sync == persistentSync && !persistent:
		return fmt.Errorf("the broker %s confirms only messages that it keeps; sync can be true only where persistent is", e.name)
	case qos != 0 && !e.qos:
		return fmt.Errorf("the broker %s has no levels of quality of service; qos can only be 0", e.name)
	case e.qos && qos == 0 && (persistent || p.Bool("sync")):
		return fmt.Errorf("the broker %s neither keeps nor confirms messages at qos 0; persistent and sync can be true only with qos 1 or 2", e.name)
	case p.Word("connections") == shared && !e.shared:
		return fmt.Errorf("lanes cannot share a connection to the broker %s; connections can only be own", e.name)
	default:
		return nil
	}
}

// fits returns a sentence if the address of a named service is none of this broker's.
func (e entry) fits(addr string) error {
	u, err := url.Parse(addr)
	switch {
	case err != nil:
		return fmt.Errorf("the address of the service is not a URL: %w", withoutAddress(err))
	case len(e.schemes) == 0:
		return fmt.Errorf("the broker %s is no service outside; server can only be %s", e.name, kernels.Embedded)
	case !slices.Contains(e.schemes, u.Scheme):
		return fmt.Errorf("the service's address begins with %s://, and the broker %s has addresses that begin with %s://", u.Scheme, e.name, strings.Join(e.schemes, ":// or "))
	default:
		return nil
	}
}

// withoutAddress leaves the address, which may hold a password, out of the error of its parser.
func withoutAddress(err error) error {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // the parser's own error, unwrapped
		return u.Err
	}
	return err
}
