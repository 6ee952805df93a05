package envelope

// An attribute is one of the current start tag.
type attribute struct {
	name       qname
	begin, end int  // where its value is in the document
	dirty      bool // it holds references or white space that has to be replaced
}

// startTag reads a start tag or an empty element's tag. The name's prefix is looked up last,
// because the tag itself may declare it.
func (s *Scanner) startTag() (Kind, error) {
	switch {
	case s.rooted && len(s.open) == 0:
		return 0, s.errorf(s.pos, "a second root element")
	case len(s.open) >= s.limits.Depth:
		return 0, s.errorf(s.pos, "elements are nested more than %d deep", s.limits.Depth)
	}
	name := s.qname(s.pos + 1)
	if name.local == name.end {
		return 0, s.errorf(name.end, "a name was expected")
	}
	s.attrs = s.attrs[:0]
	keep := len(s.bindings)
	if name.end < len(s.doc) && s.doc[name.end] == '>' {
		s.pos = name.end + 1
	} else if err := s.attributes(name.end); err != nil {
		return 0, err
	}
	var known bool
	if name.space, known = s.Resolve(s.prefixOf(&name)); !known {
		return 0, s.errorf(name.begin, "the prefix %q is not declared", s.prefixOf(&name))
	}
	s.rooted = true
	s.name = name
	s.keep = len(s.bindings)
	s.open = append(s.open, element{name: name, keep: keep})
	return StartTag, nil
}

// follows goes on to the start tag of an element with this local name in the namespace of the
// element around it, if that and nothing else comes next: no attributes, and the prefix of
// the element around it, which so means the same. It is the short way for a reader that
// knows what is likely to come, and changes nothing if something else does.
func (s *Scanner) follows(local string) bool {
	if s.pending || len(s.open) == 0 || len(s.open) >= s.limits.Depth {
		return false
	}
	doc, around := s.doc, &s.open[len(s.open)-1].name
	n := qname{begin: s.pos + 1, space: around.space}
	n.local = n.begin + around.local - around.begin
	n.end = n.local + len(local)
	if n.end >= len(doc) || doc[s.pos] != '<' || doc[n.end] != '>' ||
		string(doc[n.local:n.end]) != local || string(doc[n.begin:n.local]) != string(doc[around.begin:around.local]) {
		return false
	}
	s.bindings, s.attrs = s.bindings[:s.keep], s.attrs[:0]
	s.pos, s.name = n.end+1, n
	s.open = append(s.open, element{name: n, keep: s.keep})
	return true
}

// endTag reads an end tag. It has to have the very bytes of the start tag's name: another
// prefix for the same namespace does not close an element.
func (s *Scanner) endTag() (Kind, error) {
	if len(s.open) == 0 {
		return 0, s.errorf(s.pos, "an end tag without a start tag")
	}
	name := &s.open[len(s.open)-1].name
	i := s.pos + len("</")
	end := i + name.end - name.begin
	if end <= len(s.doc) && string(s.doc[i:end]) == string(s.doc[name.begin:name.end]) {
		end = skipBlank(s.doc, end)
		if end < len(s.doc) && s.doc[end] == '>' {
			s.pos = end + 1
			return s.pop(), nil
		}
	}
	return 0, s.errorf(s.pos, "the element %q is not closed by this end tag", s.localOf(name))
}

// qname reads a name that may have a prefix. If there is none, its local part is empty.
func (s *Scanner) qname(i int) qname {
	n := qname{begin: i, local: i, end: ncName(s.doc, i)}
	if n.end > i && n.end < len(s.doc) && s.doc[n.end] == ':' {
		n.local = n.end + 1
		n.end = ncName(s.doc, n.local)
	}
	return n
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
	name := s.qname(i)
	if name.local == name.end {
		return i, s.errorf(name.end, "a name was expected")
	}
	i = skipBlank(s.doc, name.end)
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
	s.attrs = append(s.attrs, attribute{name: name, begin: i + 1, end: end, dirty: dirty})
	return end + 1, nil
}

// value checks the value of an attribute from i on and returns the place of the closing
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
			next, err := s.reference(i)
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
		if a := &s.attrs[i]; a.name.space == space && string(s.localOf(&a.name)) == local {
			return s.valueOf(a), true
		}
	}
	return nil, false
}

// valueOf returns what the value of an attribute says.
func (s *Scanner) valueOf(a *attribute) []byte {
	value := s.doc[a.begin:a.end]
	if a.dirty {
		value = appendExpanded(nil, value, inValue)
	}
	return value
}
