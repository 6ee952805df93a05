package envelope

import (
	"bytes"
	"fmt"
)

// A Kind is the kind of a token.
type Kind uint8

// The kinds. Comments are checked and passed over.
const (
	StartTag Kind = iota + 1 // a start tag, or an empty element's tag
	EndTag                   // an end tag; it follows an empty element's tag too
	Chars                    // character data or a CDATA section; never outside of the root
	EOF                      // the document is complete and well-formed
)

// A Scanner cuts a document into tokens, one with each Next, without allocating memory for
// them. It reads XML 1.0 (fifth edition) with Namespaces in UTF-8, as far as SOAP allows it
// (1.1, section 3; 1.2 Part 1, section 5): a document type declaration and processing
// instructions are refused. It checks all that makes a document well-formed and
// namespace-well-formed.
//
// A reader goes on like this, and knows after EOF, and not before, that all was well-formed:
//
//	document = [declaration] outside element outside EOF
//	element  = StartTag { Chars | element } EndTag
//
// Three things keep it from allocating. Names and texts are places in the document, not
// copies. Namespaces are numbers, found once for each tag. Its stacks are kept from one
// document to the next.
//
// What its methods return is valid until the next call of Next, Content or Reset.
type Scanner struct {
	limits Limits
	doc    []byte
	pos    int

	open     []element // from the root to the current element
	bindings []binding // of prefixes, the innermost last
	keep     int       // how many bindings stay in scope at the next token
	attrs    []attribute
	spaces   Space // the last number given to a namespace without a name here
	rooted   bool  // the root has begun
	pending  bool  // the last tag was an empty element's: its end is yet to be told

	name    qname  // of the current tag
	raw     []byte // the text as it stands in the document
	form    form   // what has to be done to it
	scratch []byte
}

// An element is one that is open.
type element struct {
	name qname
	keep int // how many bindings there were before its own
}

// A qname is a name as three places in the document, which costs less to keep than slices:
// where it begins, where its local part begins, behind the colon if there is one, and where
// it ends; and the namespace that its prefix stands for.
type qname struct {
	begin, local, end int
	space             Space
}

// localOf returns a name without its prefix.
func (s *Scanner) localOf(n *qname) []byte { return s.doc[n.local:n.end] }

// prefixOf returns the prefix of a name, which may be empty.
func (s *Scanner) prefixOf(n *qname) []byte { return s.doc[n.begin:max(n.begin, n.local-1)] }

// NewScanner makes a scanner within limits.
func NewScanner(l Limits) *Scanner { return &Scanner{limits: l} }

// Reset makes the scanner begin with another document. It reads the byte order mark and the
// XML declaration; the document must not change while it is being read.
func (s *Scanner) Reset(doc []byte) error {
	s.doc, s.pos = doc, 0
	s.open, s.bindings, s.attrs = s.open[:0], s.bindings[:0], s.attrs[:0]
	s.keep, s.spaces, s.rooted, s.pending = 0, firstOther, false, false
	s.name, s.raw = qname{}, nil
	if len(doc) > s.limits.Bytes {
		return s.errorf(0, "the document has %d bytes; allowed are %d", len(doc), s.limits.Bytes)
	}
	return s.declaration()
}

// Next goes on to the next token. After an error, as after EOF, there is no use in going on.
func (s *Scanner) Next() (Kind, error) {
	s.bindings = s.bindings[:s.keep]
	if s.pending {
		s.pending = false
		return s.pop(), nil
	}
	for s.pos < len(s.doc) {
		if s.doc[s.pos] != '<' {
			if len(s.open) > 0 {
				return s.text()
			}
			if err := s.outside(); err != nil {
				return 0, err
			}
			continue
		}
		if kind, err := s.markup(); kind != 0 || err != nil {
			return kind, err
		}
	}
	return s.finish()
}

// markup reads what begins with <. It returns no kind if that was a comment.
func (s *Scanner) markup() (Kind, error) {
	rest := s.doc[s.pos:]
	if len(rest) < 2 {
		return 0, s.errorf(s.pos, "the document ends inside a tag")
	}
	switch rest[1] {
	case '/':
		return s.endTag()
	case '?':
		return 0, s.errorf(s.pos, "a processing instruction is not allowed in a SOAP message")
	case '!':
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			return 0, s.comment()
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			return s.cdata()
		case bytes.HasPrefix(rest, []byte("<!DOCTYPE")):
			return 0, s.errorf(s.pos, "a document type declaration is not allowed in a SOAP message")
		}
		return 0, s.errorf(s.pos, "a declaration is not allowed here")
	}
	return s.startTag()
}

// outside passes over the white space before and after the root.
func (s *Scanner) outside() error {
	s.pos = skipBlank(s.doc, s.pos)
	if s.pos < len(s.doc) && s.doc[s.pos] != '<' {
		return s.errorf(s.pos, "text outside of the root element")
	}
	return nil
}

// finish checks that the document may end where it does.
func (s *Scanner) finish() (Kind, error) {
	switch {
	case len(s.open) > 0:
		return 0, s.errorf(s.pos, "the document ends inside the element %q", s.localOf(&s.open[len(s.open)-1].name))
	case !s.rooted:
		return 0, s.errorf(s.pos, "the document has no element")
	}
	return EOF, nil
}

// pop closes the current element. What it declared stays in scope until the next token, so
// that a name in its text can still be resolved.
func (s *Scanner) pop() Kind {
	last := len(s.open) - 1
	s.name, s.keep = s.open[last].name, s.open[last].keep
	s.open = s.open[:last]
	return EndTag
}

// Local returns the name of the current tag without its prefix.
func (s *Scanner) Local() []byte { return s.localOf(&s.name) }

// Space returns the namespace of the current tag.
func (s *Scanner) Space() Space { return s.name.space }

// Depth tells how many elements are open.
func (s *Scanner) Depth() int { return len(s.open) }

// Offset tells how many bytes of the document have been read.
func (s *Scanner) Offset() int { return s.pos }

// errorf makes the error of a document that is not what it should be.
func (s *Scanner) errorf(at int, format string, args ...any) error {
	return &Error{Code: CodeClient, Offset: at, Reason: fmt.Sprintf(format, args...)}
}
