package envelope

// An attribute is one of the current start tag.
type attribute struct {
	name  qname
	value []byte // as it stands in the document
	dirty bool   // it holds references or white space that has to be replaced
}

// startTag reads a start tag or an empty element's tag.
func (s *Scanner) startTag() (Kind, error) {
	begin := s.pos + 1
	switch {
	case s.rooted && len(s.open) == 0:
		return 0, s.errorf(s.pos, "a second root element")
	case len(s.open) >= s.limits.Depth:
		return 0, s.errorf(s.pos, "elements are nested more than %d deep", s.limits.Depth)
	}
	name, end, err := s.qname(begin)
	if err != nil {
		return 0, err
	}
	s.attrs = s.attrs[:0]
	keep := len(s.bindings)
	if end < len(s.doc) && s.doc[end] == '>' {
		s.pos = end + 1
	} else if err := s.attributes(end); err != nil {
		return 0, err
	}
	var known bool
	if name.space, known = s.Resolve(name.prefix); !known {
		return 0, s.errorf(begin, "the prefix %q is not declared", name.prefix)
	}
	s.rooted = true
	s.name = name
	s.keep = len(s.bindings)
	s.open = append(s.open, element{name: name, keep: keep, begin: begin, end: end})
	return StartTag, nil
}

// endTag reads an end tag.
func (s *Scanner) endTag() (Kind, error) {
	if len(s.open) == 0 {
		return 0, s.errorf(s.pos, "an end tag without a start tag")
	}
	top := &s.open[len(s.open)-1]
	i := s.pos + len("</")
	end := i + top.end - top.begin
	if end > len(s.doc) || string(s.doc[i:end]) != string(s.doc[top.begin:top.end]) {
		return 0, s.errorf(s.pos, "the element %q is not closed by this end tag", top.name.local)
	}
	end = skipBlank(s.doc, end)
	if end == len(s.doc) || s.doc[end] != '>' {
		return 0, s.errorf(s.pos, "the element %q is not closed by this end tag", top.name.local)
	}
	s.pos = end + 1
	return s.pop(), nil
}

// qname reads a name that may have a prefix and returns where it ends.
func (s *Scanner) qname(i int) (qname, int, error) {
	end := ncName(s.doc, i)
	n := qname{local: s.doc[i:end]}
	if end > i && end < len(s.doc) && s.doc[end] == ':' {
		n.prefix = n.local
		i = end + 1
		end = ncName(s.doc, i)
		n.local = s.doc[i:end]
	}
	if end == i {
		return n, end, s.errorf(i, "a name was expected")
	}
	return n, end, nil
}

// attributes reads the attributes from i up to the end of the tag, declares the namespaces
// among them and resolves their prefixes.
func (s *Scanner) attributes(i int) error {
	for {
		next := skipBlank(s.doc, i)
		if next == len(s.doc) {
			return s.errorf(next, "the document ends inside a tag")
		}
		switch {
		case s.doc[next] == '>':
			s.pos = next + 1
			return s.settle()
		case s.doc[next] == '/' && next+1 < len(s.doc) && s.doc[next+1] == '>':
			s.pos, s.pending = next+2, true
			return s.settle()
		case next == i:
			return s.errorf(i, "white space or the end of the tag was expected")
		case len(s.attrs) >= s.limits.Attributes:
			return s.errorf(i, "an element has more than %d attributes", s.limits.Attributes)
		}
		var err error
		if i, err = s.attribute(next); err != nil {
			return err
		}
	}
}

// attribute reads one attribute from i on and returns where it ends.
func (s *Scanner) attribute(i int) (int, error) {
	name, i, err := s.qname(i)
	if err != nil {
		return i, err
	}
	i = skipBlank(s.doc, i)
	if i == len(s.doc) || s.doc[i] != '=' {
		return i, s.errorf(i, "an attribute without a value")
	}
	i = skipBlank(s.doc, i+1)
	if i == len(s.doc) || s.doc[i] != '"' && s.doc[i] != '\'' {
		return i, s.errorf(i, "the value of an attribute is not quoted")
	}
	end, dirty, err := s.value(i+1, s.doc[i])
	if err != nil {
		return i, err
	}
	s.attrs = append(s.attrs, attribute{name: name, value: s.doc[i+1 : end], dirty: dirty})
	return end + 1, nil
}

// value reads the value of an attribute from i on and returns the place of the closing
// quote, and whether the value is other than it stands there.
func (s *Scanner) value(i int, quote byte) (end int, dirty bool, err error) {
	for i < len(s.doc) {
		c := s.doc[i]
		switch {
		case class[c]&stopValue == 0:
			i++
		case c == quote:
			return i, dirty, nil
		case c == '<':
			return i, dirty, s.errorf(i, "the value of an attribute holds a <")
		case c == '&':
			_, next, err := s.reference(i)
			if err != nil {
				return i, dirty, err
			}
			i, dirty = next, true
		case class[c]&blank != 0:
			i, dirty = i+1, true
		default: // the other quote is a character like any other
			width, ok := char(s.doc[i:])
			if !ok {
				return i, dirty, s.errorf(i, "a character that XML cannot hold")
			}
			i += width
		}
	}
	return i, dirty, s.errorf(i, "the document ends inside the value of an attribute")
}

// Attr returns the value of an attribute of the current start tag. An attribute without a
// prefix is in NoSpace.
func (s *Scanner) Attr(space Space, local string) ([]byte, bool) {
	for i := range s.attrs {
		if a := &s.attrs[i]; a.name.space == space && string(a.name.local) == local {
			return s.valueOf(a), true
		}
	}
	return nil, false
}

// valueOf returns what the value of an attribute says.
func (s *Scanner) valueOf(a *attribute) []byte {
	if !a.dirty {
		return a.value
	}
	return appendExpanded(nil, a.value, inValue)
}

// attributeName returns the name of an attribute as it stands in the document.
func (s *Scanner) attributeName(a *attribute) string {
	switch {
	case len(a.name.prefix) > 0:
		return string(a.name.prefix) + ":" + string(a.name.local)
	case a.name.space == XMLNSSpace:
		return "xmlns"
	}
	return string(a.name.local)
}
