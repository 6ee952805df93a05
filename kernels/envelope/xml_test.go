package envelope_test

import (
	"encoding/xml"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"

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

	Document *xmlDocument `xml:"urn:benchd:echo echoDocument"`
}

type xmlDocument struct {
	In xmlShipment `xml:"urn:benchd:echo in"`
}

type xmlShipment struct {
	Number *xmlString  `xml:"urn:benchd:echo number"`
	Sent   string      `xml:"urn:benchd:echo sent"`
	From   *xmlParty   `xml:"urn:benchd:echo from"`
	To     *xmlParty   `xml:"urn:benchd:echo to"`
	Load   []xmlParcel `xml:"urn:benchd:echo load>parcel"`
}

type xmlParty struct {
	Nil  string     `xml:"http://www.w3.org/2001/XMLSchema-instance nil,attr,omitempty"`
	Name *xmlString `xml:"urn:benchd:echo name"`
	City *xmlString `xml:"urn:benchd:echo city"`
}

type xmlParcel struct {
	Mark   *xmlString `xml:"urn:benchd:echo mark"`
	Weight string     `xml:"urn:benchd:echo weight"`
	Items  []xmlItem  `xml:"urn:benchd:echo item"`
}

type xmlItem struct {
	Article *xmlString `xml:"urn:benchd:echo article"`
	Pieces  string     `xml:"urn:benchd:echo pieces"`
	Duty    *xmlDuty   `xml:"urn:benchd:echo duty"`
}

type xmlDuty struct {
	Nil    string     `xml:"http://www.w3.org/2001/XMLSchema-instance nil,attr,omitempty"`
	Tariff *xmlString `xml:"urn:benchd:echo tariff"`
	Amount string     `xml:"urn:benchd:echo amount"`
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
	case v.Body.Document != nil:
		return envelope.Message{Shape: envelope.ShapeDocument, Shipment: v.Body.Document.In.value()}, nil
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
	return envelope.Bean{
		ID: xmlInt(b.ID), FirstName: b.FirstName.value(), LastName: b.LastName.value(), City: b.City.value(),
		Balance: b.Balance, Active: b.Active,
	}
}

// xmlInt reads an integer, or -1 if it is none.
func xmlInt(s string) int32 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	if err != nil {
		return -1
	}
	return int32(n)
}

// xmlDecimal reads thousandths by other means.
func xmlDecimal(s string) envelope.Decimal {
	r, ok := new(big.Rat).SetString(strings.TrimSpace(s))
	if !ok {
		return -1
	}
	r.Mul(r, big.NewRat(1000, 1))
	return envelope.Decimal(r.Num().Int64())
}

// xmlDate reads a date by other means.
func xmlDate(s string) envelope.Date {
	s = strings.TrimSpace(s)
	form, zoned := "2006-01-02", len(s) > len("2006-01-02")
	if zoned {
		form += "Z07:00"
	}
	t, err := time.Parse(form, s)
	if err != nil {
		return envelope.Date{}
	}
	_, seconds := t.Zone()
	return envelope.Date{Year: int16(t.Year()), Month: uint8(t.Month()), Day: uint8(t.Day()), Zoned: zoned, Zone: int16(seconds / 60)} //nolint:gosec // Four digits.
}

func (s *xmlShipment) value() envelope.Shipment {
	v := envelope.Shipment{Number: s.Number.value(), Sent: xmlDate(s.Sent), From: s.From.value(), To: s.To.value()}
	for i := range s.Load {
		v.Load = append(v.Load, s.Load[i].value())
	}
	return v
}

func (p *xmlParty) value() envelope.Party {
	if p == nil || isTrue(p.Nil) {
		return envelope.Party{Nil: true}
	}
	return envelope.Party{Name: p.Name.value(), City: p.City.value()}
}

func (p *xmlParcel) value() envelope.Parcel {
	v := envelope.Parcel{Mark: p.Mark.value(), Weight: xmlDecimal(p.Weight)}
	for _, t := range p.Items {
		item := envelope.Item{Article: t.Article.value(), Pieces: xmlInt(t.Pieces), Duty: envelope.Duty{Nil: true}}
		if d := t.Duty; d != nil && !isTrue(d.Nil) {
			item.Duty = envelope.Duty{Tariff: d.Tariff.value(), Amount: xmlDecimal(d.Amount)}
		}
		v.Items = append(v.Items, item)
	}
	return v
}

func (s *xmlString) value() envelope.String {
	if s == nil || isTrue(s.Nil) {
		return envelope.String{Nil: true}
	}
	return envelope.String{Value: s.Value}
}

func isTrue(s string) bool { return s == "true" || s == "1" }
