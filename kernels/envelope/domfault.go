package envelope

import (
	"strings"

	"github.com/beevik/etree"
)

// readFault returns the fault that the element says. Its parts have no namespace.
func readFault(e *etree.Element) error {
	list, err := children(e)
	if err != nil {
		return err
	}
	f := &Fault{}
	coded, told := false, false
	for _, part := range list {
		if uriOf(part) != "" {
			continue
		}
		switch part.Tag {
		case "faultcode":
			coded = true
			err = faultText(part, &f.Code)
			f.Code = codeName([]byte(f.Code))
		case "faultstring":
			told = true
			err = faultText(part, &f.String)
		case "faultactor":
			err = faultText(part, &f.Actor)
		case "detail":
			f.Detail = detailText(part)
		}
		if err != nil {
			return err
		}
	}
	if !coded || !told {
		return refuse(reasonNoCode)
	}
	return f
}

// faultText reads the text of one part of a fault.
func faultText(e *etree.Element, to *string) (err error) {
	*to, err = content(e)
	return err
}

// detailText is all text inside a detail, without the white space around it.
func detailText(e *etree.Element) string {
	var b strings.Builder
	allText(e, &b)
	return string(trim([]byte(b.String())))
}

// allText gathers the text of an element and all inside it. The depth of the tree is
// limited, and so is the recursion.
func allText(e *etree.Element, to *strings.Builder) {
	for _, token := range e.Child {
		switch t := token.(type) {
		case *etree.CharData:
			to.WriteString(t.Data)
		case *etree.Element:
			allText(t, to)
		}
	}
}

// readFault12 returns the fault of SOAP 1.2 that the element says.
func readFault12(e *etree.Element) error {
	list, err := children(e)
	if err != nil {
		return err
	}
	f := &Fault{}
	coded, told := false, false
	for _, part := range list {
		if uriOf(part) != SOAP12 {
			continue
		}
		switch part.Tag {
		case "Code":
			coded = true
			f.Code, err = readCode(part)
		case "Reason":
			told, err = readReason(part, f)
		case "Node":
			err = faultText(part, &f.Actor)
		case "Detail":
			f.Detail = detailText(part)
		}
		if err != nil {
			return err
		}
	}
	if !coded || !told {
		return refuse(reasonNoCode)
	}
	return f
}

// readCode reads a code and the subcodes inside it.
func readCode(e *etree.Element) (string, error) {
	list, err := children(e)
	if err != nil {
		return "", err
	}
	code, sub, valued := "", "", false
	for _, part := range list {
		switch {
		case is(part, SOAP12, "Value"):
			valued = true
			err = faultText(part, &code)
			code = codeName([]byte(code))
		case is(part, SOAP12, "Subcode"):
			sub, err = readCode(part)
		}
		if err != nil {
			return "", err
		}
	}
	if !valued {
		return "", refuse(reasonNoValue)
	}
	return joinCode(code, sub), nil
}

// readReason reads the first text of a reason and tells whether there is one.
func readReason(e *etree.Element, f *Fault) (told bool, err error) {
	list, err := children(e)
	if err != nil {
		return false, err
	}
	for _, part := range list {
		if !is(part, SOAP12, "Text") {
			continue
		}
		text := ""
		if err := faultText(part, &text); err != nil {
			return false, err
		}
		if !told {
			f.String, told = text, true
		}
	}
	return told, nil
}
