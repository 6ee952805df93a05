package envelope

import "unicode/utf8"

// The bits of a byte's class. A byte above 0x7F is never decided by its class: it begins a
// character that has to be decoded.
const (
	stopText  = 1 << iota // needs a second look in character data
	stopValue             // needs a second look in an attribute's value
	nameStart             // begins a name
	nameByte              // goes on in a name
	blank                 // white space
)

// class tells what each byte may be part of; plain which bytes are written as they are.
var (
	class = makeClasses() //nolint:gochecknoglobals // A table that is never changed.
	plain = makePlain()   //nolint:gochecknoglobals // A table that is never changed.
)

func makeClasses() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= utf8.RuneSelf, c == '<', c == '&', c == '\r':
			t[c] |= stopText | stopValue
		case c == ']':
			t[c] |= stopText
		case c == '\t', c == '\n', c == '"', c == '\'':
			t[c] |= stopValue
		case c < ' ':
			t[c] |= stopText | stopValue
		}
		switch {
		case c == ' ', c == '\t', c == '\n', c == '\r':
			t[c] |= blank
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_':
			t[c] |= nameStart | nameByte
		case c >= '0' && c <= '9', c == '-', c == '.':
			t[c] |= nameByte
		}
	}
	return t
}

func makePlain() (t [256]bool) {
	for i := range t {
		c := byte(i)
		special := c == '&' || c == '<' || c == '>'
		t[c] = c >= ' ' && c < utf8.RuneSelf && !special || c == '\t' || c == '\n'
	}
	return t
}

// isChar tells whether XML can hold the character (XML 1.0, fifth edition, production 2).
func isChar(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xE000:
		return r < 0xD800
	default:
		return r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
	}
}

// isNameStart tells whether a character above ASCII may begin a name (production 4).
func isNameStart(r rune) bool {
	switch {
	case r < 0x370:
		return r >= 0xC0 && r <= 0x2FF && r != 0xD7 && r != 0xF7
	case r < 0x2000:
		return r != 0x37E
	case r < 0x3000:
		return r == 0x200C || r == 0x200D || r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF
	case r < 0x10000:
		return r > 0x3000 && r < 0xD800 || r >= 0xF900 && r <= 0xFDCF || r >= 0xFDF0 && r <= 0xFFFD
	default:
		return r <= 0xEFFFF
	}
}

// isNameLater tells whether a character above ASCII may go on in a name, though not begin
// one (production 4a).
func isNameLater(r rune) bool {
	return r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

// char decodes the character at the start of b and tells whether XML can hold it.
func char(b []byte) (width int, ok bool) {
	r, width := utf8.DecodeRune(b)
	return width, isChar(r) && (r != utf8.RuneError || width > 1)
}

// ncName returns the end of the name without a colon that begins at i, or i if there is none
// (Namespaces in XML 1.0, production 4).
func ncName(doc []byte, i int) int {
	begin := i
	for i < len(doc) && class[doc[i]]&nameByte != 0 {
		i++
	}
	switch {
	case i > begin && class[doc[begin]]&nameStart == 0:
		return begin
	case i < len(doc) && doc[i] >= utf8.RuneSelf:
		return longName(doc, begin, i)
	}
	return i
}

// longName goes on with a name that has characters above ASCII.
func longName(doc []byte, begin, i int) int {
	for i < len(doc) {
		if doc[i] < utf8.RuneSelf {
			if class[doc[i]]&nameByte == 0 {
				return i
			}
			i++
			continue
		}
		r, width := utf8.DecodeRune(doc[i:])
		later := i > begin && isNameLater(r)
		if width == 1 || !later && !isNameStart(r) {
			return i
		}
		i += width
	}
	return i
}

// skipBlank returns the place of the first byte from i on that is not white space.
func skipBlank(doc []byte, i int) int {
	for i < len(doc) && class[doc[i]]&blank != 0 {
		i++
	}
	return i
}

// isBlank tells whether b is white space only.
func isBlank(b []byte) bool { return skipBlank(b, 0) == len(b) }

// trim cuts white space off both ends, as the types other than string want it (XML Schema
// Part 2, section 4.3.6, collapse).
func trim(b []byte) []byte {
	b = b[skipBlank(b, 0):]
	for len(b) > 0 && class[b[len(b)-1]]&blank != 0 {
		b = b[:len(b)-1]
	}
	return b
}
