package envelope

import (
	"strconv"

	"github.com/beevik/etree"
)

// envelopeTree makes the tree of an envelope and returns its body.
func envelopeTree() (root, body *etree.Element) {
	root = etree.NewElement("soap:Envelope")
	root.CreateAttr("xmlns:soap", SOAP11)
	root.CreateAttr("xmlns:xsi", Instance)
	root.CreateAttr("xmlns:b", Namespace)
	return root, root.CreateElement("soap:Body")
}

// messageTree makes the tree of a message's envelope. Written, it has the same bytes as the
// stream model's, so the functions below mirror those of that model one by one.
func messageTree(m *Message) *etree.Element {
	root, body := envelopeTree()
	op := body.CreateElement("b:" + m.Shape.element(m.Answer))
	switch m.Shape {
	case ShapeText:
		addString(op, m.parameter(), &m.Text)
	default:
		addBundle(op, m.parameter(), &m.Bundle)
	}
	return root
}

func addBundle(parent *etree.Element, local string, b *Bundle) {
	e := parent.CreateElement("b:" + local)
	addBean(e, "a", &b.A)
	addBean(e, "b", &b.B)
	addBean(e, "c", &b.C)
	addBean(e, "d", &b.D)
	for i := range b.Items {
		addString(e, "items", &b.Items[i])
	}
}

func addBean(parent *etree.Element, local string, b *Bean) {
	e := parent.CreateElement("b:" + local)
	if b.Nil {
		e.CreateAttr("xsi:nil", "true")
		return
	}
	e.CreateElement("b:id").CreateText(strconv.Itoa(int(b.ID)))
	addString(e, "firstName", &b.FirstName)
	addString(e, "lastName", &b.LastName)
	addString(e, "city", &b.City)
	e.CreateElement("b:balance").CreateText(string(appendDouble(nil, b.Balance)))
	e.CreateElement("b:active").CreateText(strconv.FormatBool(b.Active))
}

func addString(parent *etree.Element, local string, s *String) {
	e := parent.CreateElement("b:" + local)
	switch {
	case s.Nil:
		e.CreateAttr("xsi:nil", "true")
	case s.Value != "":
		e.CreateText(s.Value)
	}
}

// faultTree makes the tree of a fault's envelope.
func faultTree(f *Fault) *etree.Element {
	root, body := envelopeTree()
	e := body.CreateElement("soap:Fault")
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
