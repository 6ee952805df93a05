package messaging_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
)

// probe asks messaging.roundtrip what is at an address.
func probe(ctx context.Context, t *testing.T, addr string) (kernels.Report, error) {
	t.Helper()
	p, ok := kernel(t, "messaging.roundtrip").(kernels.Prober)
	if !ok {
		t.Fatal("messaging.roundtrip cannot probe")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	return p.Probe(ctx, addr)
}

// bare is the address of a broker without what a service added to it.
func bare(addr string) string {
	addr, _, _ = strings.Cut(addr, "#")
	return addr
}

// Every embedded broker that can stand outside as well tells of itself, and a message through
// it comes back.
func TestProbeEmbedded(t *testing.T) {
	t.Parallel()
	for broker, want := range map[string]struct{ product, supports string }{
		"nats":   {"NATS", "no JetStream"},
		"redis":  {"Redis", "lists"},
		"stomp":  {"", "STOMP 1.2"},
		"mqtt":   {"", "MQTT 5"},
		"kafka":  {"a stand-in for Kafka", "brokers: 1"},
		"erlang": {"an Erlang node", "process echo echoes {Pid, Ref, Body}"},
	} {
		t.Run(broker, func(t *testing.T) {
			t.Parallel()
			p := kernels.Params{"broker": broker}
			if broker == "kafka" {
				p["persistent"] = "true"
			}
			addr, _ := serve(t, p)
			r, err := probe(t.Context(), t, bare(addr))
			if err != nil {
				t.Fatal(err)
			}
			if want.product != "" && r.Product != want.product {
				t.Errorf("the product is %q, want %q", r.Product, want.product)
			}
			told(t, r, want.supports)
		})
	}
}

// told checks what every report has.
func told(t *testing.T, r kernels.Report, supports string) {
	t.Helper()
	if !slices.Contains(r.Supports, supports) {
		t.Errorf("%q does not have %q", r.Supports, supports)
	}
	for name, p := range map[string]kernels.Pace{"round trip": r.RoundTrip, "message": r.Message} {
		if p.Count < 1 || p.Median <= 0 || p.Median > patience {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// Real services tell their names and versions.
func TestProbeServices(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]struct{ product, supports string }{
		"BENCHD_TEST_NATS":           {"NATS", "headers"},
		"BENCHD_TEST_REDIS":          {"Redis", "streams"},
		"BENCHD_TEST_RABBITMQ":       {"RabbitMQ", "AMQP 0-9-1"},
		"BENCHD_TEST_AMQP10":         {"RabbitMQ", "AMQP 1.0"},
		"BENCHD_TEST_RABBITMQ_STOMP": {"RabbitMQ", "STOMP 1.2"},
		"BENCHD_TEST_ACTIVEMQ":       {"ActiveMQ", "STOMP 1.2"},
		"BENCHD_TEST_MOSQUITTO":      {"mosquitto", "MQTT 5"},
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			r, err := probe(t.Context(), t, service(t, variable))
			if err != nil {
				t.Fatal(err)
			}
			if r.Product != want.product || r.Version == "" || !strings.ContainsAny(r.Version[:1], "0123456789") {
				t.Errorf("it is %q %q, want %q and a version", r.Product, r.Version, want.product)
			}
			told(t, r, want.supports)
			t.Logf("%s %s, %s, message %s: %s", r.Product, r.Version, r.RoundTrip.Median, r.Message.Median, strings.Join(r.Supports, ", "))
		})
	}
}

// hostiles are what may stand at an address and is none of its kind.
func hostiles() map[string]func(net.Conn) {
	return map[string]func(net.Conn){
		"closes at once": func(net.Conn) {},
		"speaks HTTP": func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		},
		"says nonsense": func(c net.Conn) { _, _ = c.Write([]byte(strings.Repeat("\xff\x00\x1b[2J\r\n", 500))) },
		"answers with zeros": func(c net.Conn) {
			_, _ = bufio.NewReader(c).ReadByte()
			_, _ = c.Write(make([]byte, 64))
		},
		"tells of endless packets": func(c net.Conn) { _, _ = c.Write([]byte("\x20\xff\xff\xff\x7f")) },
	}
}

// Whatever stands at an address instead of a broker is an error, and none that tells the
// password.
func TestProbeHostile(t *testing.T) {
	t.Parallel()
	for name, talk := range hostiles() {
		for _, scheme := range []string{"nats", "redis", "stomp", "amqp", "amqp10", "mqtt", "kafka", "erlang", "tls", "rediss"} {
			t.Run(scheme+" "+name, func(t *testing.T) {
				t.Parallel()
				addr := scheme + "://user:hush-hush@" + kerneltest.Talk(t, talk)
				if scheme == "erlang" {
					addr += "/echo@127.0.0.1"
				}
				// Some wait for more, as they may where nothing says that there is none.
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				r, err := probe(ctx, t, addr)
				if err == nil {
					t.Fatalf("it was taken for %+v", r)
				}
				if strings.Contains(err.Error(), "hush") {
					t.Errorf("the error tells the password: %v", err)
				}
			})
		}
	}
}

// A server that never answers ends a probe with its context, and leaves nothing behind.
func TestProbeSilence(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"nats", "redis", "stomp", "amqp", "amqp10", "mqtt", "kafka", "erlang"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			addr := scheme + "://user:hush-hush@" + kerneltest.Talk(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
			if scheme == "erlang" {
				addr += "/echo@127.0.0.1"
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			begun := time.Now()
			_, err := probe(ctx, t, addr)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error is %v, and no end of the context", err)
			}
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// An MQTT broker from before version 5 is told as that.
func TestProbeOldMQTT(t *testing.T) {
	t.Parallel()
	addr := kerneltest.Talk(t, func(c net.Conn) {
		_, _ = bufio.NewReader(c).ReadByte()
		_, _ = c.Write([]byte{0x20, 2, 0, 1})
	})
	if _, err := probe(t.Context(), t, "mqtt://"+addr); err == nil || !strings.Contains(err.Error(), "MQTT 3.1.1") {
		t.Errorf("the error is %v", err)
	}
}

// A server of AMQP that has another version is told as that, with the scheme that it may need.
func TestProbeOtherAMQP(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ scheme, want string }{
		{"amqp", "does not speak AMQP 0-9-1; the address of one that speaks AMQP 1.0 begins with amqp10://"},
		{"amqp10", "does not speak AMQP 1.0; the address of one that speaks AMQP 0-9-1 begins with amqp://"},
	} {
		t.Run(row.scheme, func(t *testing.T) {
			t.Parallel()
			addr := kerneltest.Talk(t, func(c net.Conn) {
				_, _ = bufio.NewReader(c).ReadByte()
				_, _ = io.WriteString(c, "AMQP\x01\x01\x00\x0a")
			})
			if _, err := probe(t.Context(), t, row.scheme+"://"+addr); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
