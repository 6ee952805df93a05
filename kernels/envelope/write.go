package envelope

import (
	"math"
	"strconv"
	"unicode/utf8"
)

const (
	declaration = `<?xml version="1.0" encoding="UTF-8"?>`
	openBody    = `<soap:Envelope xmlns:soap="` + SOAP11 + `" xmlns:xsi="` + Instance + `" xmlns:b="` + Namespace + `"><soap:Body>`
	closeBody   = `</soap:Body></soap:Envelope>`
)

// A tag is everything that can be written for an element of one name, made once so that
// writing is nothing but appending.
type tag struct {
	name                     string // with its prefix, as a tree wants it
	open, close, empty, null string
}

func makeTag(local string) tag {
	n := "b:" + local
	return tag{name: n, open: "<" + n + ">", close: "</" + n + ">", empty: "<" + n + "/>", null: "<" + n + ` xsi:nil="true"/>`}
}

// The elements of the echo service.
var (
	tagIn        = makeTag("in")
	tagReturn    = makeTag("return")
	tagA         = makeTag("a")
	tagB         = makeTag("b")
	tagC         = makeTag("c")
	tagD         = makeTag("d")
	tagItems     = makeTag("items")
	tagID        = makeTag("id")
	tagFirstName = makeTag("firstName")
	tagLastName  = makeTag("lastName")
	tagCity      = makeTag("city")
	tagBalance   = makeTag("balance")
	tagActive    = makeTag("active")
)

// parameter returns the one element inside the operation's.
func (m *Message) parameter() *tag {
	if m.Answer {
		return &tagReturn
	}
	return &tagIn
}

func appendMessage(dst []byte, m *Message) []byte {
	dst = append(dst, declaration+openBody+"<b:"...)
	dst = appendOperation(dst, m)
	dst = append(dst, '>')
	switch m.Shape {
	case ShapeText:
		dst = appendString(dst, m.parameter(), &m.Text)
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

func appendBundle(dst []byte, t *tag, b *Bundle) []byte {
	dst = append(dst, t.open...)
	dst = appendBean(dst, &tagA, &b.A)
	dst = appendBean(dst, &tagB, &b.B)
	dst = appendBean(dst, &tagC, &b.C)
	dst = appendBean(dst, &tagD, &b.D)
	for i := range b.Items {
		dst = appendString(dst, &tagItems, &b.Items[i])
	}
	return append(dst, t.close...)
}

func appendBean(dst []byte, t *tag, b *Bean) []byte {
	if b.Nil {
		return append(dst, t.null...)
	}
	dst = append(dst, t.open...)
	dst = append(dst, tagID.open...)
	dst = strconv.AppendInt(dst, int64(b.ID), 10)
	dst = append(dst, tagID.close...)
	dst = appendString(dst, &tagFirstName, &b.FirstName)
	dst = appendString(dst, &tagLastName, &b.LastName)
	dst = appendString(dst, &tagCity, &b.City)
	dst = append(dst, tagBalance.open...)
	dst = appendDouble(dst, b.Balance)
	dst = append(dst, tagBalance.close...)
	dst = append(dst, tagActive.open...)
	dst = strconv.AppendBool(dst, b.Active)
	dst = append(dst, tagActive.close...)
	return append(dst, t.close...)
}

func appendString(dst []byte, t *tag, s *String) []byte {
	switch {
	case s.Nil:
		return append(dst, t.null...)
	case s.Value == "":
		return append(dst, t.empty...)
	}
	dst = append(dst, t.open...)
	dst = appendText(dst, s.Value)
	return append(dst, t.close...)
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
