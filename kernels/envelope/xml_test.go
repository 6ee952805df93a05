package envelope_test

import (
	"encoding/xml"
	"errors"
	"strconv"
	"strings"

	"benchd/kernels/envelope"
)

// The standard library's view of an envelope: the other opinion in the tests, and the
// measure in the benchmarks.
type xmlEnvelope struct {
	XMLName xml.Name `xml:"http://schemas.xmlsoap.org/soap/envelope/ Envelope"`
	Body    xmlBody  `xml:"http://schemas.xmlsoap.org/soap/envelope/ Body"`
}

type xmlEnvelope12 struct {
	XMLName xml.Name `xml:"http://www.w3.org/2003/05/soap-envelope Envelope"`
	Body    xmlBody  `xml:"http://www.w3.org/2003/05/soap-envelope Body"`
}

type xmlBody struct {
	Beans   *xmlBeans   `xml:"urn:benchd:echo echoBeans"`
	Text    *xmlText    `xml:"urn:benchd:echo echoText"`
	Records *xmlRecords `xml:"urn:benchd:echo echoRecords"`
}

type xmlRecords struct {
	In xmlList `xml:"urn:benchd:echo in"`
}

type xmlList struct {
	Records []xmlBean `xml:"urn:benchd:echo record"`
}

type xmlBeans struct {
	In xmlBundle `xml:"urn:benchd:echo in"`
}

type xmlText struct {
	In xmlString `xml:"urn:benchd:echo in"`
}

type xmlBundle struct {
	A     *xmlBean    `xml:"urn:benchd:echo a"`
	B     *xmlBean    `xml:"urn:benchd:echo b"`
	C     *xmlBean    `xml:"urn:benchd:echo c"`
	D     *xmlBean    `xml:"urn:benchd:echo d"`
	Items []xmlString `xml:"urn:benchd:echo items"`
}

type xmlBean struct {
	Nil       string     `xml:"http://www.w3.org/2001/XMLSchema-instance nil,attr,omitempty"`
	ID        string     `xml:"urn:benchd:echo id"`
	FirstName *xmlString `xml:"urn:benchd:echo firstName"`
	LastName  *xmlString `xml:"urn:benchd:echo lastName"`
	City      *xmlString `xml:"urn:benchd:echo city"`
	Balance   float64    `xml:"urn:benchd:echo balance"`
	Active    bool       `xml:"urn:benchd:echo active"`
}

type xmlString struct {
	Nil   string `xml:"http://www.w3.org/2001/XMLSchema-instance nil,attr,omitempty"`
	Value string `xml:",chardata"`
}

// viaXML reads a document as the standard library sees it.
func viaXML(doc []byte) (envelope.Message, error) {
	var v xmlEnvelope
	if err := xml.Unmarshal(doc, &v); err != nil {
		var newer xmlEnvelope12
		if xml.Unmarshal(doc, &newer) != nil {
			return envelope.Message{}, err
		}
		v.Body = newer.Body
	}
	switch {
	case v.Body.Records != nil:
		m := envelope.Message{Shape: envelope.ShapeRecords}
		for i := range v.Body.Records.In.Records {
			m.Records = append(m.Records, v.Body.Records.In.Records[i].value())
		}
		return m, nil
	case v.Body.Text != nil:
		return envelope.Message{Shape: envelope.ShapeText, Text: v.Body.Text.In.value()}, nil
	case v.Body.Beans == nil:
		return envelope.Message{}, errors.New("no operation")
	}
	in := v.Body.Beans.In
	b := envelope.Bundle{A: in.A.value(), B: in.B.value(), C: in.C.value(), D: in.D.value()}
	for _, s := range in.Items {
		b.Items = append(b.Items, s.value())
	}
	return envelope.Message{Shape: envelope.ShapeBeans, Bundle: b}, nil
}

func (b *xmlBean) value() envelope.Bean {
	if b == nil || isTrue(b.Nil) {
		return envelope.Bean{Nil: true}
	}
	id, err := strconv.ParseInt(strings.TrimSpace(b.ID), 10, 32)
	if err != nil {
		id = -1
	}
	return envelope.Bean{
		ID: int32(id), FirstName: b.FirstName.value(), LastName: b.LastName.value(), City: b.City.value(),
		Balance: b.Balance, Active: b.Active,
	}
}

func (s *xmlString) value() envelope.String {
	if s == nil || isTrue(s.Nil) {
		return envelope.String{Nil: true}
	}
	return envelope.String{Value: s.Value}
}

func isTrue(s string) bool { return s == "true" || s == "1" }
