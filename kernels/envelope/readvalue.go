package envelope

// record reads the parts of a record, in any order.
func (r *reader) record(rec record) error {
	l := rec.layout()
	if l.nillable {
		if null, err := r.null(); null || err != nil {
			rec.reset(true)
			return err
		}
	}
	rec.reset(false)
	var seen set
	for likely := 0; ; {
		i, more, err := r.part(l, likely)
		switch {
		case err != nil:
			return err
		case !more && seen&l.needed != l.needed:
			return r.wrong(reasonMissing(l))
		case !more:
			return nil
		case !l.takes(i, &seen):
			return r.wrong(reasonElement(r.scanner.Local(), l.what))
		}
		if err := r.value(rec.part(i)); err != nil {
			return err
		}
		likely = l.next(i)
	}
}

// part goes to the next part of a record, -1 if it is none, or to the record's end.
func (r *reader) part(l *layout, likely int) (i int, more bool, err error) {
	s := r.scanner
	if likely < len(l.parts) && s.follows(l.parts[likely].name) {
		return likely, true, nil
	}
	if more, err = r.child(); err != nil || !more || s.Space() != EchoSpace {
		return -1, more, err
	}
	return find(l, s.Local()), true, nil
}

// value reads the current element to where its value lies.
func (r *reader) value(v any) error {
	switch v := v.(type) {
	case *String:
		return r.string(v)
	case *int32, *float64, *bool, *Decimal, *Date: // before the interfaces, which take longer to tell
		content, err := r.scanner.Content()
		if err == nil && !parse(v, content) {
			err = r.wrong(reasonValue(r.scanner.Local()))
		}
		return err
	case *[]String:
		*v = append(*v, String{})
		return r.string(&(*v)[len(*v)-1])
	case list:
		return r.record(v.more())
	case record:
		return r.record(v)
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
	v.Value = r.strings.own(content)
	return nil
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
