package messaging_test

import (
	"strings"
	"testing"

	"benchd/kernels"
)

// TestRabbitMQTT is the plug-in of RabbitMQ, which speaks MQTT 5 from RabbitMQ 3.13 on. An
// older one is told as that, in a sentence, by the probe and by a trial alike.
func TestRabbitMQTT(t *testing.T) {
	t.Parallel()
	addr := service(t, "BENCHD_TEST_RABBITMQ_MQTT")
	for _, qos := range []string{"0", "1"} { // it has no more than these
		t.Run("qos "+qos, func(t *testing.T) {
			t.Parallel()
			p := kernels.Params{"broker": "mqtt", "qos": qos, "content": "raw", kernels.Addr: addr}
			if _, err := probe(t.Context(), t, addr); err == nil {
				at, _ := serve(t, p)
				lanes(t, 4, 100, p.With(kernels.Addr, at))
				return
			} else if !strings.Contains(err.Error(), "MQTT 3.1.1") {
				t.Fatalf("the probe says: %v", err)
			}
			k := kernel(t, "messaging.roundtrip")
			_, err := k.Open(t.Context(), with(k, p.With(kernels.Addr, addr+"#queue=q")))
			if err == nil || !strings.Contains(err.Error(), "MQTT 3.1.1") {
				t.Errorf("Open returned %v; want that it speaks MQTT 3.1.1", err)
			}
		})
	}
}
