package envelope

// A record is content that is made of parts, each an element of its own: a bean, a parcel, a
// list of either. What its parts are called and where their values lie is told once, in the
// file of the payload it belongs to; both models read and write it from that.
//
// So a payload is a file: its types, a layout for each, and what makes it from a seed. A line
// in operations and one in Message.content and Message.Equal bring it in.
type record interface {
	// layout tells what its parts are.
	layout() *layout
	// part returns where the value of the part i lies. It is a *String, *int32, *float64,
	// *bool, *Date or *Decimal, a *[]String or a list for a part that may come more than once,
	// or a record.
	part(i int) any
	// reset makes it nil, or present and all its parts absent. It lets go of every string and
	// keeps the memory of lists.
	reset(null bool)
	// isNil tells whether it is nil.
	isNil() bool
}

// A list is records of one type.
type list interface {
	more() record // one more at the end, whose content is of no account
	at(i int) record
	size() int
}

// A layout tells what the parts of a type of records are, in the order in which they are
// written. They may come in any order.
type layout struct {
	what     string // "a bean", as errors call it
	nillable bool
	parts    []part
	needed   set // the parts that have to be there
}

// A part is one of a record's.
type part struct {
	name, open, close string
	must, many        bool
}

// may makes a part that may be absent or nil, must one that has to be there, and many one
// that may come any number of times.
func may(name string) part {
	return part{name: name, open: "<b:" + name + ">", close: "</b:" + name + ">"}
}

func must(name string) part {
	p := may(name)
	p.must = true
	return p
}

func many(name string) part {
	p := may(name)
	p.many = true
	return p
}

// newLayout makes a layout. A set holds sixteen parts.
func newLayout(what string, nillable bool, parts ...part) *layout {
	l := &layout{what: what, nillable: nillable, parts: parts}
	for i := range parts {
		if parts[i].must {
			l.needed.add(i)
		}
	}
	return l
}

// find returns the place of the part with this name, or -1. A switch on the conversion of
// bytes to a string does not allocate, and neither does this comparison.
func find[T string | []byte](l *layout, name T) int {
	for i := range l.parts {
		if l.parts[i].name == string(name) {
			return i
		}
	}
	return -1
}

// takes tells whether the part i may come behind those that were seen, and adds it to them.
func (l *layout) takes(i int, seen *set) bool {
	if i < 0 || seen.has(i) && !l.parts[i].many {
		return false
	}
	seen.add(i)
	return true
}

// next returns the part that is likely to come behind the part i.
func (l *layout) next(i int) int {
	if l.parts[i].many {
		return i
	}
	return i + 1
}

// A set is one of parts.
type set uint16

func (s *set) add(i int)     { *s |= 1 << i }
func (s set) has(i int) bool { return s&(1<<i) != 0 }

// A listOf is a list of records that are kept in a slice of T.
type listOf[T any, P interface {
	*T
	record
}] []T

// more uses the memory of a record that was there before, with the lists that it holds.
func (l *listOf[T, P]) more() record {
	n := len(*l)
	if n == cap(*l) {
		*l = append(*l, *new(T))
	}
	*l = (*l)[:n+1]
	return P(&(*l)[n])
}

func (l *listOf[T, P]) at(i int) record { return P(&(*l)[i]) }

func (l *listOf[T, P]) size() int { return len(*l) }

// empty makes a list empty. What it held lets go of its strings, since all strings of a
// message share one block of memory: one string too many would keep the block of a message
// long gone.
func (l *listOf[T, P]) empty() {
	for i := range *l {
		P(&(*l)[i]).reset(false)
	}
	*l = (*l)[:0]
}

// same compares lists without copying what is in them.
func same[T any](a, b []T, equal func(*T, *T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(&a[i], &b[i]) {
			return false
		}
	}
	return true
}
