package envelope

import "slices"

// A Bundle is four beans and an array of strings. As XML the array is an element for each of
// its strings, without one around them, so that an array without strings is no element:
//
//	<b:a>…</b:a> <b:b>…</b:b> <b:c>…</b:c> <b:d>…</b:d> <b:items>…</b:items> <b:items>…</b:items> …
type Bundle struct {
	A, B, C, D Bean
	Items      []String
}

var bundleLayout = newLayout("a bundle", false, may("a"), may("b"), may("c"), may("d"), many("items")) //nolint:gochecknoglobals // A table that is never changed.

func (b *Bundle) layout() *layout { return bundleLayout }

func (b *Bundle) part(i int) any {
	switch i {
	case 0:
		return &b.A
	case 1:
		return &b.B
	case 2:
		return &b.C
	case 3:
		return &b.D
	default:
		return &b.Items
	}
}

func (b *Bundle) reset(bool) {
	absent := Bean{Nil: true}
	clear(b.Items)
	*b = Bundle{A: absent, B: absent, C: absent, D: absent, Items: b.Items[:0]}
}

func (b *Bundle) isNil() bool { return false }

func (b *Bundle) equal(o *Bundle) bool {
	return b.A.equal(&o.A) && b.B.equal(&o.B) && b.C.equal(&o.C) && b.D.equal(&o.D) && slices.Equal(b.Items, o.Items)
}

// A Bean is a record of simple values. As XML it is an element for each field:
//
//	id xsd:int, firstName, lastName, city xsd:string, balance xsd:double, active xsd:boolean
//
// The numbers and the truth value have to be there; the strings may be absent.
type Bean struct {
	Nil       bool // xsi:nil, or absent; the other fields do not count
	ID        int32
	FirstName String
	LastName  String
	City      String
	Balance   float64
	Active    bool
}

var beanLayout = newLayout("a bean", true, must("id"), may("firstName"), may("lastName"), may("city"), must("balance"), must("active")) //nolint:gochecknoglobals // A table that is never changed.

func (b *Bean) layout() *layout { return beanLayout }

func (b *Bean) part(i int) any {
	switch i {
	case 0:
		return &b.ID
	case 1:
		return &b.FirstName
	case 2:
		return &b.LastName
	case 3:
		return &b.City
	case 4:
		return &b.Balance
	default:
		return &b.Active
	}
}

func (b *Bean) reset(null bool) {
	if null {
		*b = Bean{Nil: true}
		return
	}
	absent := String{Nil: true}
	*b = Bean{FirstName: absent, LastName: absent, City: absent}
}

func (b *Bean) isNil() bool { return b.Nil }

func (b *Bean) equal(o *Bean) bool {
	if b.Nil || o.Nil {
		return b.Nil == o.Nil
	}
	return b.ID == o.ID && b.Active == o.Active && sameFloat(b.Balance, o.Balance) &&
		b.FirstName == o.FirstName && b.LastName == o.LastName && b.City == o.City
}

// BeansSize is the length in bytes of the request that Beans makes: 2.2 KB.
const BeansSize = 2253

// Beans are about this long without an array, and an item of it takes about so much room.
const (
	beansRoom = 960
	itemRoom  = 80
)

// Beans makes the request of four beans and an array of sixteen strings whose envelope is
// BeansSize bytes long. The same seed gives the same message.
func Beans(seed uint64) Message {
	m, _ := makeBeans(BeansSize, seed) // the longest words there are fit into it
	return m
}

// SizedBeans makes the request of four beans and an array of strings, the longer the larger
// the envelope, which is size bytes long. The same seed gives the same message. A size too
// small for the beans is an error.
func SizedBeans(size int, seed uint64) (Message, error) {
	m, short := makeBeans(size, seed)
	if short > 0 {
		return Message{}, tooSmall(size, size+short)
	}
	return m, nil
}

// makeBeans makes the beans, and tells how many bytes too long their envelope is.
func makeBeans(size int, seed uint64) (m Message, short int) {
	g := newGenerator(seed)
	m = Message{Shape: ShapeBeans, Bundle: Bundle{
		A: g.bean(firstID), B: g.bean(firstID + 1), C: g.bean(firstID + 2), D: g.bean(firstID + 3),
		Items: make([]String, max(1, (size-beansRoom)/itemRoom)),
	}}
	for i := range m.Bundle.Items {
		m.Bundle.Items[i].Value = g.pick(words())
	}
	left := size - len(appendMessage(nil, &m, V11))
	if left < 0 {
		return m, -left
	}
	g.fill(m.Bundle.Items, left)
	return m, 0
}

// firstID is the id of the first bean or record.
const firstID = 1000

func (g generator) bean(id int32) Bean {
	return Bean{
		ID:        id,
		FirstName: String{Value: g.pick(firstNames())},
		LastName:  String{Value: g.pick(lastNames())},
		City:      String{Value: g.pick(cities())},
		Balance:   1000 + float64(g.below(9000)) + 0.5,
		Active:    g.below(2) == 1,
	}
}
