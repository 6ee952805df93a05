package envelope

import "unicode/utf8"

const (
	declaration = `<?xml version="1.0" encoding="UTF-8"?>`
	open11      = `<soap:Envelope xmlns:soap="` + SOAP11 + `" xmlns:xsi="` + Instance + `" xmlns:b="` + Namespace + `">`
	open12      = `<soap:Envelope xmlns:soap="` + SOAP12 + `" xmlns:xsi="` + Instance + `" xmlns:b="` + Namespace + `">`
	closeBody   = `</soap:Body></soap:Envelope>`
)

// openEnvelope returns the start tag of an envelope.
func openEnvelope(v Version) string {
	if v == V12 {
		return open12
	}
	return open11
}

func appendMessage(dst []byte, m *Message, v Version) []byte {
	dst = append(dst, declaration...)
	dst = append(dst, openEnvelope(v)...)
	dst = append(dst, "<soap:Body><b:"...)
	dst = appendOperation(dst, m)
	dst = append(dst, '>')
	dst = appendContent(dst, m.parameter(), m.content())
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

// appendContent writes the element of a part, or one for each value of its list.
func appendContent(dst []byte, p *part, v any) []byte {
	switch v := v.(type) {
	case *String:
		return appendString(dst, p, v)
	case *int32, *float64, *bool, *Decimal, *Date: // before the interfaces, which take longer to tell
		dst = append(dst, p.open...)
		dst = appendSimple(dst, v)
		return append(dst, p.close...)
	case *[]String:
		for i := range *v {
			dst = appendString(dst, p, &(*v)[i])
		}
	case list:
		for i := range v.size() {
			dst = appendRecord(dst, p, v.at(i))
		}
	case record:
		dst = appendRecord(dst, p, v)
	}
	return dst
}

func appendRecord(dst []byte, p *part, rec record) []byte {
	if rec.isNil() {
		return appendNil(dst, p)
	}
	dst = append(dst, p.open...)
	l := rec.layout()
	for i := range l.parts {
		dst = appendContent(dst, &l.parts[i], rec.part(i))
	}
	return append(dst, p.close...)
}

func appendString(dst []byte, p *part, s *String) []byte {
	switch {
	case s.Nil:
		return appendNil(dst, p)
	case s.Value == "":
		return append(append(dst, p.open[:len(p.open)-1]...), "/>"...)
	}
	dst = append(dst, p.open...)
	dst = appendText(dst, s.Value)
	return append(dst, p.close...)
}

// appendNil writes an element that is nil.
func appendNil(dst []byte, p *part) []byte {
	return append(append(dst, p.open[:len(p.open)-1]...), ` xsi:nil="true"/>`...)
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
