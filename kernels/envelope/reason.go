package envelope

import (
	"fmt"
	"strconv"
	"strings"
)

// The sentences that both models use for what is wrong with an envelope.
const (
	reasonNotEnvelope = "the root element is not a SOAP envelope"
	reasonNoBody      = "the envelope has no body"
	reasonNoPayload   = "the body is empty"
	reasonTwo         = "the body holds more than one element"
	reasonNoParameter = "the operation does not hold exactly one parameter"
	reasonBlock       = "a header block has no namespace"
	reasonMust        = "mustUnderstand is neither true nor false"
	reasonNilContent  = "an element that is nil has content"
	reasonNilValue    = "xsi:nil is neither true nor false"
	reasonStrayText   = "text where only elements are allowed"
	reasonNoCode      = "the fault lacks its code or its string"
	reasonNoValue     = "a code of the fault lacks its value"
)

func reasonElement(local []byte, where string) string {
	return fmt.Sprintf("the element %q is not allowed in %s, or not more than once", local, where)
}

func reasonValue(local []byte) string {
	return fmt.Sprintf("the value of the element %q is not of its type", local)
}

func reasonHeader(blocks []Name) string {
	if len(blocks) == 1 {
		return fmt.Sprintf("the header block %q has to be understood and is not", blocks[0].Local)
	}
	names := make([]string, len(blocks))
	for i, b := range blocks {
		names[i] = strconv.Quote(b.Local)
	}
	return fmt.Sprintf("the header blocks %s have to be understood and are not", strings.Join(names, ", "))
}

// reasonOperation says that there is no such operation, and which there are.
func reasonOperation(local, uri []byte) string {
	names := make([]string, len(operations))
	for i := range operations {
		names[i] = operations[i].request
	}
	return fmt.Sprintf("there is no operation %q in the namespace %q; there are %s in %q",
		local[:min(len(local), shownName)], uri[:min(len(uri), shownName)], strings.Join(names, ", "), Namespace)
}

// shownName is how much of an unknown name is repeated, in bytes.
const shownName = 100

func reasonVersion(uri []byte, want string) string {
	return fmt.Sprintf("the envelope is of the namespace %q; allowed is %q", uri, want)
}

func reasonMissing(l *layout) string {
	var names []string
	for i := range l.parts {
		if l.parts[i].must {
			names = append(names, l.parts[i].name)
		}
	}
	return l.what + " lacks its " + strings.Join(names, " or ")
}
