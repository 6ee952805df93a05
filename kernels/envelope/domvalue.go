package envelope

import "github.com/beevik/etree"

// readRecord reads the parts of a record, in any order.
func readRecord(e *etree.Element, rec record) error {
	l := rec.layout()
	if l.nillable {
		if null, err := isNil(e); null || err != nil {
			rec.reset(true)
			return err
		}
	}
	rec.reset(false)
	var seen set
	for _, token := range e.Child {
		child, err := childOf(token)
		if err != nil {
			return err
		}
		if child == nil {
			continue
		}
		i := find(l, child.Tag)
		if !l.takes(i, &seen) || uriOf(child) != Namespace {
			return refuse(reasonElement([]byte(child.Tag), l.what))
		}
		if err := readValue(child, rec.part(i)); err != nil {
			return err
		}
	}
	if seen&l.needed != l.needed {
		return refuse(reasonMissing(l))
	}
	return nil
}

// readValue reads an element to where its value lies.
func readValue(e *etree.Element, v any) error {
	switch v := v.(type) {
	case *String:
		return readString(e, v)
	case *int32, *float64, *bool, *Decimal, *Date:
		text, err := content(e)
		if err == nil && !parse(v, []byte(text)) {
			err = refuse(reasonValue([]byte(e.Tag)))
		}
		return err
	case *[]String:
		*v = append(*v, String{})
		return readString(e, &(*v)[len(*v)-1])
	case list:
		return readRecord(e, v.more())
	case record:
		return readRecord(e, v)
	}
	return nil
}

// readString reads the text of an element, or that it is nil.
func readString(e *etree.Element, v *String) error {
	if null, err := isNil(e); null || err != nil {
		*v = String{Nil: true}
		return err
	}
	text, err := content(e)
	*v = String{Value: text}
	return err
}

// content returns the text of an element that holds nothing else.
func content(e *etree.Element) (string, error) {
	if len(e.Child) == 1 { // as nearly always
		if text, ok := e.Child[0].(*etree.CharData); ok {
			return text.Data, nil
		}
	}
	for _, token := range e.Child {
		if child, ok := token.(*etree.Element); ok {
			return "", refuse(reasonElement([]byte(child.Tag), "text"))
		}
	}
	return e.Text(), nil
}

// isNil tells whether an element has xsi:nil; if so nothing may be inside.
func isNil(e *etree.Element) (bool, error) {
	value, ok := attr(e, Instance, "nil")
	if !ok {
		return false, nil
	}
	null, ok := nilValue([]byte(value))
	switch {
	case !ok:
		return false, refuse(reasonNilValue)
	case !null:
		return false, nil
	}
	text, err := content(e)
	if err == nil && text != "" {
		err = refuse(reasonNilContent)
	}
	return true, err
}
