package soap

import (
	"bytes"
	"math"
	"strconv"

	"benchd/kernels/envelope"
)

// What stands in the place of the number of a content that is not in the envelope.
const (
	attached = -1 // it is in a part
	empty    = -2 // it has no bytes
)

// request reads the envelope of a request that a splitter left. It appends to dst the
// Content-ID that it refers to, or returns the number of the content that stands in it.
func (r *storeReader) request(dst, doc []byte, how related) (id []byte, number int, err error) {
	if err := r.open(doc, "store"); err != nil {
		return dst, attached, err
	}
	if err := r.enter("content"); err != nil {
		return dst, attached, err
	}
	_, refers := r.scanner.Attr(envelope.NoSpace, "href")
	number = attached
	switch {
	case refers && !how.xop:
		dst, err = r.reference(dst, false)
	case how.xop:
		dst, number, err = r.included(dst)
	default:
		number, err = r.standing(how)
	}
	if err != nil {
		return dst, attached, err
	}
	return dst, number, r.end()
}

// included reads the element of a content in a message of MTOM: that refers to a part, or holds
// what was not worth one (XOP, section 3.1).
func (r *storeReader) included(dst []byte) (id []byte, number int, err error) {
	var text []byte
	for {
		kind, err := r.scanner.Next()
		switch {
		case err != nil:
			return dst, attached, err
		case kind == envelope.Chars:
			text = r.scanner.AppendText(text)
			continue
		case kind == envelope.StartTag && len(bytes.TrimSpace(text)) > 0:
			return dst, attached, r.wrong("text where only elements are allowed")
		case kind == envelope.StartTag:
			dst, err = r.reference(dst, true)
			return dst, attached, err
		case len(text) == 0:
			return dst, attached, r.wrong("the content is empty: it holds neither an xop:Include nor base64")
		}
		return dst, numberOf(text), nil
	}
}

// standing reads the element of a content that stands in the envelope.
func (r *storeReader) standing(how related) (int, error) {
	text, err := r.scanner.Content()
	switch {
	case err != nil:
		return attached, err
	case len(text) > 0:
		return numberOf(text), nil
	case how.plain():
		return empty, nil
	}
	return attached, r.wrong("the element \"content\" has no href to its attachment, and no base64")
}

// numberOf reads the number that a splitter put in the place of a content. A text that is none
// is the number of none.
func numberOf(text []byte) int {
	n, err := strconv.ParseUint(string(text), 10, 16)
	if err != nil {
		return math.MaxInt
	}
	return int(n)
}

// reference reads the element of the attachment to its end. By XOP it is the one inside.
func (r *storeReader) reference(dst []byte, xop bool) ([]byte, error) {
	if xop && (string(r.scanner.Local()) != "Include" || string(r.scanner.URI()) != xopSpace) {
		return dst, r.wrong("the content is not in an attachment: it holds no xop:Include")
	}
	href, ok := r.scanner.Attr(envelope.NoSpace, "href")
	if !ok {
		return dst, r.wrong("the element %q has no href to its attachment", r.scanner.Local())
	}
	dst, ok = cidOf(dst, href)
	if !ok {
		return dst, r.wrong("the href %q is no reference to a part; it must be like cid:content@host", href[:min(len(href), 80)])
	}
	if err := r.leave(); err != nil {
		return dst, err
	}
	if xop {
		return dst, r.leave()
	}
	return dst, nil
}
