package envelope

// A reader is the stream model: it goes through the tokens and puts each value where it
// belongs. There is a method for each kind of element; each is called when its start tag was
// the last token, and returns when its end tag was.
//
// The strings of one message share one block of memory, so that a message costs
// one allocation.
type reader struct {
	scanner *Scanner
	soap    Space // of the envelopes it reads
	strings block
}

func (r *reader) read(doc []byte, m *Message) error {
	r.strings.begin(len(doc))
	return r.document(doc, m)
}

// document reads the whole document. A fault is told only once the rest is known to be
// well-formed.
func (r *reader) document(doc []byte, m *Message) error {
	if err := r.scanner.Reset(doc); err != nil {
		return err
	}
	if err := r.root(); err != nil {
		return err
	}
	fault, err := r.parts(m)
	if err != nil {
		return err
	}
	if _, err := r.scanner.Next(); err != nil { // to the end: there is no second root
		return err
	}
	if fault != nil {
		return fault
	}
	return nil
}

// root goes to the envelope's start tag and checks its version.
func (r *reader) root() error {
	s := r.scanner
	if _, err := s.Next(); err != nil {
		return err
	}
	switch {
	case string(s.Local()) != "Envelope":
		return r.wrong(reasonNotEnvelope)
	case s.Space() != r.soap:
		return &Error{Code: CodeVersionMismatch, Offset: s.pos, Reason: reasonVersion(s.URI(), r.uri())}
	}
	return nil
}

// uri returns the namespace of the envelopes it reads.
func (r *reader) uri() string {
	if r.soap == SOAP12Space {
		return SOAP12
	}
	return SOAP11
}

// parts reads the header, which may be absent, the body, and what may follow it: in SOAP 1.1
// elements of other namespaces, which mean nothing here (section 4), in SOAP 1.2 nothing.
func (r *reader) parts(m *Message) (*Fault, error) {
	s := r.scanner
	var fault *Fault
	headed, body := false, false
	for {
		more, err := r.child()
		if err != nil {
			return nil, err
		}
		soap := s.Space() == r.soap
		switch {
		case !more && !body:
			return nil, r.wrong(reasonNoBody)
		case !more:
			return fault, nil
		case soap && !body && string(s.Local()) == "Body":
			body = true
			fault, err = r.body(m)
		case soap && !body && !headed && string(s.Local()) == "Header":
			headed = true
			err = r.header()
		case body && r.soap == SOAP11Space && !soap && s.Space() != NoSpace:
			err = r.skip()
		default:
			err = r.wrong(reasonElement(s.Local(), "the envelope"))
		}
		if err != nil {
			return nil, err
		}
	}
}

// header passes over the blocks of the header and refuses those that have to be understood.
func (r *reader) header() error {
	s := r.scanner
	var strange *Error
	for {
		more, err := r.child()
		switch {
		case err != nil:
			return err
		case !more && strange != nil:
			return strange
		case !more:
			return nil
		}
		must, said := s.Attr(r.soap, mustUnderstand)
		target, _ := s.Attr(r.soap, targetOf(r.soap == SOAP12Space))
		switch yes, reason := demands(s.Space() != NoSpace, string(must), said, string(target)); {
		case reason != "":
			return r.wrong(reason)
		case yes:
			strange = Misunderstood(strange, s.pos, string(s.URI()), string(s.Local()))
		}
		if err := r.skip(); err != nil {
			return err
		}
	}
}

// body reads the one element of the body, an operation or a fault.
func (r *reader) body(m *Message) (*Fault, error) {
	s := r.scanner
	more, err := r.child()
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, r.wrong(reasonNoPayload)
	}
	var fault *Fault
	if s.Space() == r.soap && string(s.Local()) == "Fault" {
		fault, err = r.fault()
	} else {
		err = r.operation(m)
	}
	if err != nil {
		return nil, err
	}
	if more, err = r.child(); err == nil && more {
		err = r.wrong(reasonTwo)
	}
	return fault, err
}

// operation reads the element that is named after the operation and its parameter.
func (r *reader) operation(m *Message) error {
	s := r.scanner
	ok := false
	if m.Shape, m.Answer, ok = operationOf(s.Local()); !ok || s.Space() != EchoSpace {
		return r.wrong(reasonOperation(s.Local(), s.URI()))
	}
	more, err := r.child()
	switch {
	case err != nil:
		return err
	case !more || s.Space() != EchoSpace || string(s.Local()) != m.parameter().name:
		return r.wrong(reasonNoParameter)
	}
	if err := r.value(m.content()); err != nil {
		return err
	}
	if more, err = r.child(); err == nil && more {
		err = r.wrong(reasonNoParameter)
	}
	return err
}

// child goes to the next element inside the current one, or to its end, and refuses text.
func (r *reader) child() (bool, error) {
	for {
		kind, err := r.scanner.Next()
		switch {
		case err != nil:
			return false, err
		case kind != Chars:
			return kind == StartTag, nil
		case !r.scanner.Blank():
			return false, r.wrong(reasonStrayText)
		}
	}
}

// skip goes to the end of the current element.
func (r *reader) skip() error {
	for depth := r.scanner.Depth(); r.scanner.Depth() >= depth; {
		if _, err := r.scanner.Next(); err != nil {
			return err
		}
	}
	return nil
}

// wrong makes the error of a well-formed document that is not what it should be.
func (r *reader) wrong(reason string) error {
	return &Error{Code: CodeClient, Offset: r.scanner.pos, Reason: reason}
}
