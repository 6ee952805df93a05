package messaging_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/kernels/messaging"
)

// A target is a broker in one of its ways, embedded or somewhere outside.
type target struct {
	broker  string
	service string         // the variable with the address of the service, or empty
	addr    string         // of the service, or empty
	way     kernels.Params // what is asked of it
}

// name is for a subtest.
func (g target) name() string {
	name := g.broker
	if len(g.way) > 0 {
		name += " " + strings.ReplaceAll(g.way.String(), "=true", "")
	}
	if g.service != "" {
		name += " at " + strings.TrimPrefix(g.service, "BENCHD_TEST_")
	}
	return name
}

// params are those of a trial at the target.
func (g target) params(changed kernels.Params) kernels.Params {
	p := kernels.Params{"broker": g.broker}
	maps.Copy(p, g.way)
	maps.Copy(p, changed)
	if g.addr != "" && p[kernels.Addr] == "" {
		p[kernels.Addr] = g.addr
	}
	return p
}

// everywhere is where what every broker promises is tested.
func everywhere(target) bool { return true }

// inside tells whether the broker is the test's own, in its process.
func (g target) inside() bool { return g.service == "" }

// outlives tells whether the broker is there after a trial. An embedded one goes with it.
func (g target) outlives() bool { return !g.inside() || strings.HasPrefix(g.broker, "redis") }

// byAddress tells whether clients go where the address says, and so over a proxy. Those of
// Kafka go to the brokers that the cluster names.
func (g target) byAddress() bool { return g.broker != "kafka" }

// queues tells whether there are queues, and wires to them that lanes can share.
func (g target) queues() bool { return messaging.HasQueues(g.broker) }

// redelivers tells whether a message that was not acknowledged comes again.
func (g target) redelivers() bool {
	switch g.broker {
	case "redis-streams", "amqp091", "amqp10":
		return true
	case "stomp":
		return !g.inside() // the embedded one acknowledges as it sends
	case "nats":
		return g.way.Bool("persistent")
	case "mqtt":
		return g.way.Bool("persistent") && g.way.Int("qos") > 0
	default:
		return false
	}
}

// embeds tells whether a broker runs without a service outside.
func embeds(broker string) bool { return messaging.Embeds(broker) }

// ways are what can be asked of each broker.
func ways(broker string) []kernels.Params {
	kept := kernels.Params{"persistent": "true", "sync": "true"}
	switch broker {
	case "nats", "amqp091", "amqp10":
		return []kernels.Params{nil, kept}
	case "stomp":
		return []kernels.Params{nil, {"sync": "true"}, kept}
	case "mqtt":
		return []kernels.Params{nil, {"qos": "1"}, {"qos": "2", "sync": "true", "persistent": "true"}}
	case "kafka":
		return []kernels.Params{{"persistent": "true"}, kept}
	default:
		return []kernels.Params{nil}
	}
}

// services are the variables with the addresses of real services, and who speaks to each.
func services() map[string][]string {
	return map[string][]string{
		"BENCHD_TEST_NATS":           {"nats"},
		"BENCHD_TEST_REDIS":          {"redis", "redis-streams"},
		"BENCHD_TEST_RABBITMQ":       {"amqp091"},
		"BENCHD_TEST_RABBITMQ_STOMP": {"stomp"},
		"BENCHD_TEST_ACTIVEMQ":       {"stomp"},
		"BENCHD_TEST_MOSQUITTO":      {"mqtt"},
		"BENCHD_TEST_AMQP10":         {"amqp10"},
	}
}

// targets returns every way of every broker that is embedded, and of those for which there is
// a service. Redis is a stand-in unless there is a real one as well.
func targets(tb testing.TB) []target {
	tb.Helper()
	var all []target
	for _, b := range brokers(tb) {
		if !embeds(b) && !strings.HasPrefix(b, "redis") {
			continue
		}
		for _, w := range ways(b) {
			if b == "stomp" && w["persistent"] == "true" || b == "mqtt" && w["qos"] != "" {
				continue // the embedded one has not that
			}
			all = append(all, target{broker: b, way: w})
		}
	}
	for variable, names := range services() {
		addr := os.Getenv(variable)
		if addr == "" {
			if os.Getenv("BENCHD_REQUIRE_SERVICES") == "1" {
				tb.Errorf("%s is not set, and the services are required", variable)
			}
			continue
		}
		for _, b := range names {
			for _, w := range ways(b) {
				all = append(all, target{broker: b, way: w, service: variable, addr: addr})
			}
		}
	}
	return all
}

// brokers returns the names of all brokers.
func brokers(tb testing.TB) []string {
	tb.Helper()
	p, ok := kernel(tb, "messaging.roundtrip").Info().Param("broker")
	if !ok || len(p.Values) == 0 {
		tb.Fatal("messaging.roundtrip names no broker")
	}
	return p.Values
}

// service returns what a variable tells of a real service. Without it the test is passed
// over or, where services are required, fails.
func service(tb testing.TB, variable string) string {
	tb.Helper()
	value := os.Getenv(variable)
	if value == "" {
		if os.Getenv("BENCHD_REQUIRE_SERVICES") == "1" {
			tb.Fatalf("%s is not set, and the services are required", variable)
		}
		tb.Skipf("%s is not set", variable)
	}
	return value
}
