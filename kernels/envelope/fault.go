package envelope

import (
	"fmt"
	"strings"
)

// The fault codes, by their names in SOAP 1.1 (section 4.4.1). SOAP 1.2 calls the last two
// Sender and Receiver (Part 1, section 5.4.6); here they have one name in both versions.
const (
	CodeVersionMismatch = "VersionMismatch" // the envelope is of another version
	CodeMustUnderstand  = "MustUnderstand"  // a mandatory header block is not understood
	CodeClient          = "Client"          // the message is wrong
	CodeServer          = "Server"          // the message is right but cannot be served
)

// codeEncoding is the fifth code of SOAP 1.2, which no message here has a use for.
const codeEncoding = "DataEncodingUnknown"

// A Fault is the fault an envelope carries, in SOAP 1.1 (section 4.4)
//
//	<soap:Fault>
//	  <faultcode>soap:Client.Late</faultcode>
//	  <faultstring>a sentence</faultstring>
//	  <faultactor>urn:who</faultactor>
//	  <detail>…</detail>
//	</soap:Fault>
//
// and in SOAP 1.2 (Part 1, section 5.4)
//
//	<soap:Fault>
//	  <soap:Code><soap:Value>soap:Sender</soap:Value><soap:Subcode><soap:Value>b:Late</soap:Value></soap:Subcode></soap:Code>
//	  <soap:Reason><soap:Text xml:lang="en">a sentence</soap:Text></soap:Reason>
//	  <soap:Node>urn:who</soap:Node>
//	  <soap:Detail>…</soap:Detail>
//	</soap:Fault>
//
// Code and string have to be there. The parts of SOAP 1.1 have no namespace, but the code is
// a name that has one, which is why its prefix means nothing by itself.
type Fault struct {
	Code   string // one of the codes above, perhaps with subcodes each after a dot, or in SOAP 1.1 a name of another's making
	String string // the sentence for a person
	Actor  string // who caused it, a URI; empty if not told
	Detail string // the text of the detail element; empty if there is none
	Blocks []Name // the header blocks that were not understood, which SOAP 1.2 tells in its header; they are written and not read
}

// Error gives code and sentence.
func (f *Fault) Error() string { return fmt.Sprintf("SOAP fault %s: %s", f.Code, f.String) }

// An Error says why a document is not the envelope of a message: it is not well-formed, it is
// not SOAP, or it is not a message of this service. The sentence is for the sender, who may
// be told all of it: it quotes nothing but names and declarations out of the document itself.
type Error struct {
	Code   string // the fault code it deserves: CodeClient, CodeVersionMismatch or CodeMustUnderstand
	Offset int    // the byte at which it was found, or -1 if that is not known
	Reason string
	Blocks []Name // the header blocks that were not understood, if it is that
}

// Error gives the reason and the place.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s, at byte %d", e.Reason, e.Offset)
}

// Fault returns the fault with which a service answers such a document.
func (e *Error) Fault() *Fault { return &Fault{Code: e.Code, String: e.Error(), Blocks: e.Blocks} }

// A partial fault is one that is being read.
type partial struct {
	Fault
	coded, told bool // its code and its string were there
}

// complete tells whether it has what a fault has to have.
func (f *partial) complete() bool { return f.coded && f.told }

// tell sets the string of the fault, the first time that it is told.
func (f *partial) tell(text string) {
	if !f.told {
		f.String, f.told = text, true
	}
}

// codeName returns the name of a fault code without its prefix. The prefix stands for the
// SOAP namespace or for that of whoever made the code; many stacks leave it out.
func codeName(qname string) string {
	name := string(trim([]byte(qname)))
	return name[strings.IndexByte(name, ':')+1:]
}

// joinCode makes one code of that of SOAP 1.2 and its subcodes.
func joinCode(code, sub string) string {
	if code = commonCode(code); sub == "" {
		return code
	}
	return code + "." + sub
}

// values returns the values of a fault's code in SOAP 1.2: one of its five, and subcodes. A
// code that is none of them is told as a subcode of the receiver's.
func (f *Fault) values() []string {
	list := strings.Split(f.Code, ".")
	switch list[0] {
	case CodeClient:
		list[0] = sender
	case CodeServer:
		list[0] = receiver
	case CodeVersionMismatch, CodeMustUnderstand, codeEncoding:
	default:
		list = append([]string{receiver}, list...)
	}
	return list
}

// The codes that have another name in SOAP 1.2.
const (
	sender   = "Sender"
	receiver = "Receiver"
)

// commonCode returns the name here of a code of SOAP 1.2.
func commonCode(value string) string {
	switch value {
	case sender:
		return CodeClient
	case receiver:
		return CodeServer
	}
	return value
}

func appendFault(dst []byte, f *Fault, v Version) []byte {
	dst = append(dst, declaration...)
	dst = append(dst, openEnvelope(v)...)
	dst = appendFaultHeader(dst, f, v)
	dst = append(dst, "<soap:Body><soap:Fault>"...)
	if v == V12 {
		dst = appendFault12(dst, f)
	} else {
		dst = appendFault11(dst, f)
	}
	return append(dst, "</soap:Fault>"+closeBody...)
}

func appendFault11(dst []byte, f *Fault) []byte {
	dst = appendPart(dst, "faultcode", "soap:"+f.Code)
	dst = appendPart(dst, "faultstring", f.String)
	if f.Actor != "" {
		dst = appendPart(dst, "faultactor", f.Actor)
	}
	if f.Detail != "" {
		dst = append(appendPart(append(dst, "<detail>"...), "b:text", f.Detail), "</detail>"...)
	}
	return dst
}

func appendFault12(dst []byte, f *Fault) []byte {
	dst = append(dst, "<soap:Code>"...)
	values := f.values()
	dst = appendPart(dst, "soap:Value", "soap:"+values[0])
	for _, value := range values[1:] {
		dst = appendPart(append(dst, "<soap:Subcode>"...), "soap:Value", "b:"+value)
	}
	for range values[1:] {
		dst = append(dst, "</soap:Subcode>"...)
	}
	dst = append(dst, `</soap:Code><soap:Reason><soap:Text xml:lang="en">`...)
	dst = append(appendText(dst, f.String), "</soap:Text></soap:Reason>"...)
	if f.Actor != "" {
		dst = appendPart(dst, "soap:Node", f.Actor)
	}
	if f.Detail != "" {
		dst = append(appendPart(append(dst, "<soap:Detail>"...), "b:text", f.Detail), "</soap:Detail>"...)
	}
	return dst
}

// appendPart writes an element with a text.
func appendPart(dst []byte, name, text string) []byte {
	dst = append(append(append(dst, '<'), name...), '>')
	dst = appendText(dst, text)
	return append(append(append(dst, "</"...), name...), '>')
}

// appendFaultHeader writes the header that goes with two of the codes: which versions would be
// understood, the best first, or for each block that was not which it is (SOAP 1.2 Part 1,
// sections 5.4.7 and 5.4.8). An envelope of SOAP 1.1 may carry the first too (appendix A); the second
// it may not, and there are clients that then lose the fault over the header.
func appendFaultHeader(dst []byte, f *Fault, v Version) []byte {
	switch {
	case f.Code == CodeVersionMismatch:
		return append(dst, `<soap:Header><u:Upgrade xmlns:u="`+SOAP12+`"><u:SupportedEnvelope qname="u:Envelope"/>`+
			`<u:SupportedEnvelope xmlns:v="`+SOAP11+`" qname="v:Envelope"/></u:Upgrade></soap:Header>`...)
	case len(f.Blocks) > 0 && v == V12:
		dst = append(dst, `<soap:Header>`...)
		for _, block := range f.Blocks {
			dst = append(dst, `<u:NotUnderstood xmlns:u="`+SOAP12+`"`...)
			if prefix := block.prefix(); prefix != "" {
				dst = append(appendValue(append(dst, ` xmlns:`+prefix+`="`...), block.Space), '"')
			}
			dst = append(appendValue(append(dst, ` qname="`...), block.qname()), `"/>`...)
		}
		return append(dst, `</soap:Header>`...)
	}
	return dst
}

// prefix returns a prefix for the name's namespace, or none if it has none. The prefix xml
// cannot be replaced by another.
func (n Name) prefix() string {
	if n.Space == "" || n.Space == xmlURI {
		return ""
	}
	return "n"
}

// qname returns the name with its prefix.
func (n Name) qname() string {
	switch n.Space {
	case xmlURI:
		return "xml:" + n.Local
	case "":
		return n.Local
	}
	return "n:" + n.Local
}
