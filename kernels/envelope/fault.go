package envelope

import "fmt"

// The fault codes of SOAP 1.1, section 4.4.1.
const (
	CodeVersionMismatch = "VersionMismatch" // the envelope is of another version
	CodeMustUnderstand  = "MustUnderstand"  // a mandatory header block is not understood
	CodeClient          = "Client"          // the message is wrong
	CodeServer          = "Server"          // the message is right but cannot be served
)

// A Fault is the fault an envelope carries (SOAP 1.1, section 4.4):
//
//	<soap:Fault>
//	  <faultcode>soap:Client</faultcode>
//	  <faultstring>a sentence</faultstring>
//	  <faultactor>urn:who</faultactor>
//	  <detail>…</detail>
//	</soap:Fault>
//
// Code and string have to be there. The parts have no namespace, but the code is a name that
// has one, which is why its prefix means nothing by itself.
type Fault struct {
	Code   string // one of the codes above, perhaps with a suffix after a dot, or a name of another's making
	String string // the sentence for a person
	Actor  string // who caused it, a URI; empty if not told
	Detail string // the text of the detail element; empty if there is none
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
}

// Error gives the reason and the place.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s, at byte %d", e.Reason, e.Offset)
}

// Fault returns the fault with which a service answers such a document.
func (e *Error) Fault() *Fault { return &Fault{Code: e.Code, String: e.Error()} }

func appendFault(dst []byte, f *Fault) []byte {
	dst = append(dst, declaration+openBody+"<soap:Fault><faultcode>soap:"...)
	dst = appendText(dst, f.Code)
	dst = append(dst, "</faultcode><faultstring>"...)
	dst = appendText(dst, f.String)
	dst = append(dst, "</faultstring>"...)
	if f.Actor != "" {
		dst = append(dst, "<faultactor>"...)
		dst = appendText(dst, f.Actor)
		dst = append(dst, "</faultactor>"...)
	}
	if f.Detail != "" {
		dst = append(dst, "<detail><b:text>"...)
		dst = appendText(dst, f.Detail)
		dst = append(dst, "</b:text></detail>"...)
	}
	return append(dst, "</soap:Fault>"+closeBody...)
}
