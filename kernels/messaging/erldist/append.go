package erldist

import (
	"encoding/binary"
	"math"
	"math/big"
	"unicode/utf8"
)

// Append writes a whole message: the version and the term. It fails on Go values that are
// no Term, on atoms that are too long, and on floats that Erlang does not have; b is then
// returned as it was.
func Append(b []byte, t Term) ([]byte, error) {
	out, err := appendTerm(append(b, tagVersion), t, 0)
	if err != nil {
		return b, err
	}
	return out, nil
}

// appendTerm writes one term without the version.
func appendTerm(b []byte, t Term, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, termError("it is nested deeper than %d", maxDepth)
	}
	switch t := t.(type) {
	case int:
		return AppendInt(b, int64(t)), nil
	case int64:
		return AppendInt(b, t), nil
	case *big.Int:
		return appendBig(b, t)
	case float64:
		return appendFloat(b, t)
	case Atom:
		return appendAtom(b, t)
	case []byte:
		return append(AppendBinaryHeader(b, len(t)), t...), nil
	case Pid:
		return appendPid(b, t)
	case Ref:
		return appendRef(b, t)
	case Port:
		return appendPort(b, t)
	default:
		return appendCompound(b, t, depth+1)
	}
}

// What is written here is what term_to_binary of OTP 25 writes, but for lists of bytes, which
// are not made strings: they are the same list to whoever reads them.

// appendCompound writes a term that is made of terms.
func appendCompound(b []byte, t Term, depth int) ([]byte, error) {
	switch t := t.(type) {
	case Tuple:
		return appendAll(AppendTupleHeader(b, len(t)), t, depth)
	case List:
		if len(t) == 0 {
			return append(b, tagNil), nil
		}
		b, err := appendAll(appendCount(b, tagList, len(t)), t, depth)
		return append(b, tagNil), err
	case Improper:
		return appendImproper(b, t, depth)
	case Map:
		return appendMap(b, t, depth)
	default:
		return b, termError("a Go value of type %T", t)
	}
}

// appendAll writes terms one behind the other.
func appendAll(b []byte, terms []Term, depth int) ([]byte, error) {
	var err error
	for _, t := range terms {
		if b, err = appendTerm(b, t, depth); err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendImproper writes the elements and then the tail, where a proper list has its end. A
// tail that is a list would make it one list, and it would be read as another value than was
// written.
func appendImproper(b []byte, t Improper, depth int) ([]byte, error) {
	switch t.Tail.(type) {
	case List, Improper:
		return b, termError("an improper list whose tail is a list")
	}
	if len(t.Elements) == 0 {
		return b, termError("an improper list without elements")
	}
	b, err := appendAll(appendCount(b, tagList, len(t.Elements)), t.Elements, depth)
	if err != nil {
		return b, err
	}
	return appendTerm(b, t.Tail, depth)
}

// appendMap writes keys and values in turn. That no key is there twice is the caller's word.
func appendMap(b []byte, m Map, depth int) ([]byte, error) {
	b = appendCount(b, tagMap, len(m))
	for _, p := range m {
		var err error
		if b, err = appendAll(b, []Term{p.Key, p.Value}, depth); err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendCount writes a tag and a count of 32 bits.
func appendCount(b []byte, tag byte, n int) []byte {
	return binary.BigEndian.AppendUint32(append(b, tag), uint32(n))
}

// AppendTupleHeader begins a tuple; its terms are to follow.
func AppendTupleHeader(b []byte, arity int) []byte {
	if arity <= math.MaxUint8 {
		return append(b, tagSmallTuple, byte(arity))
	}
	return appendCount(b, tagLargeTuple, arity)
}

// AppendBinaryHeader begins a binary; its n bytes are to follow.
func AppendBinaryHeader(b []byte, n int) []byte { return appendCount(b, tagBinary, n) }

// AppendInt writes an integer in the shortest form: of one byte, of four, or of as many as
// it takes, with the sign apart and the lowest first.
func AppendInt(b []byte, n int64) []byte {
	switch {
	case n >= 0 && n <= math.MaxUint8:
		return append(b, tagSmallInt, byte(n))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		return binary.BigEndian.AppendUint32(append(b, tagInt), uint32(n))
	}
	sign, abs := byte(0), uint64(n)
	if n < 0 {
		sign, abs = 1, -abs
	}
	at := len(b) + 1
	b = append(b, tagSmallBig, 0, sign)
	for ; abs > 0; abs >>= 8 {
		b = append(b, byte(abs))
		b[at]++
	}
	return b
}

// appendBig writes an integer of any size. One that fits is written as AppendInt does, since
// Erlang knows a value by its bytes in one form only.
func appendBig(b []byte, n *big.Int) ([]byte, error) {
	if n == nil {
		return b, termError("a big integer that is nil")
	}
	if n.IsInt64() {
		return AppendInt(b, n.Int64()), nil
	}
	bytes := n.Bytes() // the highest first, the format wants the lowest first
	if len(bytes) <= math.MaxUint8 {
		b = append(b, tagSmallBig, byte(len(bytes)))
	} else {
		b = appendCount(b, tagLargeBig, len(bytes))
	}
	sign := byte(0)
	if n.Sign() < 0 {
		sign = 1
	}
	b = append(b, sign)
	for i := len(bytes) - 1; i >= 0; i-- {
		b = append(b, bytes[i])
	}
	return b, nil
}

// appendFloat writes the eight bytes of IEEE 754, the highest first.
func appendFloat(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, termError("Erlang has no float %v", f)
	}
	return binary.BigEndian.AppendUint64(append(b, tagNewFloat), math.Float64bits(f)), nil
}

// appendAtom writes an atom in UTF-8, which every node knows that is spoken to here. The form
// with a length of one byte is for all but names of many characters beyond ASCII.
func appendAtom(b []byte, a Atom) ([]byte, error) {
	if !utf8.ValidString(string(a)) || utf8.RuneCountInString(string(a)) > maxAtom {
		return b, termError("an atom is up to %d characters in UTF-8, not %.300q", maxAtom, string(a))
	}
	if len(a) <= math.MaxUint8 {
		return append(append(b, tagSmallAtomUTF, byte(len(a))), a...), nil
	}
	return append(append(b, tagAtomUTF8, byte(len(a)>>8), byte(len(a))), a...), nil
}

// appendPid writes a pid with its creation in 32 bits.
func appendPid(b []byte, p Pid) ([]byte, error) {
	b, err := appendAtom(append(b, tagNewPid), p.Node)
	b = binary.BigEndian.AppendUint32(b, p.ID)
	b = binary.BigEndian.AppendUint32(b, p.Serial)
	return binary.BigEndian.AppendUint32(b, p.Creation), err
}

// appendRef writes a reference; its length is in front, and counts the words at its end.
func appendRef(b []byte, r Ref) ([]byte, error) {
	if r.Len < 1 || r.Len > maxRefIDs {
		return b, termError("a reference has 1 to %d words, not %d", maxRefIDs, r.Len)
	}
	b, err := appendAtom(append(b, tagNewerRef, 0, byte(r.Len)), r.Node)
	b = binary.BigEndian.AppendUint32(b, r.Creation)
	for _, id := range r.IDs[:r.Len] {
		b = binary.BigEndian.AppendUint32(b, id)
	}
	return b, err
}

// appendPort writes a port with its number in 64 bits.
func appendPort(b []byte, p Port) ([]byte, error) {
	b, err := appendAtom(append(b, tagV4Port), p.Node)
	b = binary.BigEndian.AppendUint64(b, p.ID)
	return binary.BigEndian.AppendUint32(b, p.Creation), err
}
