package envelope

import "github.com/beevik/etree"

// A grower makes trees, one after another, from their leaves to their root. The nodes are
// etree's own and joined by its AddChild, which is all that distinguishes such a tree from
// one that was made by CreateElement and CreateText; their memory is what differs.
//
// A tree of a message has a few hundred nodes, each a block of memory of its own with
// etree's functions, and a list of its children that is moved as it grows. Here nodes are
// taken from slabs, and since a node is joined to its children when it ends, its list has
// from the beginning the length it needs. Small slabs serve the next tree too, so a tree is
// of use only until cut.
type grower struct {
	elements slab[etree.Element]
	texts    slab[etree.CharData]
	tokens   slab[etree.Token]
	attrs    slab[etree.Attr]
	strings  block

	open  []growing
	loose []etree.Token // the children of open elements, those of the innermost last
}

// A growing element is one that has not ended.
type growing struct {
	element *etree.Element
	first   int // of its children, among the loose tokens
}

// numbersMost is how much room for the values of a message other than its texts is made at once.
const numbersMost = 64 << 10

// keptTokens is how many loose tokens a grower keeps room for from one tree to the next.
const keptTokens = 4096

// begin begins an element, with room for so many attributes.
func (g *grower) begin(space, tag string, attrs int) *etree.Element {
	e := &g.elements.take(1)[0]
	e.Space, e.Tag = space, tag
	if attrs > 0 {
		e.Attr = g.attrs.take(attrs)[:0]
	}
	g.loose = append(g.loose, e)
	g.open = append(g.open, growing{e, len(g.loose)})
	return e
}

// text adds a text to the innermost element that is open.
func (g *grower) text(s string) {
	t := &g.texts.take(1)[0]
	t.Data = s
	g.loose = append(g.loose, t)
}

// end ends the innermost element that is open.
func (g *grower) end() {
	last := g.open[len(g.open)-1]
	g.open = g.open[:len(g.open)-1]
	children := g.loose[last.first:]
	g.loose = g.loose[:last.first]
	if len(children) == 0 {
		return
	}
	last.element.Child = g.tokens.take(len(children))[:0]
	for _, child := range children {
		last.element.AddChild(child)
	}
}

// bare tells whether the innermost element that is open has no children yet.
func (g *grower) bare() bool { return len(g.loose) == g.open[len(g.open)-1].first }

// leaf adds an element with a text, which may be empty.
func (g *grower) leaf(space, tag, text string) {
	g.begin(space, tag, 0)
	g.text(text)
	g.end()
}

// root returns the first element that was begun.
func (g *grower) root() *etree.Element {
	e, _ := g.loose[0].(*etree.Element)
	return e
}

// cut takes the nodes of the tree back, whether it was finished or not.
func (g *grower) cut() {
	g.elements.reset()
	g.texts.reset()
	g.tokens.reset()
	g.attrs.reset()
	g.open = g.open[:0]
	clear(g.loose[:cap(g.loose)])
	if g.loose = g.loose[:0]; cap(g.loose) > keptTokens {
		g.loose = nil
	}
}

// A slab hands out values that lie beside each other.
type slab[T any] struct{ taken []T }

// The values of the smallest and of the largest slab. Of a large tree only the last one is
// kept.
const (
	slabLeast = 32
	slabMost  = 512
)

// take hands out n values, all zero.
func (s *slab[T]) take(n int) []T {
	if n > slabMost {
		return make([]T, n)
	}
	from := len(s.taken)
	if from+n > cap(s.taken) {
		from, s.taken = 0, make([]T, 0, max(n, min(2*cap(s.taken), slabMost), slabLeast))
	}
	s.taken = s.taken[:from+n]
	return s.taken[from : from+n : from+n]
}

// reset takes back what was handed out of the last slab.
func (s *slab[T]) reset() {
	clear(s.taken)
	s.taken = s.taken[:0]
}
