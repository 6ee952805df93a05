package erldist

import (
	"encoding/binary"
	"math"
	"math/big"
)

// Decode reads a whole message, which holds one term and nothing behind it. What it makes
// takes at most some thirty times the memory of the message, whatever the message claims.
func Decode(message []byte) (Term, error) {
	r, err := NewReader(message)
	if err != nil {
		return nil, err
	}
	t, err := r.Term()
	if err != nil {
		return nil, err
	}
	if len(r.rest) > 0 {
		return nil, termError("%d bytes follow it", len(r.rest))
	}
	return t, nil
}

// Term reads one term of any kind and makes a value of it, which keeps nothing of the bytes.
//
// It looks through all of the term first: what is then made for a term's parts is for parts
// that are there, however many each of its lists claims to have.
func (r *Reader) Term() (Term, error) {
	c := *r
	whole, err := c.Raw()
	if err != nil {
		return nil, err
	}
	parts := Reader{whole}
	t, err := parts.term(0)
	if err == nil {
		*r = c
	}
	return t, err
}

// term reads one term. On an error the reader stands anywhere.
func (r *Reader) term(depth int) (Term, error) {
	if depth > maxDepth {
		return nil, termError("it is nested deeper than %d", maxDepth)
	}
	bytes, children, err := extent(r.rest)
	if err != nil {
		return nil, err
	}
	head := r.rest[:bytes]
	r.rest = r.rest[bytes:]
	switch head[0] {
	case tagSmallTuple, tagLargeTuple:
		terms, err := r.terms(int(children), depth+1)
		return Tuple(terms), err
	case tagList:
		return r.list(int(children)-1, depth+1)
	case tagMap:
		return r.pairs(int(children)/2, depth+1)
	default:
		return flat(head)
	}
}

// terms reads n terms.
func (r *Reader) terms(n, depth int) ([]Term, error) {
	terms := make([]Term, n)
	for i := range terms {
		var err error
		if terms[i], err = r.term(depth); err != nil {
			return nil, err
		}
	}
	return terms, nil
}

// list reads the elements of a list and its tail. A tail that is itself a list makes one list
// of both, as it does in Erlang.
func (r *Reader) list(n, depth int) (Term, error) {
	elements, err := r.terms(n, depth)
	if err != nil {
		return nil, err
	}
	tail, err := r.term(depth)
	if err != nil {
		return nil, err
	}
	switch tail := tail.(type) {
	case List: // the empty one, as a rule
		if n+len(tail) == 0 {
			return List(nil), nil
		}
		return List(append(elements, tail...)), nil
	case Improper:
		return Improper{append(elements, tail.Elements...), tail.Tail}, nil
	}
	if n == 0 {
		return nil, termError("a list of no elements with a tail")
	}
	return Improper{elements, tail}, nil
}

// pairs reads the entries of a map, whose keys must differ.
func (r *Reader) pairs(n, depth int) (Term, error) {
	m := make(Map, n)
	keys := make(map[string]struct{}, n)
	var key []byte
	for i := range m {
		var err error
		if m[i].Key, err = r.term(depth); err != nil {
			return nil, err
		}
		// One key may be written in several ways, so it is compared as we would write it.
		if key, err = appendTerm(key[:0], m[i].Key, depth); err != nil {
			return nil, err
		}
		if _, there := keys[string(key)]; there {
			return nil, termError("a map with one key twice")
		}
		keys[string(key)] = struct{}{}
		if m[i].Value, err = r.term(depth); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// flat makes a term that has no parts of just its bytes, whose number has been checked.
func flat(b []byte) (Term, error) {
	switch b[0] {
	case tagSmallInt:
		return int64(b[1]), nil
	case tagInt:
		return int64(int32(binary.BigEndian.Uint32(b[1:]))), nil
	case tagSmallBig:
		return bigOf(b[2], b[3:])
	case tagLargeBig:
		return bigOf(b[5], b[6:])
	case tagNewFloat:
		f := math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, termError("Erlang has no float %v", f)
		}
		return f, nil
	case tagNil:
		return List(nil), nil
	case tagString:
		return listOf(b[3:]), nil
	case tagBinary:
		return append([]byte{}, b[5:]...), nil
	case tagSmallAtomUTF, tagAtomUTF8, tagSmallAtom, tagAtom:
		return atomOf(b)
	default:
		return named(b)
	}
}

// bigOf makes an integer of its sign and its bytes, the lowest first.
func bigOf(sign byte, digits []byte) (Term, error) {
	if sign > 1 {
		return nil, termError("an integer of sign %d", sign)
	}
	bytes := make([]byte, len(digits))
	for i, d := range digits {
		bytes[len(bytes)-1-i] = d
	}
	n := new(big.Int).SetBytes(bytes)
	if sign == 1 {
		n.Neg(n)
	}
	if n.IsInt64() {
		return n.Int64(), nil
	}
	return n, nil
}

// listOf makes the list that a string is.
func listOf(text []byte) List {
	list := make(List, len(text))
	for i, c := range text {
		list[i] = int64(c)
	}
	return list
}

// atomOf makes an atom. The older forms are in Latin-1.
func atomOf(b []byte) (Atom, error) {
	head, n, err := atomSize(b)
	if err != nil {
		return "", err
	}
	name := b[head : head+n]
	if b[0] == tagAtom || b[0] == tagSmallAtom {
		runes := make([]rune, len(name))
		for i, c := range name {
			runes[i] = rune(c)
		}
		name = []byte(string(runes))
	}
	if !validAtom(name) {
		return "", termError("an atom is up to %d characters in UTF-8, not %.300q", maxAtom, name)
	}
	return Atom(name), nil
}

// named makes a term that has the name of a node in it: a pid, a reference or a port.
func named(b []byte) (Term, error) {
	at := 1
	if b[0] == tagNewRef || b[0] == tagNewerRef {
		at = 3
	}
	node, err := atomOf(b[at:])
	if err != nil {
		return nil, err
	}
	head, n, _ := atomSize(b[at:]) // it has just been read
	numbers := b[at+head+n:]
	word := func(i int) uint32 { return binary.BigEndian.Uint32(numbers[i:]) }
	switch b[0] {
	case tagNewPid:
		return Pid{node, word(0), word(4), word(8)}, nil
	case tagPidOld:
		return Pid{node, word(0), word(4), uint32(numbers[8])}, nil
	case tagV4Port:
		return Port{node, binary.BigEndian.Uint64(numbers), word(8)}, nil
	case tagNewPort:
		return Port{node, uint64(word(0)), word(4)}, nil
	case tagPortOld:
		return Port{node, uint64(word(0)), uint32(numbers[4])}, nil
	case tagRefOld:
		return refOf(node, uint32(numbers[4]), numbers[:4])
	case tagNewRef:
		return refOf(node, uint32(numbers[0]), numbers[1:])
	default: // tagNewerRef
		return refOf(node, word(0), numbers[4:])
	}
}

// refOf makes a reference of its words.
func refOf(node Atom, creation uint32, words []byte) (Term, error) {
	r := Ref{Node: node, Creation: creation, Len: len(words) / 4}
	if r.Len < 1 || r.Len > maxRefIDs {
		return nil, termError("a reference has 1 to %d words, not %d", maxRefIDs, r.Len)
	}
	for i := range r.Len {
		r.IDs[i] = binary.BigEndian.Uint32(words[4*i:])
	}
	return r, nil
}
