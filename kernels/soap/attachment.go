package soap

import (
	"context"
	"fmt"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// Attachment is the kernel soap.attachment: calls that send an attachment to a service, which
// acknowledges it with its length and checksum. Both sides stream: neither ever holds more of
// the attachment than a buffer.
//
// A request looks like this on the wire, with the encoding mtom:
//
//	POST /attachment HTTP/1.1
//	Content-Type: multipart/related; boundary="benchd-…"; type="application/xop+xml";
//	  start="<root@benchd>"; start-info="text/xml"
//	SOAPAction: "urn:benchd:attachment#store"
//	Content-Length: 11178
//
//	--benchd-…
//	Content-Type: application/xop+xml; charset=UTF-8; type="text/xml"
//	Content-Transfer-Encoding: binary
//	Content-ID: <root@benchd>
//
//	<soap:Envelope …
//	--benchd-…
//	Content-Type: application/octet-stream
//	Content-Transfer-Encoding: binary
//	Content-ID: <content@benchd>
//
//	…
//	--benchd-…--
//
// The encoding swa differs in that the root is plain text/xml and refers to the attachment by
// an attribute. With SOAP 1.2, text/xml is application/soap+xml, and the action is a parameter
// of the content type. The answer is a plain envelope with all of them: there is nothing to
// attach. The service takes a plain envelope too, with the content in it as base64, for clients
// that are made from its description and send no attachments.
type Attachment struct{}

var _ kernels.Server = Attachment{}

// maxSenders bounds the lanes, each of which holds a connection and a block of content.
const maxSenders = 1024

// The encodings of attachments.
const (
	encodingMTOM = "mtom" // SOAP Message Transmission Optimization Mechanism, by XOP
	encodingSwA  = "swa"  // SOAP Messages with Attachments, W3C Note of 2000
)

// Info describes the kernel.
func (Attachment) Info() kernels.Info {
	return kernels.Info{
		Name:      "soap.attachment",
		Title:     "Calls of a SOAP service over HTTP with an attachment, which it receives and acknowledges.",
		Operation: "one call: an attachment sent, received as a stream, and acknowledged by its length and checksum",
		Unit:      "call/s",
		Noun:      "call",
		Lanes:     "clients",
		Rate:      "rate",
		Params: []kernels.Param{
			{
				Name: "encoding", Kind: kernels.Word, Default: encodingMTOM, Values: []string{encodingMTOM, encodingSwA},
				Doc: "How the envelope refers to its attachment: by XOP, or as SOAP with Attachments does.",
			},
			{
				Name: "size", Kind: kernels.Size, Default: "10KB", Min: 1, Max: attachmentLimit,
				Doc: "The size of the attachment.",
			},
			{
				Name: "version", Kind: kernels.Word, Default: string(envelope.V11),
				Values: []string{string(envelope.V11), string(envelope.V12)},
				Doc:    "The version of SOAP.",
			},
			tlsParam(),
			serverParam(),
			{
				Name: "clients", Kind: kernels.Int, Default: "1", Min: 1, Max: maxSenders,
				Doc: "How many clients call at the same time, each on a connection of its own.",
			},
			{
				Name: "rate", Kind: kernels.Int, Default: "0", Min: 0, Max: 1_000_000,
				Doc: "Calls that begin in a second, by a schedule over all clients; 0 for as many as go.",
			},
		},
	}
}

// Serve runs the service, which takes both encodings and both versions, until ctx is done, at
// the address kernels.Listen or on a random port of the loopback. It calls ready with the URL
// of the service.
func (Attachment) Serve(ctx context.Context, p kernels.Params, ready func(addr string)) error {
	s := Services{Listen: p[kernels.Listen], Model: envelope.Stream, TLS: p.Bool("tls")}
	if err := s.Serve(ctx, func(at Addresses) { ready(at.believed(at.Attachment)) }); err != nil {
		return fmt.Errorf("serve soap.attachment: %w", err)
	}
	return nil
}

// Open connects one client with the service at the parameter kernels.Addr, a URL or
// host:port.
func (Attachment) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	t, err := newAttachmentTrial(p)
	if err == nil {
		err = t.client.connect(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open soap.attachment: %w", err)
	}
	return t, nil
}

// newAttachmentTrial makes a trial that is not yet connected.
func newAttachmentTrial(p kernels.Params) (*attachmentTrial, error) {
	f, err := newForm(p.Word("encoding"), envelope.Version(p.Word("version")))
	if err != nil {
		return nil, err
	}
	codec, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
	if err != nil {
		return nil, err
	}
	codec.Use(f.version)
	to, err := parseAddress(p[kernels.Addr], AttachmentPath, p.Bool("tls"))
	if err != nil {
		return nil, err
	}
	reader := newStoreReader(envelope.DefaultLimits())
	reader.use(f.version)
	kind, action := f.request()
	conn := newClient(to, kind, action)
	conn.guard.patience = patienceFor(float64(p.Bytes("size")))
	return &attachmentTrial{
		client: conn, form: f, codec: codec, reader: reader,
		sent: newContent(p.Bytes("size")), closing: []byte(closing),
	}, nil
}
