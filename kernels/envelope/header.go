package envelope

// The attributes and values that say whom a header block is for. None is understood here, so
// one that has to be understood by this receiver makes the message one that has to be
// refused (SOAP 1.1, sections 4.2.2 and 4.2.3; SOAP 1.2, sections 2.2, 5.2.2 and 5.2.3).
const (
	mustUnderstand = "mustUnderstand"
	actorNext      = "http://schemas.xmlsoap.org/soap/actor/next"
	roleNext       = SOAP12 + "/role/next"
	roleUltimate   = SOAP12 + "/role/ultimateReceiver"
)

// targetOf returns the name of the attribute that says whom a header block is for.
func targetOf(soap12 bool) string {
	if soap12 {
		return "role"
	}
	return "actor"
}

// demands tells whether a header block with these attributes has to be understood here, or
// why it is not even a block: its name has to have a namespace (SOAP 1.1, section 4.2; SOAP
// 1.2, section 5.2.1), and what it says of itself a meaning. In SOAP 1.1 the value is 0 or 1
// and in SOAP 1.2 a boolean; "true" is taken in both, since to refuse is the safe side.
func demands(qualified bool, must string, said bool, target string) (yes bool, reason string) {
	if !qualified {
		return false, reasonBlock
	}
	if !said {
		return false, ""
	}
	yes, ok := parseBool(trim([]byte(must)))
	if !ok {
		return false, reasonMust
	}
	switch target {
	case "", actorNext, roleNext, roleUltimate:
		return yes, ""
	}
	return false, ""
}

// A Name is a name in a namespace.
type Name struct{ Space, Local string }

// maxBlocks is how many header blocks that were not understood are told by name: a header may
// hold hundreds of thousands, and the answer is not to be as long.
const maxBlocks = 16

// Misunderstood adds a header block that has to be understood to the error of those before it,
// nil for none, and returns the error. At is the place of the block in the document, -1 where
// that is not known.
func Misunderstood(err *Error, at int, uri, local string) *Error {
	if err == nil {
		err = &Error{Code: CodeMustUnderstand, Offset: at}
	}
	if len(err.Blocks) < maxBlocks {
		err.Blocks = append(err.Blocks, Name{uri, local})
		err.Reason = reasonHeader(err.Blocks)
	}
	return err
}
