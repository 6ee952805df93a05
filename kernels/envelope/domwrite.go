package envelope

import "github.com/beevik/etree"

// envelopeTree makes the tree of an envelope without its body.
func envelopeTree(uri string) *etree.Element {
	root := etree.NewElement("soap:Envelope")
	root.CreateAttr("xmlns:soap", uri)
	root.CreateAttr("xmlns:xsi", Instance)
	root.CreateAttr("xmlns:b", Namespace)
	return root
}

// messageTree makes the tree of a message's envelope. Written, it has the same bytes as the
// stream model's, so the functions below mirror those of that model one by one.
func messageTree(m *Message, uri string) *etree.Element {
	root := envelopeTree(uri)
	op := root.CreateElement("soap:Body").CreateElement("b:" + m.Shape.element(m.Answer))
	addContent(op, m.parameter(), m.content())
	return root
}

// addContent adds the element of a part, or one for each value of its list.
func addContent(parent *etree.Element, p *part, v any) {
	switch v := v.(type) {
	case *String:
		addString(parent, p, v)
	case *int32, *float64, *bool, *Decimal, *Date:
		var room [32]byte
		p.addTo(parent).CreateText(string(appendSimple(room[:0], v)))
	case *[]String:
		for i := range *v {
			addString(parent, p, &(*v)[i])
		}
	case list:
		for i := range v.size() {
			addRecord(parent, p, v.at(i))
		}
	case record:
		addRecord(parent, p, v)
	}
}

// addRecord adds a record. An empty text makes one without parts two tags.
func addRecord(parent *etree.Element, p *part, rec record) {
	e := p.addTo(parent)
	if rec.isNil() {
		e.CreateAttr("xsi:nil", "true")
		return
	}
	l := rec.layout()
	for i := range l.parts {
		addContent(e, &l.parts[i], rec.part(i))
	}
	if len(e.Child) == 0 {
		e.CreateText("")
	}
}

func addString(parent *etree.Element, p *part, s *String) {
	e := p.addTo(parent)
	switch {
	case s.Nil:
		e.CreateAttr("xsi:nil", "true")
	case s.Value != "":
		e.CreateText(s.Value)
	}
}

// addTo adds an element with the part's name.
func (p *part) addTo(parent *etree.Element) *etree.Element {
	return parent.CreateElement(p.open[1 : len(p.open)-1])
}

// faultTree makes the tree of a fault's envelope.
func faultTree(f *Fault, v Version) *etree.Element {
	uri := SOAP11
	if v == V12 {
		uri = SOAP12
	}
	root := envelopeTree(uri)
	addFaultHeader(root, f, v)
	e := root.CreateElement("soap:Body").CreateElement("soap:Fault")
	if v == V12 {
		addFault12(e, f)
		return root
	}
	addText(e, "faultcode", "soap:"+f.Code)
	addText(e, "faultstring", f.String)
	if f.Actor != "" {
		addText(e, "faultactor", f.Actor)
	}
	if f.Detail != "" {
		addText(e.CreateElement("detail"), "b:text", f.Detail)
	}
	return root
}

func addFault12(e *etree.Element, f *Fault) {
	at := e.CreateElement("soap:Code")
	for i, value := range f.values() {
		if i == 0 {
			addText(at, "soap:Value", "soap:"+value)
			continue
		}
		at = at.CreateElement("soap:Subcode")
		addText(at, "soap:Value", "b:"+value)
	}
	text := e.CreateElement("soap:Reason").CreateElement("soap:Text")
	text.CreateAttr("xml:lang", "en")
	text.CreateText(f.String)
	if f.Actor != "" {
		addText(e, "soap:Node", f.Actor)
	}
	if f.Detail != "" {
		addText(e.CreateElement("soap:Detail"), "b:text", f.Detail)
	}
}

// addFaultHeader adds the header that goes with two of the codes.
func addFaultHeader(root *etree.Element, f *Fault, v Version) {
	switch {
	case f.Code == CodeVersionMismatch:
		upgrade := root.CreateElement("soap:Header").CreateElement("u:Upgrade")
		upgrade.CreateAttr("xmlns:u", SOAP12)
		upgrade.CreateElement("u:SupportedEnvelope").CreateAttr("qname", "u:Envelope")
		other := upgrade.CreateElement("u:SupportedEnvelope")
		other.CreateAttr("xmlns:v", SOAP11)
		other.CreateAttr("qname", "v:Envelope")
	case len(f.Blocks) > 0 && v == V12:
		header := root.CreateElement("soap:Header")
		for _, name := range f.Blocks {
			block := header.CreateElement("u:NotUnderstood")
			block.CreateAttr("xmlns:u", SOAP12)
			if prefix := name.prefix(); prefix != "" {
				block.CreateAttr("xmlns:"+prefix, name.Space)
			}
			block.CreateAttr("qname", name.qname())
		}
	}
}

// addText adds an element with a text. An empty text is a node too, so that the element is
// written with two tags, as the stream model does.
func addText(parent *etree.Element, name, text string) {
	parent.CreateElement(name).CreateText(text)
}

// appendTree writes a tree. The canonical forms of etree escape just what appendText does.
func appendTree(dst []byte, root *etree.Element) []byte {
	w := appender(append(dst, declaration...))
	root.WriteTo(&w, &etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true})
	return w
}

// An appender lets etree write to the end of a slice.
type appender []byte

// Write appends p.
func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// WriteString appends s.
func (a *appender) WriteString(s string) (int, error) {
	*a = append(*a, s...)
	return len(s), nil
}

// WriteByte appends c.
func (a *appender) WriteByte(c byte) error {
	*a = append(*a, c)
	return nil
}
