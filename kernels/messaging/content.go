package messaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// The contents of a message.
const (
	soap     = "soap"
	document = "document"
	raw      = "raw"
)

// contents lists them, the default first.
func contents() []string { return []string{soap, document, raw} }

// The ways in which SOAP is read and written.
const (
	stream = string(envelope.Stream)
	tree   = string(envelope.DOM)
)

// modelOf is the way that the parameters ask for; a stream where they have none to ask for.
func modelOf(p kernels.Params) envelope.Model {
	if m := p.Word("model"); m != "" {
		return envelope.Model(m)
	}
	return envelope.Stream
}

// seed makes the messages of every trial the same.
const seed = 20240517

// A content is the client's end of what is sent. One lane uses it.
type content interface {
	// next returns the next request, which is good until the call after.
	next() []byte
	// check returns a Failure if the reply is not the one that the last request deserves.
	check(reply []byte) error
}

// A service is the other end: it returns the reply to a request. One goroutine uses it; the
// reply is good until its next call.
type service func(request []byte) (reply []byte)

// contentOf makes the content that the parameters ask for.
func contentOf(p kernels.Params) (content, error) {
	switch p.Word("content") {
	case soap:
		return newSoapContent(p, envelope.Text)
	case document:
		return newSoapContent(p, envelope.Document)
	case raw:
		return &rawContent{request: seeded(p.Bytes("size"))}, nil
	default:
		return nil, unknownContent(p)
	}
}

// serviceOf returns what makes the services for the content that the parameters ask for.
func serviceOf(p kernels.Params) (func() service, error) {
	switch p.Word("content") {
	case soap, document:
		return soapService(modelOf(p))
	case raw:
		return func() service { return func(request []byte) []byte { return request } }, nil
	default:
		return nil, unknownContent(p)
	}
}

func unknownContent(p kernels.Params) error {
	return fmt.Errorf("there is no content %q; there are %q", p.Word("content"), contents())
}

// rawContent is bytes that nobody reads. Each request carries a number in its first eight
// bytes, so that no two are the same and a reply that belongs to another is found out.
type rawContent struct {
	request []byte
	number  uint64
}

func (c *rawContent) next() []byte {
	c.number++
	if len(c.request) >= 8 {
		binary.BigEndian.PutUint64(c.request, c.number)
	}
	return c.request
}

func (c *rawContent) check(reply []byte) error {
	if err := envelope.Check(c.request, reply); err != nil {
		return mismatch("request %d: %w", c.number, err)
	}
	return nil
}

// soapContent is an envelope that is written for each request and read from each reply.
type soapContent struct {
	codec     *envelope.Codec
	sent, got envelope.Message
	request   []byte
}

// newSoapContent makes the message once; payload makes one of a size.
func newSoapContent(p kernels.Params, payload func(size int, seed uint64) (envelope.Message, error)) (*soapContent, error) {
	size := p.Bytes("size")
	m, err := payload(size, seed)
	if err != nil {
		return nil, err
	}
	codec, err := envelope.NewCodec(modelOf(p), envelope.DefaultLimits())
	if err != nil {
		return nil, err
	}
	return &soapContent{codec: codec, sent: m, request: make([]byte, 0, size)}, nil
}

func (c *soapContent) next() []byte {
	c.request = c.codec.Append(c.request[:0], &c.sent)
	return c.request
}

func (c *soapContent) check(reply []byte) error {
	if err := c.codec.Decode(reply, &c.got); err != nil {
		var fault *envelope.Fault
		if errors.As(err, &fault) {
			return &kernels.Failure{Class: "fault", Err: fault}
		}
		return &kernels.Failure{Class: "malformed", Err: err}
	}
	if !c.got.Equal(&c.sent) {
		return mismatch("the reply's envelope says something else than the request's: %w", orSame(envelope.Check(c.request, reply)))
	}
	return nil
}

// orSame is for bytes that agree though what was read from them does not.
func orSame(err error) error {
	if err == nil {
		return errors.New("its bytes are the same")
	}
	return err
}

// soapService returns what makes services that read a request and write what they read.
// The reply is the request unchanged, so that it has exactly the size that was asked for.
func soapService(model envelope.Model) (func() service, error) {
	if _, err := envelope.NewCodec(model, envelope.DefaultLimits()); err != nil {
		return nil, err
	}
	return func() service {
		// The same call has just succeeded with the same arguments.
		codec, _ := envelope.NewCodec(model, envelope.DefaultLimits())
		var m envelope.Message
		var reply []byte
		return func(request []byte) []byte {
			if err := codec.Decode(request, &m); err != nil {
				reply = codec.AppendFault(reply[:0], faultOf(err))
				return reply
			}
			reply = codec.Append(reply[:0], &m)
			return reply
		}
	}, nil
}

// faultOf returns the fault that a request deserves which could not be read.
func faultOf(err error) *envelope.Fault {
	var bad *envelope.Error
	if errors.As(err, &bad) {
		return bad.Fault()
	}
	return &envelope.Fault{Code: envelope.CodeClient, String: err.Error()}
}

// seeded returns n bytes that look random and are always the same.
func seeded(n int) []byte {
	b := make([]byte, n)
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	// The source fills any slice and never fails.
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

// isSeeded tells whether b is what seeded returns for n.
func isSeeded(b []byte, n int) bool { return bytes.Equal(b, seeded(n)) }
