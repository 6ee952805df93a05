package soap

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"benchd/kernels/envelope"
)

// The envelopes of soap.attachment, document/literal wrapped. A request refers to its
// attachment by XOP (section 2.1) or as SOAP Messages with Attachments does (section 3):
//
//	<a:store><a:content><xop:Include href="cid:content@benchd"/></a:content></a:store>
//	<a:store><a:content href="cid:content@benchd"/></a:store>
//
// The service takes one too that has it in the envelope, in base64:
//
//	<a:store><a:content>iVBORw0KGgo=</a:content></a:store>
//
// The answer acknowledges what was received:
//
//	<a:storeResponse><a:length>10240</a:length><a:checksum>907060870</a:checksum></a:storeResponse>
const (
	attachmentSpace = "urn:benchd:attachment"
	xopSpace        = "http://www.w3.org/2004/08/xop/include"
	storeAction     = attachmentSpace + "#store"

	storeHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<soap:Envelope xmlns:soap="`
	storeBody = `" xmlns:a="` + attachmentSpace + `"><soap:Body>`
	storeEnd  = `</soap:Body></soap:Envelope>`
)

// openStore returns what an envelope of a version begins with.
func openStore(v envelope.Version) string {
	if v == envelope.V12 {
		return storeHead + envelope.SOAP12 + storeBody
	}
	return storeHead + envelope.SOAP11 + storeBody
}

// A receipt is what the service says of the attachment it got.
type receipt struct {
	length   int64
	checksum uint32 // CRC-32 (ISO/IEC 8802-3), which every other stack's library has too
}

// appendStore appends the envelope of a request whose attachment has the Content-ID id.
func appendStore(dst []byte, v envelope.Version, id string, xop bool) []byte {
	dst = append(append(dst, openStore(v)...), `<a:store>`...)
	if xop {
		dst = append(dst, `<a:content><xop:Include xmlns:xop="`+xopSpace+`" href="cid:`...)
		dst = append(append(dst, id...), `"/></a:content>`...)
	} else {
		dst = append(dst, `<a:content href="cid:`...)
		dst = append(append(dst, id...), `"/>`...)
	}
	return append(dst, `</a:store>`+storeEnd...)
}

// appendReceipt appends the envelope of an answer.
func appendReceipt(dst []byte, v envelope.Version, r receipt) []byte {
	dst = append(append(dst, openStore(v)...), `<a:storeResponse><a:length>`...)
	dst = strconv.AppendInt(dst, r.length, 10)
	dst = append(dst, `</a:length><a:checksum>`...)
	dst = strconv.AppendUint(dst, uint64(r.checksum), 10)
	return append(dst, `</a:checksum></a:storeResponse>`+storeEnd...)
}

// A storeReader reads these envelopes, of one version of SOAP at a time. Its errors are of
// type *envelope.Error, and errFault for a fault.
type storeReader struct {
	scanner *envelope.Scanner
	soap    envelope.Space // the namespace of the envelope
}

func newStoreReader(limits envelope.Limits) *storeReader {
	return &storeReader{envelope.NewScanner(limits), envelope.SOAP11Space}
}

// use makes the reader read envelopes of a version.
func (r *storeReader) use(v envelope.Version) {
	r.soap = envelope.SOAP11Space
	if v == envelope.V12 {
		r.soap = envelope.SOAP12Space
	}
}

// errFault tells that the body holds a fault.
var errFault = errors.New("the body holds a fault")

// answer reads the envelope of an answer.
func (r *storeReader) answer(doc []byte) (receipt, error) {
	var got receipt
	if err := r.open(doc, "storeResponse"); err != nil {
		return got, err
	}
	length, err := r.number("length", 63)
	if err != nil {
		return got, err
	}
	checksum, err := r.number("checksum", 32)
	if err != nil {
		return got, err
	}
	return receipt{int64(length), uint32(checksum)}, r.end()
}

// number reads an element of the operation that holds a whole number of so many bits.
func (r *storeReader) number(local string, bits int) (uint64, error) {
	if err := r.enter(local); err != nil {
		return 0, err
	}
	text, err := r.scanner.Content()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, bits)
	if err != nil {
		return 0, r.wrong("the %s is not a whole number of %d bits", local, bits)
	}
	return n, nil
}

// open reads up to the start tag of the operation, which is the first element of the body.
func (r *storeReader) open(doc []byte, operation string) error {
	if err := r.root(doc); err != nil {
		return err
	}
	if err := r.headers(); err != nil {
		return err
	}
	more, err := r.child()
	switch {
	case err != nil:
		return err
	case !more:
		return r.wrong("the body is empty")
	case r.scanner.Space() == r.soap && string(r.scanner.Local()) == "Fault":
		return errFault
	case !r.is(operation):
		return r.wrong("the element %q of the body is not the operation %q, the only one that there is here", r.scanner.Local(), operation)
	}
	return nil
}

// root reads the envelope's start tag and checks its version.
func (r *storeReader) root(doc []byte) error {
	s := r.scanner
	if err := s.Reset(doc); err != nil {
		return err
	}
	if _, err := s.Next(); err != nil {
		return err
	}
	if string(s.Local()) != "Envelope" {
		return r.wrong("the root element is not a SOAP envelope")
	}
	if s.Space() != r.soap {
		err := r.wrong("the envelope is of the namespace %q, which is not that of the version which the content type says", s.URI())
		err.Code = envelope.CodeVersionMismatch
		return err
	}
	return nil
}

// headers reads up to the start tag of the body, and the header if there is one.
func (r *storeReader) headers() error {
	for headed := false; ; headed = true {
		more, err := r.child()
		soap := r.scanner.Space() == r.soap
		switch {
		case err != nil:
			return err
		case !more:
			return r.wrong("the envelope has no body")
		case soap && string(r.scanner.Local()) == "Body":
			return nil
		case headed || !soap || string(r.scanner.Local()) != "Header":
			return r.wrong("the element %q is not allowed in the envelope", r.scanner.Local())
		}
		if err := r.blocks(); err != nil {
			return err
		}
	}
}

// The receivers of header blocks that this one is: every one (SOAP 1.1, section 4.2.2, and
// SOAP 1.2, section 2.2), and the last.
const (
	actorNext    = "http://schemas.xmlsoap.org/soap/actor/next"
	roleNext     = envelope.SOAP12 + "/role/next"
	roleUltimate = envelope.SOAP12 + "/role/ultimateReceiver"
)

// refuses tells whether the current header block has to be understood here (SOAP 1.1, section
// 4.2.3, and SOAP 1.2, section 5.2.3, where the value is a boolean).
func (r *storeReader) refuses() bool {
	target := "actor"
	if r.soap == envelope.SOAP12Space {
		target = "role"
	}
	must, _ := r.scanner.Attr(r.soap, "mustUnderstand")
	if text := string(bytes.TrimSpace(must)); text != "1" && text != "true" {
		return false
	}
	whom, _ := r.scanner.Attr(r.soap, target)
	switch string(whom) {
	case "", actorNext, roleNext, roleUltimate:
		return true
	}
	return false
}

// blocks passes over the blocks of the header and refuses those that have to be understood.
func (r *storeReader) blocks() error {
	var strange *envelope.Error
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
		if r.refuses() {
			strange = envelope.Misunderstood(strange, r.scanner.Offset(), string(r.scanner.URI()), string(r.scanner.Local()))
		}
		if err := r.skip(); err != nil {
			return err
		}
	}
}

// end reads what follows the last element of the operation: the ends of operation, body and
// envelope, and behind the body what means nothing here, which SOAP 1.1 allows (section 4).
func (r *storeReader) end() error {
	for _, of := range []string{"operation", "body"} {
		more, err := r.child()
		if err != nil {
			return err
		}
		if more {
			return r.wrong("the element %q is one too many in the %s", r.scanner.Local(), of)
		}
	}
	for {
		more, err := r.child()
		switch {
		case err != nil:
			return err
		case !more:
			_, err = r.scanner.Next() // there is no second root
			return err
		case r.soap == envelope.SOAP12Space || r.scanner.Space() == r.soap || r.scanner.Space() == envelope.NoSpace:
			return r.wrong("the element %q is not allowed behind the body", r.scanner.Local())
		}
		if err := r.skip(); err != nil {
			return err
		}
	}
}

// enter goes to the next element, which must have this name.
func (r *storeReader) enter(local string) error {
	more, err := r.child()
	if err == nil && (!more || !r.is(local)) {
		return r.wrong("the operation lacks its element %q, or another stands before it", local)
	}
	return err
}

// leave goes to the end of the current element, which must have no element any more.
func (r *storeReader) leave() error {
	more, err := r.child()
	if err == nil && more {
		return r.wrong("the element %q stands where none is allowed", r.scanner.Local())
	}
	return err
}

// is tells whether the current element has this name.
func (r *storeReader) is(local string) bool {
	return string(r.scanner.Local()) == local && string(r.scanner.URI()) == attachmentSpace
}

// child goes to the next element inside the current one, or to its end, and refuses text.
func (r *storeReader) child() (bool, error) {
	for {
		kind, err := r.scanner.Next()
		switch {
		case err != nil:
			return false, err
		case kind != envelope.Chars:
			return kind == envelope.StartTag, nil
		case !r.scanner.Blank():
			return false, r.wrong("text where only elements are allowed")
		}
	}
}

// skip goes to the end of the current element.
func (r *storeReader) skip() error {
	for depth := r.scanner.Depth(); r.scanner.Depth() >= depth; {
		if _, err := r.scanner.Next(); err != nil {
			return err
		}
	}
	return nil
}

// wrong makes the error of a well-formed document that is not what it should be.
func (r *storeReader) wrong(format string, args ...any) *envelope.Error {
	return &envelope.Error{Code: envelope.CodeClient, Offset: r.scanner.Offset(), Reason: fmt.Sprintf(format, args...)}
}
