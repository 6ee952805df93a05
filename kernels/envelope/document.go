package envelope

// A Shipment is the content of ShapeDocument: what goes from one party to another, in
// parcels, each with items, each with the duty on it. It is six elements deep and has no text
// beside elements. As XML:
//
//	<b:in>
//	  <b:number>SN-104233</b:number>
//	  <b:sent>2026-03-14</b:sent>
//	  <b:from><b:name>Novak</b:name><b:city>Brno</b:city></b:from>
//	  <b:to><b:name>Vesely</b:name><b:city>Zlin</b:city></b:to>
//	  <b:load>
//	    <b:parcel>
//	      <b:mark>depot</b:mark>
//	      <b:weight>12.45</b:weight>
//	      <b:item>
//	        <b:article>pallet</b:article>
//	        <b:pieces>12</b:pieces>
//	        <b:duty><b:tariff>847130</b:tariff><b:amount>123.5</b:amount></b:duty>
//	      </b:item>
//	      …
//	    </b:parcel>
//	    …
//	  </b:load>
//	</b:in>
//
// Numbers, dates and the load have to be there; strings, parties and duties may be absent.
type Shipment struct {
	Number   String
	Sent     Date
	From, To Party
	Load     []Parcel // as XML an element "load" around an element "parcel" for each
}

// A Party is who sends or receives.
type Party struct {
	Nil        bool // xsi:nil, or absent; the other fields do not count
	Name, City String
}

// A Parcel is a part of a load. As XML there is an element "item" for each of its items.
type Parcel struct {
	Mark   String
	Weight Decimal
	Items  []Item
}

// An Item is a number of pieces of one article.
type Item struct {
	Article String
	Pieces  int32
	Duty    Duty
}

// A Duty is what is to be paid for an item.
type Duty struct {
	Nil    bool // xsi:nil, or absent; the other fields do not count
	Tariff String
	Amount Decimal
}

var shipmentLayout = newLayout("a shipment", false, may("number"), must("sent"), may("from"), may("to"), must("load")) //nolint:gochecknoglobals // A table that is never changed.

func (s *Shipment) layout() *layout { return shipmentLayout }

func (s *Shipment) part(i int) any {
	switch i {
	case 0:
		return &s.Number
	case 1:
		return &s.Sent
	case 2:
		return &s.From
	case 3:
		return &s.To
	default:
		return (*load)(&s.Load)
	}
}

func (s *Shipment) reset(bool) {
	(*load)(&s.Load).reset(false)
	*s = Shipment{Number: String{Nil: true}, From: Party{Nil: true}, To: Party{Nil: true}, Load: s.Load}
}

func (s *Shipment) isNil() bool { return false }

func (s *Shipment) equal(o *Shipment) bool {
	return s.Number == o.Number && s.Sent == o.Sent && s.From.equal(&o.From) && s.To.equal(&o.To) &&
		same(s.Load, o.Load, (*Parcel).equal)
}

var partyLayout = newLayout("a party", true, may("name"), may("city")) //nolint:gochecknoglobals // A table that is never changed.

func (p *Party) layout() *layout { return partyLayout }

func (p *Party) part(i int) any {
	if i == 0 {
		return &p.Name
	}
	return &p.City
}

func (p *Party) reset(null bool) {
	absent := String{Nil: !null}
	*p = Party{Nil: null, Name: absent, City: absent}
}

func (p *Party) isNil() bool { return p.Nil }

func (p *Party) equal(o *Party) bool {
	if p.Nil || o.Nil {
		return p.Nil == o.Nil
	}
	return p.Name == o.Name && p.City == o.City
}

// A load is the parcels of a shipment.
type load listOf[Parcel, *Parcel]

var loadLayout = newLayout("a load", false, many("parcel")) //nolint:gochecknoglobals // A table that is never changed.

func (l *load) layout() *layout { return loadLayout }

func (l *load) part(int) any { return (*listOf[Parcel, *Parcel])(l) }

func (l *load) reset(bool) { (*listOf[Parcel, *Parcel])(l).empty() }

func (l *load) isNil() bool { return false }

var parcelLayout = newLayout("a parcel", false, may("mark"), must("weight"), many("item")) //nolint:gochecknoglobals // A table that is never changed.

func (p *Parcel) layout() *layout { return parcelLayout }

func (p *Parcel) part(i int) any {
	switch i {
	case 0:
		return &p.Mark
	case 1:
		return &p.Weight
	default:
		return (*listOf[Item, *Item])(&p.Items)
	}
}

func (p *Parcel) reset(bool) {
	(*listOf[Item, *Item])(&p.Items).empty()
	*p = Parcel{Mark: String{Nil: true}, Items: p.Items}
}

func (p *Parcel) isNil() bool { return false }

func (p *Parcel) equal(o *Parcel) bool {
	return p.Mark == o.Mark && p.Weight == o.Weight && same(p.Items, o.Items, (*Item).equal)
}

var itemLayout = newLayout("an item", false, may("article"), must("pieces"), may("duty")) //nolint:gochecknoglobals // A table that is never changed.

func (t *Item) layout() *layout { return itemLayout }

func (t *Item) part(i int) any {
	switch i {
	case 0:
		return &t.Article
	case 1:
		return &t.Pieces
	default:
		return &t.Duty
	}
}

func (t *Item) reset(bool) { *t = Item{Article: String{Nil: true}, Duty: Duty{Nil: true}} }

func (t *Item) isNil() bool { return false }

func (t *Item) equal(o *Item) bool {
	return t.Article == o.Article && t.Pieces == o.Pieces && t.Duty.equal(&o.Duty)
}

var dutyLayout = newLayout("a duty", true, may("tariff"), must("amount")) //nolint:gochecknoglobals // A table that is never changed.

func (d *Duty) layout() *layout { return dutyLayout }

func (d *Duty) part(i int) any {
	if i == 0 {
		return &d.Tariff
	}
	return &d.Amount
}

func (d *Duty) reset(null bool) { *d = Duty{Nil: null, Tariff: String{Nil: !null}} }

func (d *Duty) isNil() bool { return d.Nil }

func (d *Duty) equal(o *Duty) bool {
	if d.Nil || o.Nil {
		return d.Nil == o.Nil
	}
	return d.Tariff == o.Tariff && d.Amount == o.Amount
}

// Document makes the request with a shipment whose envelope is size bytes long: one parcel
// with a few items in 1 KB, and as many more parcels as there is room for in a larger one. The
// same seed gives the same message. A size too small for one item is an error.
//
// The smallest document of the article it is made after had 992 bytes without an envelope.
func Document(size int, seed uint64) (Message, error) {
	g := newGenerator(seed)
	m := Message{Shape: ShapeDocument, Shipment: g.shipment()}
	left := size - len(appendMessage(nil, &m, V11))
	if left < 0 {
		return Message{}, tooSmall(size, size-left)
	}
	parcels := (*load)(&m.Shipment.Load)
	for taken := parcels.grow(g, left); taken > 0; taken = parcels.grow(g, left) {
		left -= taken
	}
	last := parcels.last()
	last.Items[len(last.Items)-1].Article.Value += g.tail(left)
	return m, nil
}

// grow adds an item to the last parcel, or a parcel if that has enough of them. It returns
// how many bytes longer the document is now, or 0 if more than left would be needed.
func (l *load) grow(g generator, left int) int {
	last := l.last()
	if len(last.Items) == parcelItems {
		parcel := g.parcel()
		n := len(appendRecord(nil, &loadLayout.parts[0], &parcel))
		if n > left {
			return 0
		}
		*l = append(*l, parcel)
		return n
	}
	item := g.item()
	n := len(appendRecord(nil, &parcelLayout.parts[2], &item))
	if n > left {
		return 0
	}
	last.Items = append(last.Items, item)
	return n
}

func (l *load) last() *Parcel { return &(*l)[len(*l)-1] }

// parcelItems is how many items a generated parcel has, but for the last.
const parcelItems = 4

// shipment makes one with a parcel.
func (g generator) shipment() Shipment {
	return Shipment{
		Number: String{Value: "SN-" + g.digits(6)},
		Sent:   Date{Year: 2026, Month: uint8(1 + g.below(12)), Day: uint8(1 + g.below(28))}, //nolint:gosec // Neither is above 31.
		From:   g.party(),
		To:     g.party(),
		Load:   []Parcel{g.parcel()},
	}
}

func (g generator) party() Party {
	return Party{Name: String{Value: g.pick(lastNames())}, City: String{Value: g.pick(cities())}}
}

// parcel makes one with an item.
func (g generator) parcel() Parcel {
	return Parcel{Mark: String{Value: g.pick(words())}, Weight: g.decimal(100), Items: []Item{g.item()}}
}

func (g generator) item() Item {
	return Item{
		Article: String{Value: g.pick(words())},
		Pieces:  int32(1 + g.below(500)), //nolint:gosec // It is no more than 500.
		Duty:    Duty{Tariff: String{Value: g.digits(6)}, Amount: g.decimal(10_000)},
	}
}

// decimal makes one from 1 to below most, in hundredths.
func (g generator) decimal(most int) Decimal { return Decimal(1000 + 10*g.below((most-1)*100)) }

// digits makes a number of n digits, none of which is left out.
func (g generator) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0' + byte(g.below(10)) //nolint:gosec // It is a digit.
	}
	return string(b)
}
