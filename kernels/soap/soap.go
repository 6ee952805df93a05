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
// The embedded service is one of net/http. The client speaks HTTP/1.1 on a connection of
// its own for each lane, with the answers read by net/http. It keeps the connection, and it
// makes a new one when the service has closed it.
//
// What the service answers, and what the client counts it as:
//
//	200 and what was sent               a call
//	200 and something else              mismatch
//	500 and a fault, 413, 415           fault
//	404, 405, and all else that is HTTP malformed
//	what is not HTTP                    malformed
//	nothing, or half an answer          reset
package soap

import (
	"context"
	"fmt"

	"benchd/kernels"
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
		Title:     "Calls of a SOAP 1.1 service over HTTP that sends back what it was sent.",
		Operation: "one call: request and answer written, sent, read and compared",
		Unit:      "call/s",
		Noun:      "call",
		Lanes:     "clients",
		Rate:      "rate",
		Params: []kernels.Param{
			{
				Name: "payload", Kind: kernels.Word, Default: "beans", Values: []string{"beans"},
				Doc: "What the envelope holds: four beans and an array of strings.",
			},
			{
				Name: "size", Kind: kernels.Size, Default: "2.2KB", Values: []string{"2.2KB"},
				Doc: "The size of the whole envelope of the request.",
			},
			{
				Name: "model", Kind: kernels.Word, Default: string(envelope.Stream),
				Values: []string{string(envelope.Stream), string(envelope.DOM)},
				Doc:    "How both sides read and write messages: as a stream, or as a tree.",
			},
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

// payloadSeed makes the message: the same in every run, so that results can be compared.
const payloadSeed = 1

// Open connects one client with the service at the parameter kernels.Addr, a URL or
// host:port.
func (Echo) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	codec, err := newCodec(p)
	if err != nil {
		return nil, fmt.Errorf("open soap.echo: %w", err)
	}
	sent := envelope.Beans(payloadSeed)
	conn, err := newClient(p[kernels.Addr], mediaType, sent.Shape.Action())
	if err != nil {
		return nil, fmt.Errorf("open soap.echo: %w", err)
	}
	if err := conn.connect(ctx); err != nil {
		return nil, fmt.Errorf("open soap.echo: %w", err)
	}
	return &trial{client: conn, codec: codec, sent: sent}, nil
}

// newCodec makes the codec for the model asked.
func newCodec(p kernels.Params) (*envelope.Codec, error) {
	return envelope.NewCodec(envelope.Model(p.Word("model")), envelope.DefaultLimits())
}
