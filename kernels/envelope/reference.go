package envelope

import (
	"bytes"
	"unicode/utf8"
)

// reference checks the reference that begins with & at i and returns where it ends. Without a document type declaration there are five names and the
// numbers (XML 1.0, sections 4.1 and 4.6).
func (s *Scanner) reference(i int) (int, error) {
	_, length := expand(s.doc[i:])
	if length == 0 {
		return i, s.errorf(i, "a reference to something that does not exist")
	}
	return i + length, nil
}

// expand returns the character that the reference at the start of b stands for, and the
// length of the reference, or 0 if it is none.
func expand(b []byte) (rune, int) {
	switch {
	case bytes.HasPrefix(b, []byte("&#")):
		return numeric(b)
	case bytes.HasPrefix(b, []byte("&lt;")):
		return '<', len("&lt;")
	case bytes.HasPrefix(b, []byte("&gt;")):
		return '>', len("&gt;")
	case bytes.HasPrefix(b, []byte("&amp;")):
		return '&', len("&amp;")
	case bytes.HasPrefix(b, []byte("&apos;")):
		return '\'', len("&apos;")
	case bytes.HasPrefix(b, []byte("&quot;")):
		return '"', len("&quot;")
	}
	return 0, 0
}

// numeric expands a numeric reference, &#65; or &#x41;.
func numeric(b []byte) (rune, int) {
	i, base := len("&#"), rune(10)
	if i < len(b) && b[i] == 'x' {
		i, base = i+1, 16
	}
	begin, r := i, rune(0)
	for ; i < len(b); i++ {
		d := digit(b[i])
		if d >= base {
			break
		}
		if r = r*base + d; r > utf8.MaxRune {
			return 0, 0
		}
	}
	if i == begin || i == len(b) || b[i] != ';' || !isChar(r) {
		return 0, 0
	}
	return r, i + 1
}

// digit returns the value of a hexadecimal digit, or more than any base.
func digit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return 99
}

// appendExpanded appends what raw says, which has been checked, to dst.
func appendExpanded(dst, raw []byte, f form) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '&' && f != inCDATA:
			r, length := expand(raw[i:])
			dst = utf8.AppendRune(dst, r)
			i += length
			continue
		case c == '\r':
			if i+1 < len(raw) && raw[i+1] == '\n' {
				i++
			}
			c = '\n'
		}
		if f == inValue && class[c]&blank != 0 {
			c = ' '
		}
		dst = append(dst, c)
		i++
	}
	return dst
}
