package envelope

import "github.com/beevik/etree"

// readBundle reads four beans, of which any may be nil or absent, and the array.
func readBundle(e *etree.Element, b *Bundle) error {
	list, err := children(e)
	if err != nil {
		return err
	}
	b.clear()
	var seen field
	for _, child := range list {
		f := bundleField([]byte(child.Tag))
		if !seen.add(f, fieldItems) || uriOf(child) != Namespace {
			return refuse(reasonElement([]byte(child.Tag), "a bundle"))
		}
		if bean := b.bean(f); bean != nil {
			err = readBean(child, bean)
		} else {
			b.Items = append(b.Items, String{})
			err = readString(child, &b.Items[len(b.Items)-1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRecords reads a list of beans.
func readRecords(e *etree.Element, m *Message) error {
	m.Records = m.Records[:0]
	list, err := children(e)
	if err != nil {
		return err
	}
	for _, child := range list {
		if !is(child, Namespace, recordName) {
			return refuse(reasonElement([]byte(child.Tag), "a list of records"))
		}
		m.Records = append(m.Records, Bean{})
		if err := readBean(child, &m.Records[len(m.Records)-1]); err != nil {
			return err
		}
	}
	return nil
}

// readBean reads one bean.
func readBean(e *etree.Element, b *Bean) error {
	if null, err := isNil(e); null || err != nil {
		*b = Bean{Nil: true}
		return err
	}
	list, err := children(e)
	if err != nil {
		return err
	}
	b.clear()
	var seen field
	for _, child := range list {
		f := beanField([]byte(child.Tag))
		if !seen.add(f, 0) || uriOf(child) != Namespace {
			return refuse(reasonElement([]byte(child.Tag), "a bean"))
		}
		if err := readField(child, b, f); err != nil {
			return err
		}
	}
	if seen&mandatory != mandatory {
		return refuse(reasonMissing)
	}
	return nil
}

// readField reads one field of a bean.
func readField(e *etree.Element, b *Bean, f field) error {
	if text := b.text(f); text != nil {
		return readString(e, text)
	}
	text, err := content(e)
	if err != nil {
		return err
	}
	if !b.parse(f, []byte(text)) {
		return refuse(reasonValue([]byte(e.Tag)))
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
