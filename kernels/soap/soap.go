// Package soap measures SOAP calls over HTTP.
//
// The kernel soap.echo calls a service that reads the request into values and writes an
// answer of its own from them; the client reads the answer into values and compares them
// with what it sent. Both sides use the message model that is asked for, and both really
// decode and encode each message: no bytes are copied from a request to an answer, and no
// request is kept ready-made.
//
// A request looks like this on the wire:
//
//	POST /echo HTTP/1.1
//	Host: 127.0.0.1:40123
//	User-Agent: benchd
//	Content-Type: text/xml; charset=utf-8
//	SOAPAction: "urn:benchd:echo#echoBeans"
//	Content-Length: 2253
//
// With SOAP 1.2 the content type is application/soap+xml and has the action as a parameter.
//
// Client and service speak HTTP/1.1 over connections of their own, one for each lane, with
// the other side's messages parsed by net/http. The client keeps its connection unless it is
// asked not to, and it makes a new one when the service has closed it. The service answers
// both versions of SOAP, each in its own.
//
// By TLS, of version 1.2 at least, the embedded service has a certificate authority of its
// own for as long as it runs, and the client believes no other. Sessions are not resumed: each
// new connection pays for a whole handshake. With gzip the bodies of request and answer are
// compressed, and the size is still that of the envelope.
//
// What the service answers, and what the client counts it as:
//
//	200 and what was sent                  a call
//	200 and something else                 mismatch
//	500 or 400 and a fault                 fault
//	408, 413, 415, 503 and a fault         fault
//	404, 405, and all else that is HTTP    malformed
//	gzip that is none, or not asked for    malformed
//	what is not HTTP                       malformed
//	nobody listens                         refused
//	the host's name has no address         unresolved
//	no way to the host, or no port left    unreachable
//	nothing, or half an answer             reset
//	no TLS, an alert, a certificate that is not to be believed    tls
//	no answer, or no handshake, in time    timeout
//
// An answer may take 30 seconds, and one more for each 256 KB of the call; a TLS handshake may
// take 10.
package soap

import (
	"context"
	"fmt"

	"benchd/kernels"
	"benchd/kernels/direct"
	"benchd/kernels/envelope"
)

// Family returns the kernels of this family.
func Family() kernels.Family {
	return kernels.Family{
		Name:    "soap",
		Title:   "Calls of a SOAP service over HTTP.",
		Kernels: []kernels.Kernel{Echo{}, Attachment{}},
	}
}

// Echo is the kernel soap.echo. It is a kernels.Server too: its service runs apart from
// its clients.
type Echo struct{}

var _ kernels.Server = Echo{}

// maxClients bounds the lanes, each of which holds a connection.
const maxClients = 4096

// Info describes the kernel.
func (Echo) Info() kernels.Info {
	return kernels.Info{
		Name:      "soap.echo",
		Title:     "Calls of a SOAP service over HTTP that sends back what it was sent.",
		Operation: "one call: request and answer written, sent, read and compared",
		Unit:      "call/s",
		Noun:      "call",
		Lanes:     "clients",
		Rate:      "rate",
		Blocks:    mostWaiting,
		Params: []kernels.Param{
			payloadParam(),
			{
				Name: "size", Kind: kernels.Size, Default: "2.2KB", Values: []string{"2.2KB", "1KB", "10KB", "1MB"},
				Doc: "The size of the whole envelope of the request; beans have a longer array in a larger one.",
			},
			{
				Name: "model", Kind: kernels.Word, Default: string(envelope.Stream),
				Values: []string{string(envelope.Stream), string(envelope.DOM)},
				Doc:    "How both sides read and write messages: as a stream, or as a tree.",
			},
			{
				Name: "version", Kind: kernels.Word, Default: string(envelope.V11),
				Values: []string{string(envelope.V11), string(envelope.V12)},
				Doc:    "The version of SOAP.",
			},
			{
				Name: "keepalive", Kind: kernels.Bool, Default: "true",
				Doc: "Whether a client keeps its connection, or makes a new one for each call.",
			},
			tlsParam(),
			{
				Name: "gzip", Kind: kernels.Bool, Default: "false",
				Doc: "Whether requests and answers are compressed by gzip.",
			},
			serverParam(),
			{
				Name: "clients", Kind: kernels.Int, Default: "1", Min: 1, Max: maxClients,
				Doc: "How many clients call at the same time, each on a connection of its own.",
			},
			{
				Name: "rate", Kind: kernels.Int, Default: "0", Min: 0, Max: 1_000_000,
				Doc: "Calls that begin in a second, by a schedule over all clients; 0 for as many as go.",
			},
		},
	}
}

// serverParam says whose service is called.
func serverParam() kernels.Param {
	return kernels.Param{
		Name: "server", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"http", "https"},
		Doc: "The service that is called: the embedded one, or one of those that the worker's configuration names.",
	}
}

// tlsParam says whether connections are by TLS.
func tlsParam() kernels.Param {
	return kernels.Param{
		Name: "tls", Kind: kernels.Bool, Default: "false",
		Doc: "Whether the embedded service is called by TLS; with a named service its address decides.",
	}
}

// Open connects one client with the service at the parameter kernels.Addr, a URL or
// host:port.
func (Echo) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	t, err := newTrial(p)
	if err == nil {
		err = t.client.connect(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open soap.echo: %w", err)
	}
	return t, nil
}

// newTrial makes a trial that is not yet connected.
func newTrial(p kernels.Params) (*trial, error) {
	codec, err := newCodec(p)
	if err != nil {
		return nil, err
	}
	sent, err := payload(p)
	if err != nil {
		return nil, err
	}
	b := bindingOf(envelope.Version(p.Word("version")))
	codec.Use(b.version)
	codec.Lend() // an answer is compared before the next is read
	kind, action := b.request(sent.Shape.Action())
	to, err := parseAddress(p[kernels.Addr], Path, p.Bool("tls"))
	if err != nil {
		return nil, err
	}
	conn := newClient(to, kind, action)
	if !p.Bool("keepalive") {
		conn.single()
	}
	if p.Bool("gzip") {
		conn.compressed()
	}
	conn.waits = waiting(p) > 0
	answer := sent
	answer.Answer = true
	bytes := len(codec.Append(nil, &sent)) + len(codec.Append(nil, &answer))
	conn.guard.patience = patienceFor(float64(bytes))
	named := p.Word("server") != "" && p.Word("server") != kernels.Embedded
	return &trial{client: conn, codec: codec, binding: b, sent: sent, bytes: float64(bytes), named: named}, nil
}

// mostWaiting is with how many clients, at most, both sides wait for each other in the system
// call itself. With more the poller's way is the faster one: it tells of many at once.
const mostWaiting = 64

// waiting returns how many connections of each side wait in the system call: those of all
// clients if this process was made ready for that, or else none.
func waiting(p kernels.Params) int {
	if n := p.Int("clients"); n <= mostWaiting && direct.Room(n) {
		return n
	}
	return 0
}

// newCodec makes the codec for the model asked.
func newCodec(p kernels.Params) (*envelope.Codec, error) {
	return envelope.NewCodec(envelope.Model(p.Word("model")), envelope.DefaultLimits())
}
