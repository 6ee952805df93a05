package soap

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"

	"benchd/kernels/envelope"
)

// inlineLimit bounds a message whose content stands in its envelope: base64 takes a third more
// than what it says (RFC 4648, section 4), and its lines have ends.
const inlineLimit = attachmentLimit/2*3 + rootLimit

// A splitter parts an envelope from the base64 that elements called content may hold
// (xsd:base64Binary, XML Schema Part 2, section 3.2.16), as the bytes come in. What is left is
// small, whatever the content's length: where a content was stands its number, and of the
// content itself are kept length and checksum.
//
//	<a:content>iVBORw0KGgo=</a:content>    becomes    <a:content>0</a:content>
//
// It knows of XML just what tells text from markup. Whether what is left is an envelope, and
// whether a content is the one that counts, is for the reader of what is left to say.
type splitter struct {
	doc   []byte    // what is left
	found []receipt // the contents, by number

	state    splitState
	name     int    // where in doc the name of the current tag begins
	quote    byte   // of the attribute's value, or 0
	mark     []byte // markup that is not known yet, or a reference in a content
	ends     int    // bytes in a row of what ends the current markup
	inside   bool   // a content
	cdata    bool   // the section is in a content
	numbered bool   // the content has a number
	over     bool   // its base64 is at its end
	quantum  []byte // base64 that is not decoded yet
	decoded  []byte
	full     error // that the envelope is too long
}

// A splitState is what the next byte belongs to.
type splitState uint8

const (
	inText splitState = iota
	atMarkup
	atBang
	inTag
	inComment
	inCDATA
	inInstruction
	inDeclaration
	inReference
)

// quantumSize is how much base64 is decoded at once: a number of whole groups of four.
const quantumSize = 4 << 10

func newSplitter() *splitter {
	return &splitter{quantum: make([]byte, 0, quantumSize), decoded: make([]byte, quantumSize)}
}

// reset makes the splitter ready for another envelope.
func (s *splitter) reset() {
	*s = splitter{doc: s.doc[:0], found: s.found[:0], mark: s.mark[:0], quantum: s.quantum[:0], decoded: s.decoded}
}

// write takes more of the envelope in. Its errors are of type *envelope.Error, and errTooLarge.
func (s *splitter) write(p []byte) error {
	for _, c := range p {
		if err := s.take(c); err != nil {
			return err
		}
	}
	return s.full
}

// take takes one byte in.
func (s *splitter) take(c byte) error {
	switch s.state {
	case inText:
		return s.text(c)
	case atMarkup:
		return s.markup(c)
	case atBang:
		s.bang(c)
	case inTag:
		s.tag(c)
	case inCDATA:
		return s.section(c)
	case inReference:
		return s.reference(c)
	case inComment:
		s.put(c)
		s.until(c, '-', 2)
	case inInstruction:
		s.put(c)
		s.until(c, '?', 1)
	case inDeclaration:
		s.put(c)
		s.until(c, 0, 0)
	}
	return nil
}

// put leaves a byte in the envelope.
func (s *splitter) put(c byte) {
	if len(s.doc) >= rootLimit {
		s.full = bad("the envelope is longer than %d bytes, without the content in it", rootLimit)
		return
	}
	s.doc = append(s.doc, c)
}

// leave leaves the markup that has come in so far, and goes on in a state.
func (s *splitter) leave(next splitState) {
	for _, c := range s.mark {
		s.put(c)
	}
	s.mark, s.state, s.ends = s.mark[:0], next, 0
}

// text takes a byte of text, or the one that begins markup.
func (s *splitter) text(c byte) error {
	switch {
	case c == '<':
		s.mark, s.state = append(s.mark[:0], c), atMarkup
	case !s.inside:
		s.put(c)
	case c == '&':
		s.mark, s.state = s.mark[:0], inReference
	default:
		return s.content(c)
	}
	return nil
}

// markup takes the byte that follows the one that begins markup.
func (s *splitter) markup(c byte) error {
	switch c {
	case '!':
		s.mark, s.state = append(s.mark, c), atBang
		return nil
	case '?':
		s.mark = append(s.mark, c)
		s.leave(inInstruction)
		return nil
	}
	if err := s.finish(); err != nil {
		return err
	}
	s.leave(inTag)
	s.name, s.quote = len(s.doc), 0
	s.tag(c)
	return nil
}

// bang takes a byte of what begins a comment, a CDATA section or a declaration.
func (s *splitter) bang(c byte) {
	s.mark = append(s.mark, c)
	switch comment, section := "<!--", "<![CDATA["; {
	case string(s.mark) == comment:
		s.leave(inComment)
	case string(s.mark) == section:
		if s.cdata = s.inside; s.cdata {
			s.mark = s.mark[:0]
		}
		s.leave(inCDATA)
	case bytes.HasPrefix([]byte(comment), s.mark), bytes.HasPrefix([]byte(section), s.mark):
	default:
		s.leave(inDeclaration)
		s.until(c, 0, 0)
	}
}

// until goes back to text at a > that stands behind at least so many of another byte.
func (s *splitter) until(c, before byte, times int) {
	switch {
	case c == '>' && s.ends >= times:
		s.state = inText
	case c == before:
		s.ends++
	default:
		s.ends = 0
	}
}

// section takes a byte of a CDATA section. Of one in a content nothing is left.
func (s *splitter) section(c byte) error {
	switch ends := c == ']' || c == '>' && s.ends >= 2; {
	case !s.cdata:
		s.put(c)
	case !ends && s.ends > 0:
		return notBase64(']')
	case !ends:
		return s.content(c)
	}
	s.until(c, ']', 2)
	return nil
}

// tag takes a byte of a tag.
func (s *splitter) tag(c byte) {
	s.put(c)
	switch {
	case s.quote != 0:
		if c == s.quote {
			s.quote = 0
		}
	case c == '"' || c == '\'':
		s.quote = c
	case c == '>':
		s.state = inText
		s.inside = s.full == nil && beginsContent(s.doc[s.name:len(s.doc)-1])
	}
}

// beginsContent tells whether a tag begins an element called content that may hold something.
func beginsContent(tag []byte) bool {
	if bytes.HasPrefix(tag, []byte("/")) || bytes.HasSuffix(tag, []byte("/")) {
		return false
	}
	if i := bytes.IndexAny(tag, " \t\r\n"); i >= 0 {
		tag = tag[:i]
	}
	return string(tag[bytes.IndexByte(tag, ':')+1:]) == "content"
}

// reference takes a byte of a reference in a content. There may be such to white space only:
// stacks write the ends of lines so.
func (s *splitter) reference(c byte) error {
	if c != ';' {
		if s.mark = append(s.mark, c); len(s.mark) > len("#x0000A") {
			return notBase64('&')
		}
		return nil
	}
	s.state = inText
	number, ok := bytes.CutPrefix(s.mark, []byte("#"))
	base := 10
	if hex, is := bytes.CutPrefix(number, []byte("x")); is {
		number, base = hex, 16
	}
	if n, err := strconv.ParseUint(string(number), base, 8); !ok || err != nil || !isSpace(byte(n)) {
		return notBase64('&')
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// content takes a byte of base64. The first gives the content its number.
func (s *splitter) content(c byte) error {
	if isSpace(c) {
		return nil
	}
	if !s.numbered {
		if len(s.found) == partsLimit {
			return bad("the envelope has more than %d contents", partsLimit)
		}
		for _, digit := range []byte(strconv.Itoa(len(s.found))) {
			s.put(digit)
		}
		s.numbered, s.over, s.found = true, false, append(s.found, receipt{})
	}
	if s.over {
		return bad("the base64 of the content goes on behind its end")
	}
	if s.quantum = append(s.quantum, c); len(s.quantum) == quantumSize {
		return s.decode()
	}
	return nil
}

// decode takes the base64 in that has come.
func (s *splitter) decode() error {
	n, err := base64.StdEncoding.Strict().Decode(s.decoded, s.quantum)
	if err != nil {
		return bad("the content is not base64")
	}
	got := &s.found[len(s.found)-1]
	got.length += int64(n)
	got.checksum = crc32.Update(got.checksum, crc32.IEEETable, s.decoded[:n])
	s.over = n < len(s.quantum)/4*3 // it was padded
	s.quantum = s.quantum[:0]
	if got.length > attachmentLimit {
		return errTooLarge
	}
	return nil
}

// finish ends the content at the next tag.
func (s *splitter) finish() error {
	numbered := s.numbered
	s.inside, s.numbered = false, false
	if !numbered {
		return nil
	}
	return s.decode()
}

func notBase64(c byte) error { return bad("the content is not base64: it has a %q", c) }

// bad makes the error of an envelope that is wrong at a place that is not known.
func bad(format string, args ...any) error {
	return &envelope.Error{Code: envelope.CodeClient, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}
