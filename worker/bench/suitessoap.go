package bench

import "time"

// soap2004 is the SOAP test of "Java Performance On Various Platforms" (2004): one client that
// waits for each answer, four beans and an array of strings in 2.2 KB, timed in batches of 200
// calls. Both stacks of the article spoke HTTP/1.0, or HTTP/1.1 without keeping connections, so
// that each call made a new one. What the article calls stable cycles is the number of calls
// until the batches were steady.
//
// A series is steady if it changed last in its first half, so that 600 batches can tell up to
// 60,000 calls until stable: more than an Axis on a present virtual machine needs, whose last
// step comes at some 42,000, and than all but eight of the article's 61. The eight are JRockits,
// which needed up to 120,000; --slices 1000 has 200,000 calls.
func soap2004() Suite {
	return Suite{
		Name: "soap-2004",
		Title: "One client calls with beans of 2.2 KB, a new connection each call as in 2004, in 600 batches of 200 calls, the embedded service and every configured one: " +
			"calls per second, and calls until stable. About two minutes, and six more for each service that takes 700 calls per second.",
		Plan: Plan{
			Forks: 1, Warmup: WarmupAuto, Slices: 600, Slice: Duration(50 * time.Millisecond), Operations: 200,
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(time.Hour),
		},
		Cases: []CaseSpec{{Kernel: "soap.echo", Params: Matrix{
			"payload": {"beans"}, "size": {"2.2KB"}, "model": {"stream", "dom"}, "version": {"1.1"}, "keepalive": {"false"},
			"server": {Every}, "clients": {"1"},
		}}},
	}
}

// soapRunner is the comparison of two SOAP engines by SoapRunner (2001): the mean of eight
// runs, each in a fresh process, with nothing before them but the one call that shows that the
// service answers. The article tells neither the message nor how many a run had: the message
// is one text, since it calls the test simple, and 5,000 of them took the faster engine of then
// half a minute.
func soapRunner() Suite {
	return Suite{
		Name: "soaprunner",
		Title: "The mean of 8 runs of 5,000 messages of one text of 1 KB, one client, the embedded service and every configured one: messages per second and microseconds per message. " +
			"About half a minute, and two minutes more for each service that takes 700 messages per second.",
		Plan: Plan{
			Forks: 8, Slices: 1, Slice: Duration(time.Second), Operations: 5000,
			Confidence: 0.95, Interval: PooledT, Order: Sequential, Pin: PinFree, Limit: Duration(time.Hour),
		},
		Cases: []CaseSpec{{Kernel: "soap.echo", Params: Matrix{
			"payload": {"text"}, "size": {"1KB"}, "model": {"stream", "dom"}, "version": {"1.1"}, "keepalive": {"false"},
			"server": {Every}, "clients": {"1"},
		}}},
	}
}

// soapRunnerAttachments is the answer to that comparison (2001): twenty trials of a hundred
// messages, each with a file attached, their mean, minimum and maximum. The article does not
// tell the size of the files. It had 49 messages per second over a network that carried at
// most some 1.2 MB (10 Mbit/s) or 12 MB (100 Mbit/s) in one: room for 25 KB or 250 KB in a
// message, within which 10 KB and 100 KB lie.
func soapRunnerAttachments() Suite {
	return Suite{
		Name: "soaprunner-attachments",
		Title: "20 trials of 100 messages, each with an attachment of 10 KB or 100 KB, by MTOM and as SOAP with Attachments, one client: " +
			"mean, minimum and maximum of the messages per second. A few seconds.",
		Plan: Plan{
			Forks: 1, Slices: 20, Slice: Duration(time.Second), Operations: 100,
			Confidence: 0.95, Interval: PooledT, Order: Sequential, Pin: PinFree, Limit: Duration(10 * time.Minute),
		},
		Cases: []CaseSpec{{Kernel: "soap.attachment", Params: Matrix{
			"encoding": {"swa", "mtom"}, "size": {"10KB", "100KB"}, "version": {"1.1"}, "server": {"embedded"}, "clients": {"1"},
		}}},
	}
}

// cxfHTTP is scenario A of "CXF Performance on Sun Solaris Platform" (2012): a shipment
// document of three sizes as a tree, and the small one as a stream too, with the lanes and the
// messages of its programs; and each again with one lane, whose speed the article calls low
// for a thread alone. The messages of a lane are 50 slices' together, those among them that
// turn out to be warm-up.
func cxfHTTP() Suite {
	small, large := new(100), new(10)
	echo := func(model, size, clients string, operations *int) CaseSpec {
		return CaseSpec{Kernel: "soap.echo", Operations: operations, Params: Matrix{
			"payload": {"document"}, "size": {size}, "model": {model}, "version": {"1.1"}, "keepalive": {"true"},
			"server": {"embedded"}, "clients": {clients},
		}}
	}
	return Suite{
		Name: "cxf-http",
		Title: "A shipment document of 1 KB, 10 KB and 1 MB as a tree, and the small one as a stream, with 60, 40 and 10 lanes of 5,000, 5,000 and 500 messages, and with one lane: " +
			"throughput and CPU load of the service. About twenty minutes, most of them for the large ones.",
		Plan: Plan{
			Forks: 1, Warmup: WarmupAuto, Slices: 50, Slice: Duration(time.Second), Operations: 100,
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(time.Hour),
		},
		Cases: []CaseSpec{
			echo("dom", "1KB", "60", small), echo("dom", "1KB", "1", small),
			echo("stream", "1KB", "60", small), echo("stream", "1KB", "1", small),
			echo("dom", "10KB", "40", small), echo("dom", "10KB", "1", small),
			echo("dom", "1MB", "10", large), echo("dom", "1MB", "1", large),
		},
	}
}

// cxfMaxLoad is the special scenario of the same article: four clients begin one after
// another, a minute apart, and the throughput and the CPU load are followed second by second.
func cxfMaxLoad() Suite {
	return Suite{
		Name: "cxf-max-load",
		Title: "Four clients call with a document of 1 KB as a tree and begin a minute apart: throughput and CPU load each second, and where the throughput stops rising. " +
			"4 minutes; 40 seconds with --slices 10.",
		Plan: Plan{
			Forks: 1, Slices: 60, Slice: Duration(time.Second), Ramp: 1,
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(15 * time.Minute),
		},
		Cases: []CaseSpec{{Kernel: "soap.echo", Params: Matrix{
			"payload": {"document"}, "size": {"1KB"}, "model": {"dom"}, "version": {"1.1"}, "keepalive": {"true"},
			"server": {"embedded"}, "clients": {"4"},
		}}},
	}
}
