// Package envelope reads and writes SOAP envelopes and makes the payloads they carry.
//
// It is a building block of the families that speak SOAP. Two message models give the same
// answer for the same request and the same bytes for the same message:
//
//   - Stream reads with the package's own Scanner and writes by appending. It builds no tree,
//     and it makes one allocation for each message it reads, whatever its size, or none if its
//     strings are lent.
//   - DOM builds the tree of the request, reads it, builds the tree of the answer and writes
//     it. The nodes are those of github.com/beevik/etree, in memory of the package's own; the
//     tokens come from the same Scanner, so that both models refuse the same documents.
//
// The envelopes are those of SOAP 1.1 or 1.2 and document/literal wrapped: the body holds one
// element in Namespace that is named after the operation, and that holds one element "in" or,
// in an answer, "return":
//
//	<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:b="urn:benchd:echo">
//	  <soap:Body>
//	    <b:echoText>
//	      <b:in>parcel route depot</b:in>
//	    </b:echoText>
//	  </soap:Body>
//	</soap:Envelope>
//
// What is inside is one of four payloads, each in a file of its own: beans, a text, records,
// or a document. Each is made from a seed, to the byte as large as its envelope is to be.
//
// Names are compared by namespace URI, never by prefix. The parts of a record may come in
// any order, since stacks differ in it, but each only as often as it is declared, and what is
// not known is refused: a service that passed over a part would answer with less than it was
// sent.
//
// A document comes from outside and is not to be trusted. Limits bound what it may cost, a
// document type declaration is refused and with it every way to make entities, and no
// document makes a reader panic or loop: each token takes at least one byte of it.
//
// A Codec holds the buffers of one lane. A family sends and reads a message like this:
//
//	codec, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
//	sent := envelope.Beans(seed)
//	request := codec.Append(nil, &sent) // on the wire
//	var got envelope.Message
//	err = codec.Decode(request, &got) // *Error if it is no such envelope, *Fault if it is a fault
//
// A family that only carries envelopes as bytes uses Payload and Check.
package envelope

import "fmt"

// The namespaces that an envelope is made of.
const (
	// Namespace is that of the echo service.
	Namespace = "urn:benchd:echo"
	// SOAP11 is the envelope of SOAP 1.1 (W3C Note, 8 May 2000, section 4.1.2).
	SOAP11 = "http://schemas.xmlsoap.org/soap/envelope/"
	// SOAP12 is the envelope of SOAP 1.2 (Part 1, second edition, section 5).
	SOAP12 = "http://www.w3.org/2003/05/soap-envelope"
	// Instance is the namespace of xsi:nil (XML Schema Part 1, section 2.6).
	Instance = "http://www.w3.org/2001/XMLSchema-instance"
)

// A Model is a way to read and write messages.
type Model string

// The models.
const (
	Stream Model = "stream"
	DOM    Model = "dom"
)

// A Version is a version of SOAP.
type Version string

// The versions. They differ in the namespace of the envelope, in the form of faults, in the
// attributes of header blocks and in how they are sent.
const (
	V11 Version = "1.1"
	V12 Version = "1.2"
)

// Limits bound what a document may cost its reader.
type Limits struct {
	Bytes      int // length of the whole document
	Depth      int // elements open at one time
	Attributes int // of one element, declarations of namespaces included
	Namespaces int // declarations in scope at one time
}

// DefaultLimits returns limits that are far above what a real message needs.
func DefaultLimits() Limits {
	return Limits{Bytes: 8 << 20, Depth: 64, Attributes: 64, Namespaces: 128}
}

// A Codec reads and writes messages by one model. It belongs to one lane: it keeps buffers
// from one message to the next and is not safe for concurrent use.
type Codec struct {
	model   Model
	version Version
	scanner *Scanner
	reader  reader
	tree    treeReader
	writer  treeWriter
}

// NewCodec makes a codec of a model within limits, which uses SOAP 1.1.
func NewCodec(model Model, limits Limits) (*Codec, error) {
	if model != Stream && model != DOM {
		return nil, fmt.Errorf("make a codec: there is no message model %q; allowed are %q and %q", model, Stream, DOM)
	}
	s := NewScanner(limits)
	c := &Codec{model: model, scanner: s, reader: reader{scanner: s}, tree: treeReader{scanner: s}}
	c.writer.grower.strings.lent = true // of no use to anybody once they are written
	c.Use(V11)
	return c, nil
}

// Use makes the codec read and write envelopes of a version from now on. It refuses those of
// others. A version that is not V12 is taken for V11.
func (c *Codec) Use(v Version) {
	c.version, c.reader.soap, c.tree.soap = V11, SOAP11Space, SOAP11
	if v == V12 {
		c.version, c.reader.soap, c.tree.soap = V12, SOAP12Space, SOAP12
	}
}

// Lend makes the strings of messages that Decode reads valid until the next Decode only, whose
// strings then take their memory. It is for a lane, which is done with a message before it
// reads another, and saves it an allocation for each. What errors and faults say stays valid.
func (c *Codec) Lend() {
	c.reader.strings.lent, c.tree.grower.strings.lent = true, true
}

// Append appends the envelope of m to dst and returns the longer slice.
//
// Characters that XML 1.0 cannot hold are written as U+FFFD; Decode never returns such
// characters, so an echo is never changed by this.
func (c *Codec) Append(dst []byte, m *Message) []byte {
	if c.model == DOM {
		return c.writer.append(dst, m, c.tree.soap)
	}
	return appendMessage(dst, m, c.version)
}

// AppendFault appends the envelope of a fault to dst and returns the longer slice.
func (c *Codec) AppendFault(dst []byte, f *Fault) []byte {
	if c.model == DOM {
		return appendTree(dst, faultTree(f, c.version))
	}
	return appendFault(dst, f, c.version)
}

// Decode reads an envelope into m, whose slices it uses again. The strings of m are its own:
// they stay valid when doc and the codec are used again, but for those that are lent.
//
// The error is a *Fault if the envelope carries one, or else an *Error that says what is
// wrong with the document and at which byte. After an error m holds nothing of use.
func (c *Codec) Decode(doc []byte, m *Message) error {
	if c.model == DOM {
		return c.tree.read(doc, m)
	}
	return c.reader.read(doc, m)
}
