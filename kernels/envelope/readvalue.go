package envelope

import "bytes"

// bundle reads four beans, of which any may be nil or absent, and the array.
func (r *reader) bundle(b *Bundle) error {
	s := r.scanner
	b.clear()
	var seen field
	for {
		more, err := r.child()
		if err != nil || !more {
			return err
		}
		f := bundleField(s.Local())
		if s.Space() != EchoSpace || !seen.add(f, fieldItems) {
			return r.wrong(reasonElement(s.Local(), "a bundle"))
		}
		if bean := b.bean(f); bean != nil {
			err = r.bean(bean)
		} else {
			b.Items = append(b.Items, String{})
			err = r.string(&b.Items[len(b.Items)-1])
		}
		if err != nil {
			return err
		}
	}
}

// bean reads one bean.
func (r *reader) bean(b *Bean) error {
	if null, err := r.null(); null || err != nil {
		*b = Bean{Nil: true}
		return err
	}
	s := r.scanner
	b.clear()
	var seen field
	for {
		more, err := r.child()
		if err != nil {
			return err
		}
		if !more {
			if reason := missing(seen); reason != "" {
				return r.wrong(reason)
			}
			return nil
		}
		f := beanField(s.Local())
		if s.Space() != EchoSpace || !seen.add(f, 0) {
			return r.wrong(reasonElement(s.Local(), "a bean"))
		}
		if err := r.beanField(b, f); err != nil {
			return err
		}
	}
}

// beanField reads one field of a bean.
func (r *reader) beanField(b *Bean, f field) error {
	if text := b.text(f); text != nil {
		return r.string(text)
	}
	content, err := r.scanner.Content()
	if err != nil {
		return err
	}
	if !b.parse(f, content) {
		return r.wrong(reasonValue(r.scanner.Local()))
	}
	return nil
}

// string reads the text of the current element, or that it is nil.
func (r *reader) string(v *String) error {
	if null, err := r.null(); null || err != nil {
		*v = String{Nil: true}
		return err
	}
	content, err := r.scanner.Content()
	if err != nil {
		return err
	}
	v.Nil = false
	v.Value = r.own(content)
	return nil
}

// own copies a text to the memory of the message and returns it as a string. The builder
// never changes what it has written, even when it moves on to a larger block.
func (r *reader) own(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	begin := r.text.Len()
	r.text.Write(b)
	return r.text.String()[begin:]
}

// null tells whether the current element has xsi:nil; if so it goes to the element's end,
// since nothing may be inside.
func (r *reader) null() (bool, error) {
	s := r.scanner
	value, ok := s.Attr(InstanceSpace, "nil")
	if !ok {
		return false, nil
	}
	null, ok := nilValue(value)
	if !ok {
		return false, r.wrong(reasonNilValue)
	}
	if !null {
		return false, nil
	}
	content, err := s.Content()
	if err == nil && len(content) > 0 {
		err = r.wrong(reasonNilContent)
	}
	return true, err
}

// fault reads a fault. Its parts have no namespace (SOAP 1.1, section 4.4).
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
		case s.Space() != NoSpace:
			err = r.skip()
		default:
			err = r.faultPart(f, &coded, &told)
		}
		if err != nil {
			return nil, err
		}
	}
}

// faultPart reads one part of a fault.
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
