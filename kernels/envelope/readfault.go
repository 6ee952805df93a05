package envelope

// fault reads a fault. Its parts have no namespace in SOAP 1.1 (section 4.4) and that of
// the envelope in SOAP 1.2 (Part 1, section 5.4); others mean nothing here.
func (r *reader) fault() (*Fault, error) {
	var f partial
	space, part := NoSpace, r.faultPart11
	if r.soap == SOAP12Space {
		space, part = SOAP12Space, r.faultPart12
	}
	err := r.each(space, func() error { return part(&f) })
	if err == nil && !f.complete() {
		err = r.wrong(reasonNoCode)
	}
	return &f.Fault, err
}

// each calls do at each element of a namespace inside the current one, and passes over what
// do leaves unread.
func (r *reader) each(space Space, do func() error) error {
	s := r.scanner
	for depth := s.Depth(); ; {
		more, err := r.child()
		if err == nil && more && s.Space() == space {
			err = do()
		}
		if err == nil && more && s.Depth() > depth {
			err = r.skip()
		}
		if err != nil || !more {
			return err
		}
	}
}

// faultPart11 reads one part of a fault of SOAP 1.1.
func (r *reader) faultPart11(f *partial) (err error) {
	switch string(r.scanner.Local()) {
	case "faultcode":
		f.coded = true
		f.Code, err = r.codeName()
	case "faultstring":
		f.told = true
		f.String, err = r.plainText()
	case "faultactor":
		f.Actor, err = r.plainText()
	case "detail":
		f.Detail, err = r.allText()
	}
	return err
}

// faultPart12 reads one part of a fault of SOAP 1.2.
func (r *reader) faultPart12(f *partial) (err error) {
	switch string(r.scanner.Local()) {
	case "Code":
		f.coded = true
		f.Code, err = r.code()
	case "Reason":
		err = r.reason(f)
	case "Node":
		f.Actor, err = r.plainText()
	case "Detail":
		f.Detail, err = r.allText()
	}
	return err
}

// subcode reads a subcode, which some stacks write as nil where they have none.
func (r *reader) subcode() (string, error) {
	if null, err := r.null(); null || err != nil {
		return "", err
	}
	return r.code()
}

// code reads a code and the subcodes inside it. The depth of the document is limited, and so
// is the recursion.
func (r *reader) code() (string, error) {
	code, sub, valued := "", "", false
	err := r.each(SOAP12Space, func() (err error) {
		switch string(r.scanner.Local()) {
		case "Value":
			valued = true
			code, err = r.codeName()
		case "Subcode":
			sub, err = r.subcode()
		}
		return err
	})
	if err == nil && !valued {
		err = r.wrong(reasonNoValue)
	}
	return joinCode(code, sub), err
}

// reason reads the first text of a reason, of which there may be one for each language.
func (r *reader) reason(f *partial) error {
	return r.each(SOAP12Space, func() error {
		if string(r.scanner.Local()) != "Text" {
			return nil
		}
		text, err := r.plainText()
		f.tell(text)
		return err
	})
}

// codeName reads the name of a fault code.
func (r *reader) codeName() (string, error) {
	text, err := r.plainText()
	return codeName(text), err
}

// plainText reads the text of the current element.
func (r *reader) plainText() (string, error) {
	content, err := r.scanner.Content()
	return string(content), err
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
