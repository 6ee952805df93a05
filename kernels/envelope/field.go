package envelope

import (
	"fmt"
	"math"
	"strconv"
)

// The operations, fields and values of the echo service: what both models share, so that
// they understand the same thing by the same element. Names are taken as bytes, since a
// switch on their conversion to a string does not allocate.

// operation returns the shape that the element in the body stands for.
func operation(local []byte) (s Shape, answer, ok bool) {
	switch string(local) {
	case "echoBeans":
		return ShapeBeans, false, true
	case "echoBeansResponse":
		return ShapeBeans, true, true
	case "echoText":
		return ShapeText, false, true
	case "echoTextResponse":
		return ShapeText, true, true
	case "echoRecords":
		return ShapeRecords, false, true
	case "echoRecordsResponse":
		return ShapeRecords, true, true
	}
	return "", false, false
}

// isParameter tells whether the element inside the operation's has the right name.
func (m *Message) isParameter(local []byte) bool {
	if m.Answer {
		return string(local) == "return"
	}
	return string(local) == "in"
}

// A field is one of a bean's or a bundle's; a set of them is their sum.
type field uint8

const (
	fieldID field = 1 << iota
	fieldFirstName
	fieldLastName
	fieldCity
	fieldBalance
	fieldActive
)

// mandatory are the fields of a bean that cannot be nil.
const mandatory = fieldID | fieldBalance | fieldActive

const (
	fieldA field = 1 << iota
	fieldB
	fieldC
	fieldD
	fieldItems
)

// beanField returns the field of a bean with this name, or 0.
func beanField(local []byte) field {
	switch string(local) {
	case "id":
		return fieldID
	case "firstName":
		return fieldFirstName
	case "lastName":
		return fieldLastName
	case "city":
		return fieldCity
	case "balance":
		return fieldBalance
	case "active":
		return fieldActive
	}
	return 0
}

// name returns the name of a bean's field, or "". The order of the bits is that in which the
// fields are written.
func (f field) name() string {
	switch f { //nolint:exhaustive // Only what is a bean's field has a name.
	case fieldID:
		return "id"
	case fieldFirstName:
		return "firstName"
	case fieldLastName:
		return "lastName"
	case fieldCity:
		return "city"
	case fieldBalance:
		return "balance"
	case fieldActive:
		return "active"
	}
	return ""
}

// bundleField returns the field of a bundle with this name, or 0.
func bundleField(local []byte) field {
	switch string(local) {
	case "a":
		return fieldA
	case "b":
		return fieldB
	case "c":
		return fieldC
	case "d":
		return fieldD
	case "items":
		return fieldItems
	}
	return 0
}

// add puts a field into the set and tells whether it may come here: only the string array
// may come more than once.
func (f *field) add(one, often field) bool {
	again := *f&one&^often != 0
	*f |= one
	return one != 0 && !again
}

// bean returns the bean that a field of the bundle holds, or nil if it holds strings.
func (b *Bundle) bean(f field) *Bean {
	switch f {
	case fieldA:
		return &b.A
	case fieldB:
		return &b.B
	case fieldC:
		return &b.C
	case fieldD:
		return &b.D
	default:
		return nil
	}
}

// clear makes every part absent and keeps the memory of the array.
func (b *Bundle) clear() {
	absent := Bean{Nil: true}
	*b = Bundle{A: absent, B: absent, C: absent, D: absent, Items: b.Items[:0]}
}

// clear makes the bean present and its strings absent.
func (b *Bean) clear() {
	null := String{Nil: true}
	*b = Bean{FirstName: null, LastName: null, City: null}
}

// text returns the string that a field of the bean holds, or nil if it holds another type.
func (b *Bean) text(f field) *String {
	switch f {
	case fieldFirstName:
		return &b.FirstName
	case fieldLastName:
		return &b.LastName
	case fieldCity:
		return &b.City
	default:
		return nil
	}
}

// parse sets a field of another type than string and tells whether the text is one of its.
func (b *Bean) parse(f field, text []byte) (ok bool) {
	text = trim(text)
	switch f {
	case fieldID:
		b.ID, ok = parseInt(text)
	case fieldBalance:
		b.Balance, ok = parseDouble(text)
	case fieldActive:
		b.Active, ok = parseBool(text)
	default:
		ok = false
	}
	return ok
}

// parseInt reads an xsd:int (XML Schema Part 2, section 3.3.17).
func parseInt(b []byte) (int32, bool) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	return int32(n), err == nil
}

// parseBool reads an xsd:boolean (section 3.2.2).
func parseBool(b []byte) (value, ok bool) {
	switch string(b) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// parseDouble reads an xsd:double (section 3.2.4). What strconv reads beyond that, such as
// "0x1p-2", "1_000" or "infinity", is none; what is too large is infinite.
func parseDouble(b []byte) (float64, bool) {
	switch string(b) {
	case "INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	for _, c := range b {
		digit := c >= '0' && c <= '9'
		if !digit && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil || math.IsInf(v, 0)
}

// nilValue tells whether the value of an xsi:nil says that the element is nil.
func nilValue(v []byte) (null, ok bool) { return parseBool(trim(v)) }

// The sentences that both models use for what is wrong with an envelope.
const (
	reasonNotEnvelope = "the root element is not a SOAP envelope"
	reasonNoBody      = "the envelope has no body"
	reasonNoPayload   = "the body is empty"
	reasonTwo         = "the body holds more than one element"
	reasonNoParameter = "the operation does not hold exactly one parameter"
	reasonNilContent  = "an element that is nil has content"
	reasonNilValue    = "xsi:nil is neither true nor false"
	reasonStrayText   = "text where only elements are allowed"
	reasonNoCode      = "the fault lacks its code or its string"
	reasonMissing     = "a bean lacks its id, balance or active"
	reasonNoValue     = "a code of the fault lacks its value"
)

func reasonElement(local []byte, where string) string {
	return fmt.Sprintf("the element %q is not allowed in %s, or not more than once", local, where)
}

func reasonValue(local []byte) string {
	return fmt.Sprintf("the value of the element %q is not of its type", local)
}

func reasonHeader(local []byte) string {
	return fmt.Sprintf("the header block %q has to be understood and is not", local)
}

func reasonVersion(uri []byte, want string) string {
	return fmt.Sprintf("the envelope is of the namespace %q; allowed is %q", uri, want)
}
