package envelope

import "bytes"

// fault reads a fault. Its parts have no namespace in SOAP 1.1 (section 4.4) and that of
// the envelope in SOAP 1.2 (Part 1, section 5.4).
func (r *reader) fault() (*Fault, error) {
	s := r.scanner
	f := &Fault{}
	coded, told := false, false
	for {
		more, err := r.child()
		switch {
		case err != nil:
			return nil, err
		case !more && (!coded || !told):
			return nil, r.wrong(reasonNoCode)
		case !more:
			return f, nil
		case r.soap == SOAP12Space && s.Space() == SOAP12Space:
			err = r.faultPart12(f, &coded, &told)
		case r.soap == SOAP11Space && s.Space() == NoSpace:
			err = r.faultPart(f, &coded, &told)
		default:
			err = r.skip()
		}
		if err != nil {
			return nil, err
		}
	}
}

// faultPart reads one part of a fault of SOAP 1.1.
func (r *reader) faultPart(f *Fault, coded, told *bool) (err error) {
	s := r.scanner
	var content []byte
	switch string(s.Local()) {
	case "faultcode":
		*coded = true
		content, err = s.Content()
		f.Code = codeName(content)
	case "faultstring":
		*told = true
		content, err = s.Content()
		f.String = string(content)
	case "faultactor":
		content, err = s.Content()
		f.Actor = string(content)
	case "detail":
		f.Detail, err = r.allText()
	default:
		err = r.skip()
	}
	return err
}

// faultPart12 reads one part of a fault of SOAP 1.2.
func (r *reader) faultPart12(f *Fault, coded, told *bool) (err error) {
	s := r.scanner
	var content []byte
	switch string(s.Local()) {
	case "Code":
		*coded = true
		f.Code, err = r.code()
	case "Reason":
		*told, err = r.reason(f)
	case "Node":
		content, err = s.Content()
		f.Actor = string(content)
	case "Detail":
		f.Detail, err = r.allText()
	default:
		err = r.skip()
	}
	return err
}

// code reads a code and the subcodes inside it. The depth of the document is limited, and so
// is the recursion.
func (r *reader) code() (string, error) {
	s := r.scanner
	code, sub, valued := "", "", false
	for {
		more, err := r.child()
		switch {
		case err != nil:
			return "", err
		case !more && !valued:
			return "", r.wrong(reasonNoValue)
		case !more:
			return joinCode(code, sub), nil
		case s.Space() == SOAP12Space && string(s.Local()) == "Value":
			valued = true
			var content []byte
			content, err = s.Content()
			code = codeName(content)
		case s.Space() == SOAP12Space && string(s.Local()) == "Subcode":
			sub, err = r.code()
		default:
			err = r.skip()
		}
		if err != nil {
			return "", err
		}
	}
}

// reason reads the first text of a reason, of which there may be one for each language, and
// tells whether there is one.
func (r *reader) reason(f *Fault) (told bool, err error) {
	s := r.scanner
	for {
		more, err := r.child()
		if err != nil || !more {
			return told, err
		}
		if s.Space() != SOAP12Space || string(s.Local()) != "Text" {
			if err := r.skip(); err != nil {
				return false, err
			}
			continue
		}
		content, err := s.Content()
		if err != nil {
			return false, err
		}
		if !told {
			f.String, told = string(content), true
		}
	}
}

// joinCode makes one code of that of SOAP 1.2 and its subcodes.
func joinCode(code, sub string) string {
	if code = commonCode(code); sub == "" {
		return code
	}
	return code + "." + sub
}

// codeName returns the name of a fault code without its prefix. The prefix stands for the
// SOAP namespace or for that of whoever made the code; many stacks leave it out.
func codeName(qname []byte) string {
	qname = trim(qname)
	return string(qname[bytes.IndexByte(qname, ':')+1:])
}

// allText returns the text of the current element and all inside it.
func (r *reader) allText() (string, error) {
	s := r.scanner
	var text []byte
	for depth := s.Depth(); s.Depth() >= depth; {
		kind, err := s.Next()
		if err != nil {
			return "", err
		}
		if kind == Chars {
			text = s.AppendText(text)
		}
	}
	return string(trim(text)), nil
}
