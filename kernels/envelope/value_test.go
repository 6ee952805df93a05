package envelope_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"benchd/kernels/envelope"
)

// weighed puts the text of a decimal into an envelope, dated that of a date.
func weighed(text string) string {
	return shipment(sent + "<e:load><e:parcel><e:weight>" + text + "</e:weight></e:parcel></e:load>")
}

func dated(text string) string { return shipment("<e:sent>" + text + "</e:sent><e:load/>") }

// both reads a document by both models and tells whether they take it.
func both(t *testing.T, doc string) (m envelope.Message, ok bool) {
	t.Helper()
	for _, model := range models {
		var refused *envelope.Error
		err := codec(t, model).Decode([]byte(doc), &m)
		if err != nil && (!errors.As(err, &refused) || !strings.Contains(refused.Reason, "not of its type")) {
			t.Fatalf("%s: decode %s: %v", model, doc, err)
		}
		if model == models[0] {
			ok = err == nil
		} else if ok != (err == nil) {
			t.Fatalf("the models differ on %s: %v", doc, err)
		}
	}
	return m, ok
}

// TestDecimals reads decimals and writes them again: the shortest way.
func TestDecimals(t *testing.T) {
	t.Parallel()
	rows := []struct {
		text    string
		want    envelope.Decimal
		written string // empty if it is refused
	}{
		{"0", 0, "0"},
		{"-0", 0, "0"},
		{"+000.000000", 0, "0"},
		{"1", 1000, "1"},
		{"-1.5", -1500, "-1.5"},
		{" 12.340\n", 12340, "12.34"},
		{".007", 7, "0.007"},
		{"7.", 7000, "7"},
		{"-.5", -500, "-0.5"},
		{"00012.1000000", 12100, "12.1"},
		{"999999999999999.999", 999_999_999_999_999_999, "999999999999999.999"},
		{"-999999999999999.999", -999_999_999_999_999_999, "-999999999999999.999"},
		{text: "1000000000000000"},
		{text: "99999999999999999999999999"},
		{text: "0.0001"},
		{text: "0.1230001"},
		{text: ""},
		{text: "."},
		{text: "-"},
		{text: "+-1"},
		{text: "1.2.3"},
		{text: "1e3"},
		{text: "1,5"},
		{text: "1 000"},
		{text: "0x10"},
		{text: "INF"},
		{text: "1/"},
	}
	for _, row := range rows {
		t.Run(row.text, func(t *testing.T) {
			t.Parallel()
			m, ok := both(t, weighed(row.text))
			if ok != (row.written != "") {
				t.Fatalf("accepted: %v", ok)
			}
			if !ok {
				return
			}
			if got := m.Shipment.Load[0].Weight; got != row.want {
				t.Errorf("got %d thousandths, want %d", got, row.want)
			}
			if doc := string(codec(t, envelope.Stream).Append(nil, &m)); !strings.Contains(doc, "<b:weight>"+row.written+"</b:weight>") {
				t.Errorf("want %q written in %s", row.written, doc)
			}
		})
	}
}

// TestDates reads dates and writes them again.
func TestDates(t *testing.T) {
	t.Parallel()
	rows := []struct {
		text    string
		want    envelope.Date
		written string // empty if it is refused
	}{
		{"2026-11-30", envelope.Date{Year: 2026, Month: 11, Day: 30}, "2026-11-30"},
		{" 0001-01-01\t", envelope.Date{Year: 1, Month: 1, Day: 1}, "0001-01-01"},
		{"9999-12-31", envelope.Date{Year: 9999, Month: 12, Day: 31}, "9999-12-31"},
		{"2028-02-29", envelope.Date{Year: 2028, Month: 2, Day: 29}, "2028-02-29"},
		{"2000-02-29", envelope.Date{Year: 2000, Month: 2, Day: 29}, "2000-02-29"},
		{"2026-11-30Z", envelope.Date{Year: 2026, Month: 11, Day: 30, Zoned: true}, "2026-11-30Z"},
		{"2026-11-30-00:00", envelope.Date{Year: 2026, Month: 11, Day: 30, Zoned: true}, "2026-11-30Z"},
		{"2026-11-30+05:45", envelope.Date{Year: 2026, Month: 11, Day: 30, Zoned: true, Zone: 345}, "2026-11-30+05:45"},
		{"2026-11-30-14:00", envelope.Date{Year: 2026, Month: 11, Day: 30, Zoned: true, Zone: -840}, "2026-11-30-14:00"},
		{text: ""},
		{text: "2026-11"},
		{text: "2026-11-31"},
		{text: "2026-02-29"},
		{text: "2100-02-29"},
		{text: "2026-13-01"},
		{text: "2026-00-10"},
		{text: "2026-01-00"},
		{text: "0000-01-01"},
		{text: "-0044-03-15"},
		{text: "12026-11-30"},
		{text: "2026/11/30"},
		{text: "2026-1-30"},
		{text: "30.11.2026"},
		{text: "2026-11-30z"},
		{text: "2026-11-30T00:00:00"},
		{text: "2026-11-30+14:01"},
		{text: "2026-11-30+01:60"},
		{text: "2026-11-30+1:00"},
		{text: "2026-11-30+01.00"},
		{text: "2026-11-30 01:00"},
		{text: "2026-11-30+0a:00"},
		{text: "2026-11-30+00:0a"},
		{text: "２026-11-3"},
	}
	for _, row := range rows {
		t.Run(row.text, func(t *testing.T) {
			t.Parallel()
			m, ok := both(t, dated(row.text))
			if ok != (row.written != "") {
				t.Fatalf("accepted: %v", ok)
			}
			if !ok {
				return
			}
			if got := m.Shipment.Sent; got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
			if doc := string(codec(t, envelope.Stream).Append(nil, &m)); !strings.Contains(doc, "<b:sent>"+row.written+"</b:sent>") {
				t.Errorf("want %q written in %s", row.written, doc)
			}
		})
	}
}

// wholeShipment has something everywhere.
func wholeShipment() envelope.Shipment {
	return envelope.Shipment{
		Number: str("n"), Sent: envelope.Date{Year: 2026, Month: 11, Day: 30}, From: envelope.Party{Name: str("a"), City: str("b")}, To: envelope.Party{Name: str("c"), City: str("d")},
		Load: []envelope.Parcel{{Mark: str("m"), Weight: 1, Items: []envelope.Item{{Article: str("i"), Pieces: 1, Duty: envelope.Duty{Tariff: str("t"), Amount: 1}}}}},
	}
}

// TestEqualLooksAtEverything changes each value of each shape: the message is another then.
func TestEqualLooksAtEverything(t *testing.T) {
	t.Parallel()
	bean := envelope.Bean{ID: 1, FirstName: str("f"), LastName: str("l"), City: str("c"), Balance: 1, Active: true}
	base := func(shape envelope.Shape) envelope.Message {
		return envelope.Message{
			Shape: shape, Text: str("x"), Records: []envelope.Bean{bean, bean}, Shipment: wholeShipment(),
			Bundle: envelope.Bundle{A: bean, B: bean, C: bean, D: bean, Items: []envelope.String{str("i")}},
		}
	}
	changes := map[envelope.Shape][]func(m *envelope.Message){
		envelope.ShapeText: {
			func(m *envelope.Message) { m.Text.Value = "" },
			func(m *envelope.Message) { m.Text.Nil = true },
		},
		envelope.ShapeRecords: {
			func(m *envelope.Message) { m.Records = m.Records[:1] },
			func(m *envelope.Message) { m.Records[1].Nil = true },
			func(m *envelope.Message) { m.Records[1].ID++ },
			func(m *envelope.Message) { m.Records[1].FirstName.Nil = true },
			func(m *envelope.Message) { m.Records[1].LastName.Value = "" },
			func(m *envelope.Message) { m.Records[1].City.Value = "" },
			func(m *envelope.Message) { m.Records[1].Balance++ },
			func(m *envelope.Message) { m.Records[1].Active = false },
		},
		envelope.ShapeBeans: {
			func(m *envelope.Message) { m.Bundle.A.ID++ },
			func(m *envelope.Message) { m.Bundle.B.ID++ },
			func(m *envelope.Message) { m.Bundle.C.ID++ },
			func(m *envelope.Message) { m.Bundle.D.Nil = true },
			func(m *envelope.Message) { m.Bundle.Items = nil },
			func(m *envelope.Message) { m.Bundle.Items[0].Nil = true },
		},
		envelope.ShapeDocument: {
			func(m *envelope.Message) { m.Shipment.Number.Value = "" },
			func(m *envelope.Message) { m.Shipment.Sent.Year++ },
			func(m *envelope.Message) { m.Shipment.Sent.Month-- },
			func(m *envelope.Message) { m.Shipment.Sent.Day-- },
			func(m *envelope.Message) { m.Shipment.Sent.Zoned = true },
			func(m *envelope.Message) { m.Shipment.Sent.Zone = 60 },
			func(m *envelope.Message) { m.Shipment.From.Nil = true },
			func(m *envelope.Message) { m.Shipment.From.Name.Value = "" },
			func(m *envelope.Message) { m.Shipment.To.City.Nil = true },
			func(m *envelope.Message) { m.Shipment.Load = nil },
			func(m *envelope.Message) { m.Shipment.Load[0].Mark.Value = "" },
			func(m *envelope.Message) { m.Shipment.Load[0].Weight++ },
			func(m *envelope.Message) { m.Shipment.Load[0].Items = nil },
			func(m *envelope.Message) { m.Shipment.Load[0].Items[0].Article.Nil = true },
			func(m *envelope.Message) { m.Shipment.Load[0].Items[0].Pieces++ },
			func(m *envelope.Message) { m.Shipment.Load[0].Items[0].Duty.Nil = true },
			func(m *envelope.Message) { m.Shipment.Load[0].Items[0].Duty.Tariff.Value = "" },
			func(m *envelope.Message) { m.Shipment.Load[0].Items[0].Duty.Amount++ },
		},
	}
	for shape, list := range changes {
		for i, change := range list {
			t.Run(fmt.Sprint(shape, " ", i), func(t *testing.T) {
				t.Parallel()
				one, same, other := base(shape), base(shape), base(shape)
				same.Answer = true
				change(&other)
				if !one.Equal(&same) {
					t.Error("the answer to a message is not equal to it")
				}
				if one.Equal(&other) || other.Equal(&one) {
					t.Error("a message is equal to one that was changed")
				}
			})
		}
	}
}
