package envelope

import (
	"github.com/beevik/etree"
)

// A treeReader is the DOM model: it builds the tree of the whole document and reads that.
//
// It builds the tree from the Scanner's tokens. A tree that etree reads by itself, through
// encoding/xml, would let through what must not be (a document type declaration, bytes in an
// encoding that was declared but never decoded, an attribute that is there twice), it would
// not say where an error lies, and it takes ten times as long. What the model costs beside
// the stream is then the tree alone, which is what is to be compared.
type treeReader struct {
	scanner *Scanner
	soap    string // the namespace of the envelopes it reads
	grower  grower
	text    []byte
}

func (r *treeReader) read(doc []byte, m *Message) error {
	defer r.grower.cut() // what is read from the tree has strings of its own, or those of the tree's block
	root, err := r.build(doc)
	if err != nil {
		return err
	}
	return r.envelope(root, m)
}

// build makes a node for each element and text of the document. The tree is built for each
// document anew, as its users do: that is what a tree costs. Names are places in one copy of
// the document, so that a message, which may live longer than the tree, holds its texts only.
func (r *treeReader) build(doc []byte) (*etree.Element, error) {
	s, g := r.scanner, &r.grower
	if err := s.Reset(doc); err != nil {
		return nil, err
	}
	g.strings.begin(len(doc))
	names := string(doc)
	for {
		kind, err := s.Next()
		switch {
		case err != nil:
			return nil, err
		case kind == EOF:
			return g.root(), nil
		case kind == StartTag:
			r.element(names)
		case kind == EndTag:
			g.end()
		default:
			g.text(g.strings.own(r.content()))
		}
	}
}

// content returns the current text.
func (r *treeReader) content() []byte {
	s := r.scanner
	if s.form == asIs {
		return s.raw
	}
	r.text = s.AppendText(r.text[:0])
	return r.text
}

// element begins a node of the current start tag. The node's Space is its prefix: etree
// looks up what it stands for when it is asked.
func (r *treeReader) element(names string) {
	s := r.scanner
	n := &s.name
	e := r.grower.begin(names[n.begin:max(n.begin, n.local-1)], names[n.local:n.end], len(s.attrs))
	for i := range s.attrs {
		a := &s.attrs[i]
		value := names[a.begin:a.end]
		if a.dirty {
			value = string(s.valueOf(a))
		}
		e.CreateAttr(names[a.name.begin:max(a.name.end, a.name.local)], value)
	}
}

// envelope reads a tree into m.
func (r *treeReader) envelope(root *etree.Element, m *Message) error {
	switch uri := uriOf(root); {
	case root.Tag != "Envelope":
		return refuse(reasonNotEnvelope)
	case uri != r.soap:
		return &Error{Code: CodeVersionMismatch, Offset: -1, Reason: reasonVersion([]byte(uri), r.soap)}
	}
	parts, err := children(root)
	if err != nil {
		return err
	}
	if len(parts) > 0 && is(parts[0], r.soap, "Header") {
		if err := r.header(parts[0]); err != nil {
			return err
		}
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return refuse(reasonNoBody)
	}
	if !is(parts[0], r.soap, "Body") {
		return refuse(reasonElement([]byte(parts[0].Tag), "the envelope"))
	}
	for _, e := range parts[1:] {
		if uri := uriOf(e); r.soap == SOAP12 || uri == SOAP11 || uri == "" {
			return refuse(reasonElement([]byte(e.Tag), "the envelope"))
		}
	}
	return r.body(parts[0], m)
}

// header refuses the blocks that have to be understood.
func (r *treeReader) header(header *etree.Element) error {
	blocks, err := children(header)
	if err != nil {
		return err
	}
	var strange *Error
	for _, e := range blocks {
		must, said := attr(e, r.soap, mustUnderstand)
		target, _ := attr(e, r.soap, targetOf(r.soap == SOAP12))
		switch yes, reason := demands(uriOf(e) != "", must, said, target); {
		case reason != "":
			return refuse(reason)
		case yes:
			strange = Misunderstood(strange, -1, uriOf(e), e.Tag)
		}
	}
	if strange != nil {
		return strange
	}
	return nil
}

// body reads the one element of the body, an operation or a fault.
func (r *treeReader) body(body *etree.Element, m *Message) error {
	list, err := children(body)
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return refuse(reasonNoPayload)
	case len(list) > 1:
		return refuse(reasonTwo)
	case is(list[0], r.soap, "Fault"):
		return readFault(list[0], r.soap)
	}
	return readOperation(list[0], m)
}

// readOperation reads the element that is named after the operation and its parameter.
func readOperation(e *etree.Element, m *Message) error {
	ok := false
	if m.Shape, m.Answer, ok = operationOf(e.Tag); !ok || uriOf(e) != Namespace {
		return refuse(reasonOperation([]byte(e.Tag), []byte(uriOf(e))))
	}
	list, err := children(e)
	switch {
	case err != nil:
		return err
	case len(list) != 1 || list[0].Tag != m.parameter().name || uriOf(list[0]) != Namespace:
		return refuse(reasonNoParameter)
	}
	return readValue(list[0], m.content())
}

// children returns the elements inside one that holds nothing else but white space.
func children(e *etree.Element) ([]*etree.Element, error) {
	list := make([]*etree.Element, 0, len(e.Child))
	for _, token := range e.Child {
		child, err := childOf(token)
		if err != nil {
			return nil, err
		}
		if child != nil {
			list = append(list, child)
		}
	}
	return list, nil
}

// childOf returns a token that is an element, or nil for white space.
func childOf(token etree.Token) (*etree.Element, error) {
	switch t := token.(type) {
	case *etree.Element:
		return t, nil
	case *etree.CharData:
		if !isBlank([]byte(t.Data)) {
			return nil, refuse(reasonStrayText)
		}
	}
	return nil, nil
}

// uriOf returns the namespace of an element. The prefix xml, which etree does not know, is
// declared everywhere.
func uriOf(e *etree.Element) string {
	if e.Space == "xml" {
		return xmlURI
	}
	return e.NamespaceURI()
}

// is tells whether an element has a name.
func is(e *etree.Element, uri, local string) bool {
	return e.Tag == local && uriOf(e) == uri
}

// attr returns the value of an attribute that has a namespace.
func attr(e *etree.Element, uri, local string) (string, bool) {
	for i := range e.Attr {
		if a := &e.Attr[i]; a.Key == local && a.Space != "" && a.NamespaceURI() == uri {
			return a.Value, true
		}
	}
	return "", false
}

// refuse makes the error of a well-formed document that is not what it should be. The tree
// does not know its places in the document.
func refuse(reason string) error {
	return &Error{Code: CodeClient, Offset: -1, Reason: reason}
}
