package envelope

import (
	"strings"

	"github.com/beevik/etree"
)

// readFault returns the fault that the element says, part by part as the stream model does.
func readFault(e *etree.Element, uri string) error {
	var f partial
	space, part := "", f.readPart11
	if uri == SOAP12 {
		space, part = SOAP12, f.readPart12
	}
	if err := each(e, space, part); err != nil {
		return err
	}
	if !f.complete() {
		return refuse(reasonNoCode)
	}
	f.settle()
	return &f.Fault
}

// settle gives the fault strings of its own: those of the tree may be lent.
func (f *Fault) settle() {
	for _, s := range []*string{&f.Code, &f.String, &f.Actor, &f.Detail} {
		*s = strings.Clone(*s)
	}
}

// each calls do with each element of a namespace inside one.
func each(e *etree.Element, uri string, do func(*etree.Element) error) error {
	list, err := children(e)
	if err != nil {
		return err
	}
	for _, child := range list {
		if uriOf(child) != uri {
			continue
		}
		if err := do(child); err != nil {
			return err
		}
	}
	return nil
}

// readPart11 reads one part of a fault of SOAP 1.1.
func (f *partial) readPart11(part *etree.Element) (err error) {
	switch part.Tag {
	case "faultcode":
		f.coded = true
		f.Code, err = readCodeName(part)
	case "faultstring":
		f.told = true
		f.String, err = content(part)
	case "faultactor":
		f.Actor, err = content(part)
	case "detail":
		f.Detail = readAllText(part)
	}
	return err
}

// readPart12 reads one part of a fault of SOAP 1.2.
func (f *partial) readPart12(part *etree.Element) (err error) {
	switch part.Tag {
	case "Code":
		f.coded = true
		f.Code, err = readCode(part)
	case "Reason":
		err = f.readReason(part)
	case "Node":
		f.Actor, err = content(part)
	case "Detail":
		f.Detail = readAllText(part)
	}
	return err
}

// readSubcode reads a subcode, which some stacks write as nil where they have none.
func readSubcode(e *etree.Element) (string, error) {
	if null, err := isNil(e); null || err != nil {
		return "", err
	}
	return readCode(e)
}

// readCode reads a code and the subcodes inside it.
func readCode(e *etree.Element) (string, error) {
	code, sub, valued := "", "", false
	err := each(e, SOAP12, func(part *etree.Element) (err error) {
		switch part.Tag {
		case "Value":
			valued = true
			code, err = readCodeName(part)
		case "Subcode":
			sub, err = readSubcode(part)
		}
		return err
	})
	if err == nil && !valued {
		err = refuse(reasonNoValue)
	}
	return joinCode(code, sub), err
}

// readReason reads the first text of a reason.
func (f *partial) readReason(e *etree.Element) error {
	return each(e, SOAP12, func(part *etree.Element) error {
		if part.Tag != "Text" {
			return nil
		}
		text, err := content(part)
		f.tell(text)
		return err
	})
}

// readCodeName reads the name of a fault code.
func readCodeName(e *etree.Element) (string, error) {
	text, err := content(e)
	return codeName(text), err
}

// readAllText returns the text of an element and all inside it, without the white space
// around it.
func readAllText(e *etree.Element) string {
	var b strings.Builder
	gather(e, &b)
	return string(trim([]byte(b.String())))
}

// gather gathers the text of an element and all inside it. The depth of the tree is limited,
// and so is the recursion.
func gather(e *etree.Element, to *strings.Builder) {
	for _, token := range e.Child {
		switch t := token.(type) {
		case *etree.CharData:
			to.WriteString(t.Data)
		case *etree.Element:
			gather(t, to)
		}
	}
}
