package envelope

import (
	"math"
	"strconv"
	"unicode/utf8"
)

const (
	declaration = `<?xml version="1.0" encoding="UTF-8"?>`
	open11      = `<soap:Envelope xmlns:soap="` + SOAP11 + `" xmlns:xsi="` + Instance + `" xmlns:b="` + Namespace + `">`
	open12      = `<soap:Envelope xmlns:soap="` + SOAP12 + `" xmlns:xsi="` + Instance + `" xmlns:b="` + Namespace + `">`
	closeBody   = `</soap:Body></soap:Envelope>`
)

// recordName is the name of the element of one record.
const recordName = "record"

// openEnvelope returns the start tag of an envelope.
func openEnvelope(v Version) string {
	if v == V12 {
		return open12
	}
	return open11
}

// parameter returns the name of the one element inside the operation's.
func (m *Message) parameter() string {
	if m.Answer {
		return "return"
	}
	return "in"
}

// appendOpen writes a start tag.
func appendOpen(dst []byte, local string) []byte {
	dst = append(dst, "<b:"...)
	dst = append(dst, local...)
	return append(dst, '>')
}

// appendClose writes an end tag.
func appendClose(dst []byte, local string) []byte {
	dst = append(dst, "</b:"...)
	dst = append(dst, local...)
	return append(dst, '>')
}

// appendNil writes an element that is nil.
func appendNil(dst []byte, local string) []byte {
	dst = append(dst, "<b:"...)
	dst = append(dst, local...)
	return append(dst, ` xsi:nil="true"/>`...)
}

func appendMessage(dst []byte, m *Message, v Version) []byte {
	dst = append(dst, declaration...)
	dst = append(dst, openEnvelope(v)...)
	dst = append(dst, "<soap:Body><b:"...)
	dst = appendOperation(dst, m)
	dst = append(dst, '>')
	switch m.Shape {
	case ShapeText:
		dst = appendString(dst, m.parameter(), &m.Text)
	case ShapeRecords:
		dst = appendRecords(dst, m.parameter(), m.Records)
	default:
		dst = appendBundle(dst, m.parameter(), &m.Bundle)
	}
	dst = append(dst, "</b:"...)
	dst = appendOperation(dst, m)
	return append(dst, ">"+closeBody...)
}

func appendOperation(dst []byte, m *Message) []byte {
	dst = append(dst, m.Shape...)
	if m.Answer {
		dst = append(dst, answerSuffix...)
	}
	return dst
}

func appendRecords(dst []byte, local string, list []Bean) []byte {
	dst = appendOpen(dst, local)
	for i := range list {
		dst = appendBean(dst, recordName, &list[i])
	}
	return appendClose(dst, local)
}

func appendBundle(dst []byte, local string, b *Bundle) []byte {
	dst = appendOpen(dst, local)
	dst = appendBean(dst, "a", &b.A)
	dst = appendBean(dst, "b", &b.B)
	dst = appendBean(dst, "c", &b.C)
	dst = appendBean(dst, "d", &b.D)
	for i := range b.Items {
		dst = appendString(dst, "items", &b.Items[i])
	}
	return appendClose(dst, local)
}

func appendBean(dst []byte, local string, b *Bean) []byte {
	if b.Nil {
		return appendNil(dst, local)
	}
	dst = appendOpen(dst, local)
	dst = append(dst, "<b:id>"...)
	dst = strconv.AppendInt(dst, int64(b.ID), 10)
	dst = append(dst, "</b:id>"...)
	dst = appendString(dst, "firstName", &b.FirstName)
	dst = appendString(dst, "lastName", &b.LastName)
	dst = appendString(dst, "city", &b.City)
	dst = append(dst, "<b:balance>"...)
	dst = appendDouble(dst, b.Balance)
	dst = append(dst, "</b:balance><b:active>"...)
	dst = strconv.AppendBool(dst, b.Active)
	dst = append(dst, "</b:active>"...)
	return appendClose(dst, local)
}

func appendString(dst []byte, local string, s *String) []byte {
	switch {
	case s.Nil:
		return appendNil(dst, local)
	case s.Value == "":
		dst = append(dst, "<b:"...)
		dst = append(dst, local...)
		return append(dst, "/>"...)
	}
	dst = appendOpen(dst, local)
	dst = appendText(dst, s.Value)
	return appendClose(dst, local)
}

// appendDouble writes an xsd:double (XML Schema Part 2, section 3.2.5).
func appendDouble(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "INF"...)
	case math.IsInf(v, -1):
		return append(dst, "-INF"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// appendValue writes the value of an attribute. Beside what a text escapes these are the
// quote and the white space that a reader would make a space of (XML 1.0, section 3.3.3).
func appendValue(dst []byte, s string) []byte {
	for _, c := range []byte(s) {
		switch c {
		case '"':
			dst = append(dst, "&quot;"...)
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '\t':
			dst = append(dst, "&#x9;"...)
		case '\n':
			dst = append(dst, "&#xA;"...)
		case '\r':
			dst = append(dst, "&#xD;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendText writes character data. Beside & and < it escapes > so that "]]>" cannot
// appear, and the carriage return, which a reader would turn into a line feed (XML 1.0,
// section 2.11).
func appendText(dst []byte, s string) []byte {
	from := 0
	for i := plainRun(s, 0); i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		escaped, width := escape(s[i:])
		if escaped != "" {
			dst = append(dst, s[from:i]...)
			dst = append(dst, escaped...)
			from = i + width
		}
		i += width
		i += plainRun(s, i)
	}
	return append(dst, s[from:]...)
}

// escape returns how the first character of s is written, or "" if as it is, and its width
// in bytes.
func escape(s string) (escaped string, width int) {
	switch s[0] {
	case '&':
		return "&amp;", 1
	case '<':
		return "&lt;", 1
	case '>':
		return "&gt;", 1
	case '\r':
		return "&#xD;", 1
	}
	r, width := utf8.DecodeRuneInString(s)
	if !isChar(r) || r == utf8.RuneError && width == 1 {
		return "\uFFFD", width
	}
	return "", width
}
