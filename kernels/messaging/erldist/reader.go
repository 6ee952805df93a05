package erldist

import (
	"encoding/binary"
	"unicode/utf8"
)

// A Reader takes terms off the front of bytes without making values of them. What it
// returns are pieces of those bytes, so that reading allocates nothing. Its zero value
// reads nothing; after an error it stands where it was.
type Reader struct{ rest []byte }

// NewReader reads a whole message, which begins with the format's version.
func NewReader(message []byte) (Reader, error) {
	if len(message) == 0 || message[0] != tagVersion {
		return Reader{}, termError("it does not begin with %d", tagVersion)
	}
	return Reader{message[1:]}, nil
}

// Rest returns what has not been read.
func (r *Reader) Rest() []byte { return r.rest }

// tag returns the tag of the next term, or 0, which is none.
func (r *Reader) tag() byte {
	if len(r.rest) == 0 {
		return 0
	}
	return r.rest[0]
}

// Tuple reads the beginning of a tuple and returns how many terms follow.
func (r *Reader) Tuple() (int, error) {
	switch {
	case r.tag() == tagSmallTuple && len(r.rest) >= 2:
		n := int(r.rest[1])
		r.rest = r.rest[2:]
		return n, nil
	case r.tag() == tagLargeTuple && len(r.rest) >= 5:
		n := binary.BigEndian.Uint32(r.rest[1:])
		r.rest = r.rest[5:]
		return int(n), nil
	}
	return 0, termError("a tuple was due, there is tag %d", r.tag())
}

// SmallInt reads an integer from 0 to 255.
func (r *Reader) SmallInt() (byte, error) {
	if r.tag() != tagSmallInt || len(r.rest) < 2 {
		return 0, termError("a small integer was due, there is tag %d", r.tag())
	}
	n := r.rest[1]
	r.rest = r.rest[2:]
	return n, nil
}

// Binary reads a binary.
func (r *Reader) Binary() ([]byte, error) {
	if r.tag() != tagBinary || len(r.rest) < 5 {
		return nil, termError("a binary was due, there is tag %d", r.tag())
	}
	n := uint64(binary.BigEndian.Uint32(r.rest[1:]))
	if n > uint64(len(r.rest)-5) {
		return nil, termError("a binary of %d bytes, of which %d are there", n, len(r.rest)-5)
	}
	bytes := r.rest[5 : 5+n : 5+n]
	r.rest = r.rest[5+n:]
	return bytes, nil
}

// Atom reads an atom and returns its characters in UTF-8. Atoms in Latin-1 beyond ASCII are
// for Decode.
func (r *Reader) Atom() ([]byte, error) {
	head, n, err := atomSize(r.rest)
	if err != nil {
		return nil, err
	}
	name := r.rest[head : head+n : head+n]
	r.rest = r.rest[head+n:]
	return name, nil
}

// atomSize returns how many bytes an atom's tag and length take, and how many its name.
func atomSize(b []byte) (head, n int, err error) {
	if len(b) < 2 {
		return 0, 0, termError("an atom was due, there are %d bytes", len(b))
	}
	switch b[0] {
	case tagSmallAtomUTF, tagSmallAtom:
		head, n = 2, int(b[1])
	case tagAtomUTF8, tagAtom:
		if len(b) < 3 {
			return 0, 0, termError("an atom's length is cut off")
		}
		head, n = 3, int(b[1])<<8|int(b[2])
	default:
		return 0, 0, termError("an atom was due, there is tag %d", b[0])
	}
	if n > maxAtomBytes || len(b) < head+n {
		return 0, 0, termError("an atom of %d bytes, of which %d are there", n, len(b)-head)
	}
	return head, n, nil
}

// Pid reads a pid and returns its bytes as well, to be put into an answer as they are. The
// pid's Node is left empty: it is the name in the bytes, and who needs it decodes them.
func (r *Reader) Pid() (pid Pid, raw []byte, err error) {
	if r.tag() != tagNewPid {
		return Pid{}, nil, termError("a pid was due, there is tag %d", r.tag())
	}
	head, n, err := atomSize(r.rest[1:])
	if err != nil {
		return Pid{}, nil, err
	}
	at := 1 + head + n
	if len(r.rest) < at+12 {
		return Pid{}, nil, termError("a pid is cut off")
	}
	raw = r.rest[: at+12 : at+12]
	r.rest = r.rest[at+12:]
	return Pid{
		ID: binary.BigEndian.Uint32(raw[at:]), Serial: binary.BigEndian.Uint32(raw[at+4:]),
		Creation: binary.BigEndian.Uint32(raw[at+8:]),
	}, raw, nil
}

// Raw reads one term of any kind and returns its bytes. Terms of kinds that Decode does not
// know are errors here too.
func (r *Reader) Raw() ([]byte, error) {
	b, at := r.rest, 0
	// What is due is counted instead of called, so that no nesting is too deep for this.
	for due := uint64(1); due > 0; due-- {
		n, children, err := extent(b[at:])
		if err != nil {
			return nil, err
		}
		at += n
		if due += children; due-1 > uint64(len(b)-at) {
			return nil, termError("it tells of %d terms in %d bytes", due-1, len(b)-at)
		}
	}
	r.rest = b[at:]
	return b[:at:at], nil
}

// extent returns how many bytes the beginning of b's first term takes up, and how many
// terms follow that are its parts.
func extent(b []byte) (bytes int, children uint64, err error) {
	fixed, err := fixedExtent(b)
	if err != nil {
		return 0, 0, err
	}
	if len(b) < fixed {
		return 0, 0, termError("a term of tag %d is cut off", b[0])
	}
	var more uint64
	switch b[0] {
	case tagSmallTuple:
		children = uint64(b[1])
	case tagLargeTuple:
		children = uint64(binary.BigEndian.Uint32(b[1:]))
	case tagList:
		children = uint64(binary.BigEndian.Uint32(b[1:])) + 1
	case tagMap:
		children = 2 * uint64(binary.BigEndian.Uint32(b[1:]))
	case tagString:
		more = uint64(binary.BigEndian.Uint16(b[1:]))
	case tagBinary, tagLargeBig:
		more = uint64(binary.BigEndian.Uint32(b[1:]))
	case tagSmallBig:
		more = uint64(b[1])
	case tagNewRef, tagNewerRef:
		more = 4 * uint64(binary.BigEndian.Uint16(b[1:]))
	}
	if more > uint64(len(b)-fixed) {
		return 0, 0, termError("a term of tag %d is cut off", b[0])
	}
	return fixed + int(more), children, nil
}

// fixedExtent is how many bytes a term of b's tag has at least: its numbers, and the names
// in it.
func fixedExtent(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, termError("it is cut off")
	}
	switch b[0] {
	case tagNil:
		return 1, nil
	case tagSmallInt, tagSmallTuple:
		return 2, nil
	case tagString, tagSmallBig:
		return 3, nil
	case tagInt, tagLargeTuple, tagList, tagMap, tagBinary:
		return 5, nil
	case tagLargeBig:
		return 6, nil
	case tagNewFloat:
		return 9, nil
	case tagSmallAtomUTF, tagSmallAtom, tagAtomUTF8, tagAtom:
		return withName(b, 0, 0)
	case tagNewPid, tagV4Port:
		return withName(b, 1, 12)
	case tagPidOld, tagRefOld, tagPortOld, tagNewPort:
		return withName(b, 1, numbersAfterName(b[0]))
	case tagNewRef:
		return withName(b, 3, 1)
	case tagNewerRef:
		return withName(b, 3, 4)
	}
	return 0, unreadable(b[0])
}

// numbersAfterName is how many bytes follow the name in some older kinds of terms.
func numbersAfterName(tag byte) int {
	switch tag {
	case tagPidOld:
		return 9
	case tagNewPort:
		return 8
	default: // references and ports of old
		return 5
	}
}

// withName is how long a term is with the name in it.
func withName(b []byte, before, after int) (int, error) {
	if len(b) < before {
		return 0, termError("a term of tag %d is cut off", b[0])
	}
	head, n, err := atomSize(b[before:])
	return before + head + n + after, err
}

// unreadable is the error of a tag that is not read here.
func unreadable(tag byte) error {
	switch tag {
	case tagBitBinary:
		return termError("a bit string that is no whole number of bytes is not read here")
	case tagFun, tagExport:
		return termError("a function is not read here")
	case tagCompressed:
		return termError("a compressed term is not read here")
	}
	return termError("there is no tag %d", tag)
}

// validAtom tells whether the bytes are the characters of an atom.
func validAtom(name []byte) bool {
	return utf8.Valid(name) && (len(name) <= maxAtom || utf8.RuneCount(name) <= maxAtom)
}
