package envelope

// A Space stands for a namespace. Those that are known here have names; every other gets a
// number while it is in scope, so that two are compared without comparing URIs.
type Space int

// The namespaces with names.
const (
	NoSpace       Space = iota // no namespace
	XMLSpace                   // that of xml:lang and xml:space
	XMLNSSpace                 // that of declarations
	SOAP11Space                // SOAP11
	SOAP12Space                // SOAP12
	InstanceSpace              // Instance
	EchoSpace                  // Namespace
	firstOther                 // the numbers above are given to others
)

const (
	xmlURI   = "http://www.w3.org/XML/1998/namespace"
	xmlnsURI = "http://www.w3.org/2000/xmlns/"
)

// Bindings form a stack: a start tag pushes those that it declares, and its end tag takes
// them off again. To look up a prefix is to search from the top, where it nearly always is.
// A number given to a namespace is never given to another in the same document, so that a
// name kept from an outer element still means what it did.
//
// A binding is a prefix, or the empty one of the default namespace, and what it stands for.
type binding struct {
	prefix, uri []byte
	space       Space
}

// Resolve returns the namespace that a prefix stands for in the current element, and
// whether the prefix is declared. The empty prefix always is.
func (s *Scanner) Resolve(prefix []byte) (Space, bool) {
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if string(s.bindings[i].prefix) == string(prefix) {
			return s.bindings[i].space, true
		}
	}
	switch string(prefix) {
	case "":
		return NoSpace, true
	case "xml":
		return XMLSpace, true
	}
	return NoSpace, false
}

// URI returns the namespace of the current tag as its URI.
func (s *Scanner) URI() []byte {
	if s.name.space == XMLSpace {
		return []byte(xmlURI)
	}
	for i := range s.bindings {
		if s.bindings[i].space == s.name.space {
			return s.bindings[i].uri
		}
	}
	return nil
}

// settle declares the namespaces among the attributes of a tag, resolves the prefixes of
// the others, and refuses an attribute that is there twice.
func (s *Scanner) settle() error {
	for i := range s.attrs {
		if err := s.declare(&s.attrs[i]); err != nil {
			return err
		}
	}
	for i := range s.attrs {
		a := &s.attrs[i]
		if prefix := s.prefixOf(&a.name); a.name.space != XMLNSSpace && len(prefix) > 0 {
			var known bool
			if a.name.space, known = s.Resolve(prefix); !known {
				return s.errorf(s.pos, "the prefix %q is not declared", prefix)
			}
		}
		for j := range s.attrs[:i] {
			b := &s.attrs[j]
			if a.name.space == b.name.space && string(s.localOf(&a.name)) == string(s.localOf(&b.name)) {
				return s.errorf(s.pos, "the attribute %q is there twice", s.doc[a.name.begin:a.name.end])
			}
		}
	}
	return nil
}

// declare binds a prefix if the attribute declares one (Namespaces in XML 1.0, section 3).
// The name of a default namespace's is made one without a local part, which no other has.
func (s *Scanner) declare(a *attribute) error {
	var prefix []byte
	switch {
	case string(s.doc[a.name.begin:a.name.end]) == "xmlns":
		a.name.local = a.name.end
	case string(s.prefixOf(&a.name)) == "xmlns":
		prefix = s.localOf(&a.name)
	default:
		return nil
	}
	a.name.space = XMLNSSpace
	uri := s.valueOf(a)
	if err := s.allowed(prefix, uri); err != nil {
		return err
	}
	if string(prefix) == "xml" {
		return nil // bound for ever
	}
	if len(s.bindings) >= s.limits.Namespaces {
		return s.errorf(s.pos, "more than %d namespaces are declared", s.limits.Namespaces)
	}
	s.bindings = append(s.bindings, binding{prefix: prefix, uri: uri, space: s.number(uri)})
	return nil
}

// allowed refuses the declarations that the recommendation reserves.
func (s *Scanner) allowed(prefix, uri []byte) error {
	switch {
	case string(prefix) == "xmlns", string(uri) == xmlnsURI:
		return s.errorf(s.pos, "the prefix xmlns cannot be declared")
	case (string(prefix) == "xml") != (string(uri) == xmlURI):
		return s.errorf(s.pos, "the prefix xml stands for its own namespace only")
	case prefix != nil && len(uri) == 0:
		return s.errorf(s.pos, "the prefix %q is declared as no namespace", prefix)
	}
	return nil
}

// number returns what stands for a URI: its own constant, the number it has already in
// scope, or a new one.
func (s *Scanner) number(uri []byte) Space {
	switch string(uri) {
	case "":
		return NoSpace
	case SOAP11:
		return SOAP11Space
	case SOAP12:
		return SOAP12Space
	case Instance:
		return InstanceSpace
	case Namespace:
		return EchoSpace
	}
	for i := range s.bindings {
		if string(s.bindings[i].uri) == string(uri) {
			return s.bindings[i].space
		}
	}
	s.spaces++
	return s.spaces
}
