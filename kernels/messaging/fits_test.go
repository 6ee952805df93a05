package messaging_test

import (
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/kernels/messaging"
)

// TestFits: what a broker or a content has not is told in a sentence before anything is opened,
// and what it has is not refused.
func TestFits(t *testing.T) {
	t.Parallel()
	var k kernels.Kernel
	for _, any := range messaging.Family().Kernels {
		if any.Info().Name == "messaging.roundtrip" {
			k = any
		}
	}
	for _, row := range []struct {
		name string
		with kernels.Params
		says string // empty where it fits
	}{
		{"the defaults", nil, ""},
		{"kept by NATS", kernels.Params{"persistent": "true"}, ""},
		{"kept by STOMP of ours", kernels.Params{"broker": "stomp", "persistent": "true"}, "the broker stomp inside a worker keeps no messages"},
		{"kept by STOMP of others", kernels.Params{"broker": "stomp", "persistent": "true", "server": "activemq"}, ""},
		{"MQTT of ours", kernels.Params{"broker": "mqtt", "qos": "1"}, "quality of service 0 only"},
		{"MQTT of others", kernels.Params{"broker": "mqtt", "qos": "2", "persistent": "true", "server": "mosquitto"}, ""},
		{"quality of service of others", kernels.Params{"broker": "stomp", "qos": "1"}, "qos can only be 0"},
		{"kept by nobody", kernels.Params{"broker": "tcp", "persistent": "true"}, "persistent can only be false"},
		{"confirmed by Erlang", kernels.Params{"broker": "erlang", "sync": "true"}, "sync can only be false"},
		{"one connection of the floor", kernels.Params{"broker": "tcp", "connections": "shared"}, "connections can only be own"},
		{"a document as a tree", kernels.Params{"content": "document", "model": "dom"}, ""},
		{"raw bytes as a tree", kernels.Params{"content": "raw", "model": "dom"}, "model can only be stream"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := k.Info().Defaults()
			for name, v := range row.with {
				p = p.With(name, v)
			}
			err := k.(kernels.Fitter).Fits(p)
			if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v; want %q", err, row.says)
			}
		})
	}
	info := k.Info()
	floor := info.Defaults()
	for name, v := range info.Floor {
		floor = floor.With(name, v)
	}
	if err := k.(kernels.Fitter).Fits(floor); err != nil {
		t.Errorf("the floor: %v", err)
	}
}
