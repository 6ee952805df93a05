package envelope

import "github.com/beevik/etree"

// envelopeTree makes the tree of an envelope without its body.
func envelopeTree(uri string) *etree.Element {
	root := etree.NewElement("soap:Envelope")
	declare(root, uri)
	return root
}

// declare declares the namespaces of an envelope.
func declare(root *etree.Element, uri string) {
	root.CreateAttr("xmlns:soap", uri)
	root.CreateAttr("xmlns:xsi", Instance)
	root.CreateAttr("xmlns:b", Namespace)
}

// A treeWriter makes the trees of messages and writes them. Written, they have the same bytes
// as the stream model's, so the functions below mirror those of that model one by one.
type treeWriter struct{ grower grower }

// append makes the tree of a message's envelope and appends it.
func (w *treeWriter) append(dst []byte, m *Message, uri string) []byte {
	g := &w.grower
	defer g.cut()
	g.strings.begin(numbersMost)
	declare(g.begin("soap", "Envelope", 3), uri)
	g.begin("soap", "Body", 0)
	g.begin("b", m.Shape.element(m.Answer), 0)
	w.content(m.parameter(), m.content())
	g.end()
	g.end()
	g.end()
	return appendTree(dst, g.root())
}

// content adds the element of a part, or one for each value of its list.
func (w *treeWriter) content(p *part, v any) {
	switch v := v.(type) {
	case *String:
		w.string(p, v)
	case *int32, *float64, *bool, *Decimal, *Date:
		var room [32]byte
		w.grower.leaf("b", p.name, w.grower.strings.own(appendSimple(room[:0], v)))
	case *[]String:
		for i := range *v {
			w.string(p, &(*v)[i])
		}
	case list:
		for i := range v.size() {
			w.record(p, v.at(i))
		}
	case record:
		w.record(p, v)
	}
}

// record adds a record. An empty text makes one without parts two tags.
func (w *treeWriter) record(p *part, rec record) {
	g := &w.grower
	if rec.isNil() {
		w.null(p)
		return
	}
	g.begin("b", p.name, 0)
	l := rec.layout()
	for i := range l.parts {
		w.content(&l.parts[i], rec.part(i))
	}
	if g.bare() {
		g.text("")
	}
	g.end()
}

func (w *treeWriter) string(p *part, s *String) {
	switch {
	case s.Nil:
		w.null(p)
	case s.Value == "":
		w.grower.begin("b", p.name, 0)
		w.grower.end()
	default:
		w.grower.leaf("b", p.name, s.Value)
	}
}

// null adds an element that is nil.
func (w *treeWriter) null(p *part) {
	w.grower.begin("b", p.name, 1).CreateAttr("xsi:nil", "true")
	w.grower.end()
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

// appendTree writes a tree as a document.
func appendTree(dst []byte, root *etree.Element) []byte {
	return appendElement(append(dst, declaration...), root)
}

// appendElement writes an element and all inside it. It escapes just what etree's canonical
// forms do; etree's own writer puts each name together from prefix and tag in new memory,
// twice, and looks at each text letter by letter. The depth of the tree is that of a message,
// and so is the recursion.
func appendElement(dst []byte, e *etree.Element) []byte {
	dst = appendName(append(dst, '<'), e.Space, e.Tag)
	for i := range e.Attr {
		a := &e.Attr[i]
		dst = appendName(append(dst, ' '), a.Space, a.Key)
		dst = append(appendValue(append(dst, `="`...), a.Value), '"')
	}
	if len(e.Child) == 0 {
		return append(dst, "/>"...)
	}
	dst = append(dst, '>')
	for _, token := range e.Child {
		switch t := token.(type) {
		case *etree.CharData:
			dst = appendText(dst, t.Data)
		case *etree.Element:
			dst = appendElement(dst, t)
		}
	}
	return append(appendName(append(dst, "</"...), e.Space, e.Tag), '>')
}

func appendName(dst []byte, prefix, name string) []byte {
	if prefix != "" {
		dst = append(append(dst, prefix...), ':')
	}
	return append(dst, name...)
}
