package messaging_test

import (
	"context"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"

	"benchd/kernels"
)

// An ownBroker is a real broker that a test has for itself and may mistreat.
type ownBroker struct {
	name   string
	folder string
	addrs  map[string]string // by the variable
}

// program is what starts services.
const program = "../../deploy/services"

// startOwn starts a broker until the test ends, where real services are there for the tests.
func startOwn(t *testing.T, name, variable string) *ownBroker {
	t.Helper()
	service(t, variable)
	cmd := exec.CommandContext(t.Context(), program, "start", name)
	cmd.Env = append(os.Environ(), "BENCHD_SERVICES_LARGEST=524288")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	b := &ownBroker{name: name, addrs: map[string]string{}}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		b.addrs[key] = value
	}
	b.folder = b.addrs["BENCHD_TEST_FOLDER"]
	t.Cleanup(func() { b.do(context.Background(), t, "stop") })
	return b
}

// do has the program do something with the broker.
func (b *ownBroker) do(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "BENCHD_TEST_FOLDER="+b.folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", args, b.name, err, out)
	}
}

// kill ends the broker as a crash would.
func (b *ownBroker) kill(t *testing.T) { t.Helper(); b.do(t.Context(), t, "kill", b.name) }

// again starts it where it was.
func (b *ownBroker) again(t *testing.T) { t.Helper(); b.do(t.Context(), t, "again", b.name) }

// ctl asks RabbitMQ's own tool.
func (b *ownBroker) ctl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), b.folder+"/rabbitmq/ctl", args...).CombinedOutput()
	if err != nil {
		t.Errorf("rabbitmqctl %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// clean waits until nothing of ours is left at the broker, by its own word.
func (b *ownBroker) clean(t *testing.T) {
	t.Helper()
	var left string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if left = b.left(t); left == "" {
			return
		}
	}
	t.Errorf("at %s is left: %s", b.name, left)
}

// left asks the broker what it has of ours.
func (b *ownBroker) left(t *testing.T) string {
	t.Helper()
	switch b.name {
	case "redis":
		return redisLeft(t, b.addrs["BENCHD_TEST_REDIS"])
	case "nats":
		return b.natsLeft(t)
	case "rabbitmq":
		queues := b.ctl(t, "-q", "list_queues", "--no-table-headers", "name")
		consumers := b.ctl(t, "-q", "list_consumers", "--no-table-headers")
		return strings.TrimSpace(queues + consumers)
	case "activemq":
		return b.activemqLeft(t)
	default:
		return mosquittoLeft(t, b.addrs["BENCHD_TEST_MOSQUITTO"])
	}
}

// redisLeft names the keys.
func redisLeft(t *testing.T, addr string) string {
	t.Helper()
	o, err := redis.ParseURL(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }()
	keys, err := c.Keys(bounded(t), "*").Result()
	return words(err, keys...)
}

// activemqLeft reads from the broker's log which queues came and did not go.
func (b *ownBroker) activemqLeft(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(b.folder, "activemq.log"))
	there := map[string]bool{}
	for line := range strings.Lines(string(log)) {
		line = strings.TrimSpace(line)
		if _, name, ok := strings.Cut(line, " adding destination: "); ok {
			there[name] = true
		}
		if _, name, ok := strings.Cut(line, " removing destination: "); ok {
			delete(there, name)
		}
	}
	maps.DeleteFunc(there, func(name string, _ bool) bool { return strings.HasPrefix(name, "topic://ActiveMQ.Advisory") })
	return words(err, slices.Sorted(maps.Keys(there))...)
}

// mosquittoLeft tells of sessions and retained messages. Of itself the broker tells each second.
func mosquittoLeft(t *testing.T, addr string) string {
	t.Helper()
	socket, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", hostOf(t, addr))
	if err != nil {
		return err.Error()
	}
	came := make(chan *paho.Publish, 1000)
	c := paho.NewClient(paho.ClientConfig{Conn: socket, OnPublishReceived: []func(paho.PublishReceived) (bool, error){
		func(m paho.PublishReceived) (bool, error) { came <- m.Packet; return true, nil },
	}})
	if _, err := c.Connect(bounded(t), &paho.Connect{ClientID: "looker", CleanStart: true}); err != nil {
		return err.Error()
	}
	defer func() { _ = c.Disconnect(&paho.Disconnect{}); <-c.Done() }()
	const sessions = "$SYS/broker/clients/total"
	if _, err := c.Subscribe(bounded(t), &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: "#"}, {Topic: sessions}}}); err != nil {
		return err.Error()
	}
	told := ""
	for wait := time.After(3 * time.Second); told != "1"; {
		select {
		case m := <-came:
			if m.Topic != sessions {
				return "a message at " + m.Topic
			}
			told = string(m.Payload)
		case <-wait:
			return told + " sessions, of which one is the test's"
		}
	}
	return ""
}

// natsLeft names the streams; consumers are parts of them.
func (b *ownBroker) natsLeft(t *testing.T) string {
	t.Helper()
	c := connectNATS(t, b.addrs["BENCHD_TEST_NATS"])
	js, err := c.JetStream(nats.Context(bounded(t)))
	if err != nil {
		return err.Error()
	}
	var all []string
	for name := range js.StreamNames() {
		all = append(all, name)
	}
	return words(nil, all...)
}

// The own brokers, and the services without which they are not started.
func ownBrokers() map[string]string {
	return map[string]string{
		"redis": "BENCHD_TEST_REDIS", "nats": "BENCHD_TEST_NATS", "mosquitto": "BENCHD_TEST_MOSQUITTO",
		"rabbitmq": "BENCHD_TEST_RABBITMQ", "activemq": "BENCHD_TEST_ACTIVEMQ",
	}
}

// targets are the ways of the protocols that the broker speaks.
func (b *ownBroker) targets() []target {
	kept := kernels.Params{"persistent": "true", "sync": "true"}
	ways := map[string][]target{
		"redis":     {{broker: "redis"}, {broker: "redis-streams"}},
		"nats":      {{broker: "nats"}, {broker: "nats", way: kept}},
		"mosquitto": {{broker: "mqtt"}, {broker: "mqtt", way: kernels.Params{"qos": "2", "sync": "true", "persistent": "true"}}},
		"rabbitmq": {
			{broker: "amqp091"},
			{broker: "amqp091", way: kept},
			{broker: "amqp10", way: kept, service: "BENCHD_TEST_AMQP10"},
			{broker: "stomp", service: "BENCHD_TEST_RABBITMQ_STOMP"},
		},
		"activemq": {{broker: "stomp"}, {broker: "stomp", way: kept}},
	}
	var all []target
	for _, g := range ways[b.name] {
		if g.service == "" {
			g.service = ownBrokers()[b.name]
		}
		g.addr = b.addrs[g.service]
		all = append(all, g)
	}
	return all
}

// words tells of things, or of the error.
func words(err error, things ...string) string {
	if err != nil {
		return err.Error()
	}
	return strings.Join(things, " ")
}
