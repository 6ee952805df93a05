package envelope

import "bytes"

// byteOrderMark is that of UTF-8.
const byteOrderMark = "\xEF\xBB\xBF"

// declaration reads the byte order mark and the XML declaration, both of which may be
// absent, and refuses encodings other than UTF-8.
func (s *Scanner) declaration() error {
	if bytes.HasPrefix(s.doc, []byte(declaration)) {
		s.pos = len(declaration)
		return nil
	}
	if bytes.HasPrefix(s.doc, []byte("\xFE\xFF")) || bytes.HasPrefix(s.doc, []byte("\xFF\xFE")) {
		return s.errorf(0, "the encoding UTF-16 is not allowed; only UTF-8 is")
	}
	if bytes.HasPrefix(s.doc, []byte(byteOrderMark)) {
		s.pos = len(byteOrderMark)
	}
	rest := s.doc[s.pos:]
	if !bytes.HasPrefix(rest, []byte("<?xml")) || len(rest) == 5 || class[rest[5]]&blank == 0 {
		return nil
	}
	s.pos += len("<?xml")
	return s.pseudoAttributes()
}

// pseudoAttributes reads version, encoding and standalone, which come in this order, the
// first always and the others perhaps (XML 1.0, productions 23, 32 and 80).
func (s *Scanner) pseudoAttributes() error {
	version, err := s.pseudoAttribute("version")
	if err != nil {
		return err
	}
	if string(version) != "1.0" {
		return s.errorf(s.pos, "the XML version must be 1.0, not %q", version)
	}
	encoding, err := s.pseudoAttribute("encoding")
	if err != nil {
		return err
	}
	if encoding != nil && !bytes.EqualFold(encoding, []byte("UTF-8")) {
		return s.errorf(s.pos, "the encoding %q is not allowed; only UTF-8 is", encoding)
	}
	alone, err := s.pseudoAttribute("standalone")
	if err != nil {
		return err
	}
	if alone != nil && string(alone) != "yes" && string(alone) != "no" {
		return s.errorf(s.pos, "standalone must be yes or no, not %q", alone)
	}
	s.pos = skipBlank(s.doc, s.pos)
	if !bytes.HasPrefix(s.doc[s.pos:], []byte("?>")) {
		return s.errorf(s.pos, "the XML declaration is malformed")
	}
	s.pos += len("?>")
	return nil
}

// pseudoAttribute reads one of them and returns its value, or nil if another comes first.
func (s *Scanner) pseudoAttribute(name string) ([]byte, error) {
	i := skipBlank(s.doc, s.pos)
	if i == s.pos || !bytes.HasPrefix(s.doc[i:], []byte(name)) {
		return nil, nil
	}
	i = skipBlank(s.doc, i+len(name))
	if i == len(s.doc) || s.doc[i] != '=' {
		return nil, s.errorf(i, "the XML declaration is malformed")
	}
	i = skipBlank(s.doc, i+1)
	if i == len(s.doc) || s.doc[i] != '"' && s.doc[i] != '\'' {
		return nil, s.errorf(i, "the XML declaration is malformed")
	}
	length := bytes.IndexByte(s.doc[i+1:], s.doc[i])
	if length < 0 {
		return nil, s.errorf(i, "the XML declaration is malformed")
	}
	s.pos = i + length + 2
	return s.doc[i+1 : i+1+length], nil
}
