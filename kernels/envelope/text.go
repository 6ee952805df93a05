package envelope

import (
	"bytes"
	"unicode/utf8"
)

// A form says what has to be done to a text before it is what its writer meant.
type form uint8

const (
	asIs    form = iota
	inText       // references, and line ends become line feeds (XML 1.0, section 2.11)
	inCDATA      // line ends only
	inValue      // references, and white space becomes spaces (section 3.3.3)
)

// text reads character data up to the next markup. The plain run between two special places
// is passed over eight bytes at a time, which is where most bytes of a large document are.
func (s *Scanner) text() (Kind, error) {
	doc, i := s.doc, s.pos
	f := asIs
	i += plainRun(doc, i)
	for i < len(doc) {
		c := doc[i]
		switch {
		case class[c]&stopText == 0:
			if i++; c < ' ' {
				i += plainRun(doc, i) // the next line
			}
		case c == '<':
			s.raw, s.form = doc[s.pos:i], f
			s.pos = i
			return Chars, nil
		case c == '&':
			next, err := s.reference(i)
			if err != nil {
				return 0, err
			}
			i, f = next, inText
			i += plainRun(doc, i)
		case c == '\r':
			i, f = i+1, inText
		case c == ']':
			if bytes.HasPrefix(doc[i:], []byte("]]>")) {
				return 0, s.errorf(i, "]]> is not allowed in text")
			}
			i++
		default:
			width, ok := char(doc[i:])
			if !ok {
				return 0, s.errorf(i, "a character that XML cannot hold")
			}
			i += width
			i += plainRun(doc, i)
		}
	}
	s.pos = i
	return s.finish()
}

// cdata reads a CDATA section as a text.
func (s *Scanner) cdata() (Kind, error) {
	if len(s.open) == 0 {
		return 0, s.errorf(s.pos, "text outside of the root element")
	}
	begin := s.pos + len("<![CDATA[")
	length := bytes.Index(s.doc[begin:], []byte("]]>"))
	if length < 0 {
		return 0, s.errorf(s.pos, "the document ends inside a CDATA section")
	}
	s.raw, s.form = s.doc[begin:begin+length], asIs
	if bytes.IndexByte(s.raw, '\r') >= 0 {
		s.form = inCDATA
	}
	if err := s.chars(begin, begin+length, "a CDATA section"); err != nil {
		return 0, err
	}
	s.pos = begin + length + len("]]>")
	return Chars, nil
}

// comment passes over a comment. Two hyphens end it, so they cannot stand inside.
func (s *Scanner) comment() error {
	begin := s.pos + len("<!--")
	length := bytes.Index(s.doc[begin:], []byte("--"))
	if length < 0 {
		return s.errorf(s.pos, "the document ends inside a comment")
	}
	end := begin + length + len("--")
	if end == len(s.doc) || s.doc[end] != '>' {
		return s.errorf(end, "a comment holds --")
	}
	if err := s.chars(begin, begin+length, "a comment"); err != nil {
		return err
	}
	s.pos = end + 1
	return nil
}

// chars checks that a part of the document has only characters that XML can hold.
func (s *Scanner) chars(begin, end int, where string) error {
	for i := begin; i < end; {
		if c := s.doc[i]; c >= ' ' && c < utf8.RuneSelf {
			i++
			continue
		}
		width, ok := char(s.doc[i:end])
		if !ok {
			return s.errorf(i, "%s holds a character that XML cannot hold", where)
		}
		i += width
	}
	return nil
}

// AppendText appends the current text to dst, with its references replaced and its line
// ends made line feeds, and returns the longer slice.
func (s *Scanner) AppendText(dst []byte) []byte {
	if s.form == asIs {
		return append(dst, s.raw...)
	}
	return appendExpanded(dst, s.raw, s.form)
}

// Blank tells whether the current text is white space only.
func (s *Scanner) Blank() bool {
	if s.form == asIs {
		return isBlank(s.raw)
	}
	s.scratch = s.AppendText(s.scratch[:0])
	return isBlank(s.scratch)
}

// leafRoom is how far leaf looks one byte at a time.
const leafRoom = 64

// leaf reads a plain text and the end tag behind it in one go, which is all there is inside
// most elements; two tokens apart would cost more than the few bytes they are. If there is
// anything else it changes nothing, and the text is read once more.
func (s *Scanner) leaf() ([]byte, bool) {
	if s.pending || len(s.open) == 0 {
		return nil, false
	}
	doc, begin, name := s.doc, s.pos, &s.open[len(s.open)-1].name
	i := begin + plainRun(doc, begin)
	for most := min(len(doc), i+leafRoom); i < most && class[doc[i]]&stopText == 0; {
		i++
	}
	from := i + len("</")
	end := from + name.end - name.begin
	if end >= len(doc) || doc[i] != '<' || doc[i+1] != '/' || doc[end] != '>' || string(doc[from:end]) != string(doc[name.begin:name.end]) {
		return nil, false
	}
	s.pos = end + 1
	s.pop()
	return doc[begin:i], true
}

// Content reads the text of the current element up to its end tag. An element inside is an
// error.
func (s *Scanner) Content() ([]byte, error) {
	if got, ok := s.leaf(); ok {
		return got, nil
	}
	var got []byte
	owned := false // got lies in scratch, not in the document
	for {
		kind, err := s.Next()
		switch {
		case err != nil:
			return nil, err
		case kind == EndTag:
			return got, nil
		case kind == StartTag:
			return nil, s.errorf(s.pos, "the element %q stands where only text is allowed", s.Local())
		case got == nil && s.form == asIs:
			got = s.raw
		default:
			if !owned {
				s.scratch = append(s.scratch[:0], got...)
				owned = true
			}
			s.scratch = s.AppendText(s.scratch)
			got = s.scratch
		}
	}
}
