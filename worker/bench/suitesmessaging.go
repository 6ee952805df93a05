package bench

import "time"

// encon is the comparison of two libraries that speak Erlang's distribution protocol (2018), by
// JMH 1.21 in its default mode of ten warm-ups and twenty iterations, here of ten seconds each,
// whose error is half the width of an interval at 99.9 %. One node echoes; another has the
// clients, each of which sends its pid and waits for five bytes, all over one connection. From
// mailbox to mailbox a message goes there and back within one node, and nothing is encoded.
//
// The article does not tell how many forks it had. Here it is one: five, as JMH has without being
// told, would take two hours.
func encon() Suite {
	return Suite{
		Name: "encon",
		Title: "A pid and five bytes back between two Erlang nodes with 1, 2, 4 and 8 clients over one connection, and from mailbox to mailbox: ten warm-ups and twenty iterations of 10 s, error at 99.9 %. " +
			"25 minutes, and 20 more for each Erlang node that is configured; a quarter of a minute with --warmup 1s --slices 6 --slice 200ms.",
		Plan: Plan{
			Forks: 1, Warmup: WarmupTime(100 * time.Second), Slices: 20, Slice: Duration(10 * time.Second),
			Confidence: 0.999, Interval: PooledT, Order: Sequential, Pin: PinFree, Limit: Duration(10 * time.Minute),
		},
		Cases: []CaseSpec{
			{Kernel: "messaging.echo", Params: Matrix{"server": {Every}, "clients": {"1", "2", "4", "8"}, "rate": {"0"}}},
			{Kernel: "messaging.mailbox", Params: Matrix{"size": {"16B"}, "pairs": {"1"}}},
		},
	}
}

// cxfJMS is scenario B of "CXF Performance on Sun Solaris Platform" (2012): the shipment
// document of three sizes, as a tree, over ActiveMQ, with the lanes and the messages of its
// programs, with what the article found to matter: messages kept and the sender told so, as
// ActiveMQ does it by default; not kept; kept and nobody waiting for that. ActiveMQ's own
// protocol is Java's, so that its other two have to do: STOMP and AMQP 1.0.
//
// The entries with the broker tcp are the floors, which have as many messages.
func cxfJMS() Suite {
	small, large := new(100), new(2)
	through := func(size, clients string, operations *int, persistent, sync string) CaseSpec {
		return CaseSpec{Kernel: "messaging.roundtrip", Operations: operations, Params: Matrix{
			"broker": {"stomp", "amqp10"}, "server": {Every}, "persistent": {persistent}, "sync": {sync}, "qos": {"0"},
			"content": {"document"}, "model": {"dom"}, "size": {size}, "connections": {"own"}, "clients": {clients}, "rate": {"0"},
		}}
	}
	floor := func(size, clients string, operations *int) CaseSpec {
		return CaseSpec{Kernel: "messaging.roundtrip", Operations: operations, Params: Matrix{
			"broker": {"tcp"}, "server": {"embedded"}, "persistent": {"false"}, "sync": {"false"}, "qos": {"0"},
			"content": {"raw"}, "model": {"stream"}, "size": {size}, "connections": {"own"}, "clients": {clients}, "rate": {"0"},
		}}
	}
	s := Suite{
		Name: "cxf-jms",
		Title: "A shipment document of 1 KB, 10 KB and 1 MB as a tree through a broker of STOMP or AMQP 1.0 and back, 50, 50 and 10 lanes of 5,000, 5,000 and 100 messages, kept with confirm, not kept, and kept without confirm: " +
			"throughput and CPU load. About two minutes, and half an hour more for each service that takes 1,000 messages per second.",
		Plan: Plan{
			Forks: 1, Warmup: WarmupAuto, Slices: 50, Slice: Duration(time.Second), Operations: 100,
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(time.Hour),
		},
	}
	for _, size := range []struct {
		bytes, clients string
		operations     *int
	}{{"1KB", "50", small}, {"10KB", "50", small}, {"1MB", "10", large}} {
		s.Cases = append(s.Cases,
			through(size.bytes, size.clients, size.operations, "true", "true"),
			through(size.bytes, size.clients, size.operations, "false", "false"),
			through(size.bytes, size.clients, size.operations, "true", "false"),
			floor(size.bytes, size.clients, size.operations),
		)
	}
	return s
}

// brokers is one exchange over every broker that there is: inside the worker, and each named
// service. A broker that keeps messages has them once kept and once not; MQTT keeps them from
// quality of service 1 on.
func brokers() Suite {
	return Suite{
		Name: "brokers",
		Title: "1 KB there and back over every broker, the embedded ones and every configured one, with 1 and 4 clients, kept where the broker can: " +
			"messages per second, and as a part of the floor. Two minutes, and half a minute more for each broker that is configured.",
		Plan: Plan{
			Forks: 1, Warmup: WarmupAuto, Slices: 30, Slice: Duration(200 * time.Millisecond),
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(10 * time.Minute),
		},
		Cases: []CaseSpec{
			overBrokers(Matrix{"broker": brokerNames(), "persistent": {Every}, "qos": {"0"}}),
			overBrokers(Matrix{"broker": {"mqtt"}, "persistent": {"true"}, "qos": {"1"}}),
			overBrokers(Matrix{"broker": {"tcp"}, "persistent": {"false"}, "qos": {"0"}}), // the floor
		},
	}
}

// brokerNames are the brokers of messaging.roundtrip, without its floor.
func brokerNames() []string {
	return []string{"nats", "redis", "redis-streams", "stomp", "erlang", "amqp091", "amqp10", "mqtt", "kafka"}
}

// overBrokers asks for 1 KB over brokers at every server.
func overBrokers(params Matrix) CaseSpec {
	for name, values := range (Matrix{
		"server": {Every}, "sync": {"false"}, "content": {"raw"}, "model": {"stream"}, "size": {"1KB"}, "connections": {"own"}, "clients": {"1", "4"}, "rate": {"0"},
	}) {
		params[name] = values
	}
	return CaseSpec{Kernel: "messaging.roundtrip", Params: params}
}
