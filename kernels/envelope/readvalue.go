package envelope

// bundle reads four beans, of which any may be nil or absent, and the array.
func (r *reader) bundle(b *Bundle) error {
	s := r.scanner
	b.clear()
	var seen field
	for {
		f := fieldItems // most are
		if !s.follows("items") {
			more, err := r.child()
			if err != nil || !more {
				return err
			}
			if f = bundleField(s.Local()); s.Space() != EchoSpace {
				f = 0
			}
		}
		if !seen.add(f, fieldItems) {
			return r.wrong(reasonElement(s.Local(), "a bundle"))
		}
		if err := r.bundleField(b, f); err != nil {
			return err
		}
	}
}

// bundleField reads one field of a bundle.
func (r *reader) bundleField(b *Bundle, f field) error {
	if bean := b.bean(f); bean != nil {
		return r.bean(bean)
	}
	b.Items = append(b.Items, String{})
	return r.string(&b.Items[len(b.Items)-1])
}

// records reads a list of beans and appends them to list.
func (r *reader) records(list []Bean) ([]Bean, error) {
	s := r.scanner
	for {
		if !s.follows(recordName) {
			more, err := r.child()
			if err != nil || !more {
				return list, err
			}
			if s.Space() != EchoSpace || string(s.Local()) != recordName {
				return list, r.wrong(reasonElement(s.Local(), "a list of records"))
			}
		}
		list = append(list, Bean{})
		if err := r.bean(&list[len(list)-1]); err != nil {
			return list, err
		}
	}
}

// bean reads one bean.
func (r *reader) bean(b *Bean) error {
	if null, err := r.null(); null || err != nil {
		*b = Bean{Nil: true}
		return err
	}
	b.clear()
	var seen field
	for likely := fieldID; ; likely <<= 1 {
		f, more, err := r.beanTag(likely)
		switch {
		case err != nil:
			return err
		case !more && seen&mandatory != mandatory:
			return r.wrong(reasonMissing)
		case !more:
			return nil
		case !seen.add(f, 0):
			return r.wrong(reasonElement(r.scanner.Local(), "a bean"))
		}
		if err := r.beanField(b, f); err != nil {
			return err
		}
		likely = f
	}
}

// beanTag goes to the next field of a bean, 0 if it is none, or to the bean's end.
func (r *reader) beanTag(likely field) (f field, more bool, err error) {
	s := r.scanner
	if name := likely.name(); name != "" && s.follows(name) {
		return likely, true, nil
	}
	if more, err = r.child(); err != nil || !more {
		return 0, more, err
	}
	if s.Space() == EchoSpace {
		f = beanField(s.Local())
	}
	return f, true, nil
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
