package erldist

import "fmt"

// A Term is a value of Erlang: an int, int64 or *big.Int, a float64, an Atom, a []byte
// (a binary), a Tuple, a List or an Improper one, a Map, a Pid, a Ref or a Port.
//
// Decode gives integers as int64 where they fit and as *big.Int where they do not.
type Term any

// An Atom is a name, up to 255 characters of Unicode.
type Atom string

// A Tuple is a fixed number of terms.
type Tuple []Term

// A List is a proper list; nil is the empty one.
type List []Term

// An Improper is a list of at least one element with a tail that is no list.
type Improper struct {
	Elements []Term
	Tail     Term
}

// A Map is what maps keys to values, in the order in which it was written.
type Map []Pair

// A Pair is one entry of a Map.
type Pair struct{ Key, Value Term }

// A Pid names a process, or a mailbox of ours.
type Pid struct {
	Node     Atom
	ID       uint32
	Serial   uint32
	Creation uint32 // tells the lives of a node of one name apart
}

// A Ref is a reference: unique, and good for nothing else. Of IDs the first Len count.
type Ref struct {
	Node     Atom
	Creation uint32
	Len      int
	IDs      [maxRefIDs]uint32
}

// A Port names a port of a node.
type Port struct {
	Node     Atom
	ID       uint64
	Creation uint32
}

// maxRefIDs is how many 32-bit words a reference may have.
const maxRefIDs = 5

// The tags of the external term format that are read or written here.
const (
	tagVersion      = 131
	tagNewFloat     = 70
	tagBitBinary    = 77
	tagNewPid       = 88
	tagNewPort      = 89
	tagNewerRef     = 90
	tagSmallInt     = 97
	tagInt          = 98
	tagAtom         = 100
	tagRefOld       = 101
	tagPortOld      = 102
	tagPidOld       = 103
	tagSmallTuple   = 104
	tagLargeTuple   = 105
	tagNil          = 106
	tagString       = 107
	tagList         = 108
	tagBinary       = 109
	tagSmallBig     = 110
	tagLargeBig     = 111
	tagNewRef       = 114
	tagSmallAtom    = 115
	tagMap          = 116
	tagAtomUTF8     = 118
	tagSmallAtomUTF = 119
	tagV4Port       = 120
	tagFun          = 112
	tagExport       = 113
	tagCompressed   = 80
)

// Limits of what is read.
const (
	// maxDepth is how deep terms may be nested. Erlang has no such limit, but what is deeper
	// than this is an attack on the stack.
	maxDepth = 512
	// maxAtom is how many characters an atom may have.
	maxAtom = 255
	// maxAtomBytes is how many bytes those may take in UTF-8.
	maxAtomBytes = 4 * maxAtom
)

// String writes a pid as Erlang's shell would on its own node.
func (p Pid) String() string { return fmt.Sprintf("<%s.%d.%d>", p.Node, p.ID, p.Serial) }

// termError is an error about the bytes of a term.
func termError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTerm, fmt.Sprintf(format, args...))
}
