package export_test

import (
	"math"

	"benchd/kernels"
	"benchd/worker/bench"
)

// errored is a trial with bounds of its own.
func errored(t bench.TrialResult, low, high float64) bench.TrialResult {
	t.Score.Low, t.Score.High = &low, &high
	return t
}

// nodes is a result of encon, in another order than its table: embedded, and at a named node.
func nodes() bench.Result {
	const suite = "encon"
	echo := func(server, clients string, value, low, high float64) bench.TrialResult {
		return errored(call(suite, value, kernels.Params{"server": server, "clients": clients}), low, high)
	}
	inside := errored(call(suite, 12345678.9, nil), 12345000, 12346000)
	inside.Kernel, inside.Params = "messaging.mailbox", kernels.Params{"size": "16B", "pairs": "1"}
	unbounded := call(suite, 30123.25, kernels.Params{"server": "embedded", "clients": "4"})
	unbounded.Score.Low, unbounded.Score.High, unbounded.Score.Reason = nil, nil, "fewer than two samples"
	return called(
		suite, inside, echo("embedded", "1", 8123.456, 8000, 8246.912), unbounded, echo("jinterface", "1", 4023.5, 3900, 4147),
		failed(echo("jinterface", "8", 1, 1, 1), `with the service "jinterface": it refused the cookie`),
	)
}

// floored is a trial with its part of a floor, and with what it told of the other side.
func floored(t bench.TrialResult, part float64, settings map[string]string) bench.TrialResult {
	t.OfFloor = &bench.OfFloor{Trial: "floor", Value: &part}
	t.Settings = settings
	t.Latency = &bench.Latency{Unit: "ns", Count: 9, Percentiles: map[string]int64{"50": 120_500, "99": 1_234_000}}
	return t
}

// scenarioB is a result of cxf-jms with one broker outside.
func scenarioB() bench.Result {
	const suite = "cxf-jms"
	fork := loaded([]float64{1, 2}, 2500, ptr(1.2), ptr(0.95))
	through := func(value float64, server, persistent, sync string) bench.TrialResult {
		p := kernels.Params{"broker": "stomp", "server": server, "persistent": persistent, "sync": sync}
		return floored(call(suite, value, p, fork), value/20000, map[string]string{"broker": "ActiveMQ/5.17.2"})
	}
	floor := call(suite, 20000, kernels.Params{"broker": "tcp", "server": "embedded", "persistent": "false", "sync": "false", "content": "raw", "model": "stream"}, fork)
	lost := through(1500, "activemq", "true", "false")
	lost.OfFloor = &bench.OfFloor{Trial: "floor", Reason: "the floor was not measured to its end"}
	large := through(57, "activemq", "false", "false")
	large.Params["size"], large.Params["clients"] = "1MB", "10"
	return called(
		suite, floor, through(662, "activemq", "true", "true"), through(9000, "embedded", "false", "false"), lost, large,
	)
}

// everyBroker is a result of brokers, in another order than its table, with one that is a stand-in.
func everyBroker() bench.Result {
	const suite = "brokers"
	over := func(value float64, broker, server, persistent string, settings map[string]string) bench.TrialResult {
		return floored(call(suite, value, kernels.Params{"broker": broker, "server": server, "persistent": persistent}), value/25000, settings)
	}
	floor := call(suite, 25000, kernels.Params{"broker": "tcp", "server": "embedded", "persistent": "false"})
	kept := over(2200, "mqtt", "mosquitto", "true", map[string]string{"protocol": "MQTT 5"})
	kept.Params["qos"] = "1"
	odd := over(3000, "stomp", "embedded", "false", nil)
	odd.OfFloor.Value = ptr(math.NaN())
	return called(
		suite, over(970, "amqp091", "rabbit", "true", map[string]string{"broker": "RabbitMQ 3.10.8", "protocol": "AMQP 0-9-1"}), floor, kept,
		over(7000, "nats", "embedded", "false", map[string]string{"broker": "NATS 2.12.1"}),
		over(4000, "kafka", "embedded", "true", map[string]string{"broker": "kfake, a stand-in for Kafka"}), odd,
		failed(over(1, "redis", "cache", "false", nil), `with the service "cache": connection refused`),
	)
}
