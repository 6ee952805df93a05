package envelope

import (
	"math"
	"slices"
)

// A Shape is the kind of content of a message. Its text is the name of the operation.
type Shape string

// The shapes.
const (
	// ShapeBeans is a Bundle: four beans and an array of strings.
	ShapeBeans Shape = "echoBeans"
	// ShapeText is one string.
	ShapeText Shape = "echoText"
	// ShapeRecords is a list of beans, many small elements.
	ShapeRecords Shape = "echoRecords"
)

// Action returns the SOAPAction of a request of this shape, without quotes.
func (s Shape) Action() string {
	switch s {
	case ShapeBeans:
		return Namespace + "#echoBeans"
	case ShapeText:
		return Namespace + "#echoText"
	case ShapeRecords:
		return Namespace + "#echoRecords"
	}
	return ""
}

// element returns the local name of the element in the body.
func (s Shape) element(answer bool) string {
	if answer {
		return string(s) + answerSuffix
	}
	return string(s)
}

// answerSuffix ends the name of an answer's element (WS-I Basic Profile 1.1, section 4.7.19).
const answerSuffix = "Response"

// A Message is the content of an envelope.
type Message struct {
	Answer  bool   // the answer to a request, not a request
	Shape   Shape  // says which of the fields below counts
	Bundle  Bundle // of ShapeBeans
	Text    String // of ShapeText
	Records []Bean // of ShapeRecords; as XML an element "record" for each
}

// A Bundle is four beans and an array of strings. As XML the array is an element for each of
// its strings, without one around them, so that an array without strings is no element:
//
//	<b:a>…</b:a> <b:b>…</b:b> <b:c>…</b:c> <b:d>…</b:d> <b:items>…</b:items> <b:items>…</b:items> …
type Bundle struct {
	A, B, C, D Bean
	Items      []String
}

// A Bean is a record of simple values. As XML it is an element for each field:
//
//	id xsd:int, firstName, lastName, city xsd:string, balance xsd:double, active xsd:boolean
//
// The numbers and the truth value have to be there; the strings may be absent.
type Bean struct {
	Nil       bool // xsi:nil, or absent; the other fields do not count
	ID        int32
	FirstName String
	LastName  String
	City      String
	Balance   float64
	Active    bool
}

// A String is a text that may be nil, which is not the same as empty. A reader takes an
// absent element and one with xsi:nil for nil; a writer writes xsi:nil.
type String struct {
	Value string
	Nil   bool
}

// Equal tells whether both messages have the same content; whether they are a request or
// an answer does not count.
func (m *Message) Equal(o *Message) bool {
	switch {
	case m.Shape != o.Shape:
		return false
	case m.Shape == ShapeText:
		return m.Text == o.Text
	case m.Shape == ShapeRecords:
		return sameBeans(m.Records, o.Records)
	default:
		return m.Bundle.equal(&o.Bundle)
	}
}

// sameBeans compares lists without copying what is in them.
func sameBeans(a, b []Bean) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].equal(&b[i]) {
			return false
		}
	}
	return true
}

func (b *Bundle) equal(o *Bundle) bool {
	return b.A.equal(&o.A) && b.B.equal(&o.B) && b.C.equal(&o.C) && b.D.equal(&o.D) && slices.Equal(b.Items, o.Items)
}

func (b *Bean) equal(o *Bean) bool {
	if b.Nil || o.Nil {
		return b.Nil == o.Nil
	}
	return b.ID == o.ID && b.Active == o.Active && sameFloat(b.Balance, o.Balance) &&
		b.FirstName == o.FirstName && b.LastName == o.LastName && b.City == o.City
}

// sameFloat takes not-a-number for equal to itself, as a value that travels is.
func sameFloat(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b)
}
