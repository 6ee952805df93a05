package messaging_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/kernels/messaging"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		addr string
		want messaging.Place
	}{
		{"nats://127.0.0.1:4222#queue=benchd-x", messaging.Place{HostPort: "127.0.0.1:4222", Queue: "benchd-x"}},
		{"amqp://user:word@mq.example/orders#ca=AAAA&desks=2&queue=q", messaging.Place{HostPort: "mq.example:5672", Queue: "q", CA: "AAAA", Desks: 2}},
		{"rediss://[::1]/3", messaging.Place{HostPort: "[::1]:6379", Secure: true}},
		{"kafka://127.0.0.1:1#fake=true&queue=q", messaging.Place{HostPort: "127.0.0.1:1", Queue: "q", Fake: true}},
	} {
		t.Run(row.addr, func(t *testing.T) {
			t.Parallel()
			got, text, err := messaging.ReadPlace(row.addr)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Error(d)
			}
			if text != row.addr {
				t.Errorf("written as %s", text)
			}
		})
	}
}

// What cannot be read is told without its password.
func TestPlaceRefuses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"", "127.0.0.1:4222", "amqp://user:secret@[::1", "amqp:user:secret@host", "amqp://user:secret@host#queue=%zz", "amqp://user:secret@host#desks=many"} {
		if _, _, err := messaging.ReadPlace(addr); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v", addr, err)
		}
	}
}

// TestCombinations shows what is refused, and that it is told what is allowed.
func TestCombinations(t *testing.T) {
	t.Parallel()
	k := kernel(t, "messaging.roundtrip")
	for _, row := range []struct {
		name    string
		changed kernels.Params
		want    string
	}{
		{"NATS that confirms nothing", kernels.Params{"sync": "true"}, "sync can be true only where persistent is"},
		{"quality of service of Redis", kernels.Params{"broker": "redis", "qos": "1"}, "qos can only be 0"},
		{"kept by nobody", kernels.Params{"broker": "tcp", "persistent": "true"}, "persistent can only be false"},
		{"kept by Kafka", kernels.Params{"broker": "kafka"}, "persistent can only be true"},
		{"confirmed by nobody", kernels.Params{"broker": "tcp", "sync": "true"}, "sync can only be false"},
		{"kept at most once", kernels.Params{"broker": "mqtt", "persistent": "true"}, "only with qos 1 or 2"},
		{"shared by nobody", kernels.Params{"broker": "tcp", "connections": "shared"}, "connections can only be own"},
		{"no Redis inside", kernels.Params{"broker": "redis"}, "server can only be the name of one"},
		{"an address of another broker", kernels.Params{"broker": "redis", kernels.Addr: "amqp://127.0.0.1:1"}, "redis://"},
		{"tcp outside", kernels.Params{"broker": "tcp", kernels.Addr: "tcp://127.0.0.1:1"}, "server can only be embedded"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := k.(kernels.Server).Serve(t.Context(), with(k, row.changed), func(string) { t.Error("Serve called ready") })
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Serve returned %v; want %q", err, row.want)
			}
		})
	}
}

// TestDescribe shows that the result can tell what was set at the broker.
func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, broker := range targets(t) {
		if !messaging.HasQueues(broker.broker) {
			continue
		}
		t.Run(broker.name(), func(t *testing.T) {
			t.Parallel()
			addr, _ := serve(t, broker.params(nil))
			trial := open(t, "messaging.roundtrip", broker.params(kernels.Params{kernels.Addr: addr}))
			do(t, trial, 1)
			facts := trial.(kernels.Describer).Describe()
			if facts["tcp_nodelay"] != "true" || len(facts) < 4 {
				t.Errorf("the trial tells only %v", facts)
			}
		})
	}
}

// TestDescribeOneWay shows that the result tells of the confirms that a publisher waits for
// although nothing asks for them.
func TestDescribeOneWay(t *testing.T) {
	t.Parallel()
	stomp := kernels.Params{"broker": "stomp"}
	addr, _ := serveKernel(t, "messaging.publish", stomp)
	stomp[kernels.Addr] = addr
	trial := open(t, "messaging.publish", stomp)
	do(t, trial, 1)
	if facts := trial.(kernels.Describer).Describe(); facts["receipt"] != "true" {
		t.Errorf("the trial tells %v; every message of it waits for its receipt", facts)
	}
}
