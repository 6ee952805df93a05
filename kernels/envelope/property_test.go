package envelope_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels/envelope"
)

// anyText draws a text that XML can hold, with much that has to be escaped.
func anyText() *rapid.Generator[string] {
	char := rapid.OneOf(
		rapid.SampledFrom([]rune("<>&'\"]-\r\n\t ")),
		rapid.RuneFrom([]rune("abcABC019")),
		rapid.Rune().Filter(func(r rune) bool { return r >= ' ' && r != 0xFFFE && r != 0xFFFF && (r < 0xD800 || r > 0xDFFF) }),
	)
	return rapid.StringOfN(char, 0, 40, -1)
}

func anyString() *rapid.Generator[envelope.String] {
	return rapid.Custom(func(t *rapid.T) envelope.String {
		if rapid.IntRange(0, 9).Draw(t, "nil") == 0 {
			return envelope.String{Nil: true}
		}
		return envelope.String{Value: anyText().Draw(t, "value")}
	})
}

func anyBean() *rapid.Generator[envelope.Bean] {
	return rapid.Custom(func(t *rapid.T) envelope.Bean {
		if rapid.IntRange(0, 9).Draw(t, "nil bean") == 0 {
			return envelope.Bean{Nil: true}
		}
		balance := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}))
		return envelope.Bean{
			ID: rapid.Int32().Draw(t, "id"), FirstName: anyString().Draw(t, "firstName"), LastName: anyString().Draw(t, "lastName"),
			City: anyString().Draw(t, "city"), Balance: balance.Draw(t, "balance"), Active: rapid.Bool().Draw(t, "active"),
		}
	})
}

func anyShipment() *rapid.Generator[envelope.Shipment] {
	return rapid.Custom(func(t *rapid.T) envelope.Shipment {
		return envelope.Shipment{
			Number: anyString().Draw(t, "number"), Sent: anyDate().Draw(t, "sent"), From: anyParty().Draw(t, "from"), To: anyParty().Draw(t, "to"),
			Load: rapid.SliceOfN(rapid.Custom(anyParcel), 0, 4).Draw(t, "load"),
		}
	})
}

func anyDate() *rapid.Generator[envelope.Date] {
	return rapid.Custom(func(t *rapid.T) envelope.Date {
		day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 3_652_058).Draw(t, "day")) // the last is 9999-12-31
		d := envelope.Date{Year: int16(day.Year()), Month: uint8(day.Month()), Day: uint8(day.Day())}              //nolint:gosec // Four digits.
		if d.Zoned = rapid.Bool().Draw(t, "zoned"); d.Zoned {
			d.Zone = rapid.Int16Range(-840, 840).Draw(t, "zone")
		}
		return d
	})
}

func anyDecimal() *rapid.Generator[envelope.Decimal] {
	const most = 999_999_999_999_999_999
	return rapid.Map(rapid.Int64Range(-most, most), func(n int64) envelope.Decimal { return envelope.Decimal(n) })
}

func anyParty() *rapid.Generator[envelope.Party] {
	return rapid.Custom(func(t *rapid.T) envelope.Party {
		if rapid.IntRange(0, 9).Draw(t, "nil party") == 0 {
			return envelope.Party{Nil: true}
		}
		return envelope.Party{Name: anyString().Draw(t, "name"), City: anyString().Draw(t, "city")}
	})
}

func anyParcel(t *rapid.T) envelope.Parcel {
	return envelope.Parcel{
		Mark: anyString().Draw(t, "mark"), Weight: anyDecimal().Draw(t, "weight"),
		Items: rapid.SliceOfN(rapid.Custom(anyItem), 0, 4).Draw(t, "items"),
	}
}

func anyItem(t *rapid.T) envelope.Item {
	item := envelope.Item{Article: anyString().Draw(t, "article"), Pieces: rapid.Int32().Draw(t, "pieces"), Duty: envelope.Duty{Nil: true}}
	if rapid.Bool().Draw(t, "duty") {
		item.Duty = envelope.Duty{Tariff: anyString().Draw(t, "tariff"), Amount: anyDecimal().Draw(t, "amount")}
	}
	return item
}

// anyMessage draws a request or an answer of any shape.
func anyMessage() *rapid.Generator[envelope.Message] {
	return rapid.Custom(func(t *rapid.T) envelope.Message {
		m := envelope.Message{Answer: rapid.Bool().Draw(t, "answer")}
		m.Shape = rapid.SampledFrom([]envelope.Shape{envelope.ShapeBeans, envelope.ShapeText, envelope.ShapeRecords, envelope.ShapeDocument}).Draw(t, "shape")
		switch m.Shape {
		case envelope.ShapeText:
			m.Text = anyString().Draw(t, "text")
			return m
		case envelope.ShapeRecords:
			m.Records = rapid.SliceOfN(anyBean(), 0, 20).Draw(t, "records")
			return m
		case envelope.ShapeDocument:
			m.Shipment = anyShipment().Draw(t, "shipment")
			return m
		case envelope.ShapeBeans:
		}
		b := anyBean()
		m.Bundle = envelope.Bundle{
			A: b.Draw(t, "a"), B: b.Draw(t, "b"), C: b.Draw(t, "c"), D: b.Draw(t, "d"),
			Items: rapid.SliceOfN(anyString(), 0, 20).Draw(t, "items"),
		}
		return m
	})
}

// TestModelsAgree checks that both models write the same bytes for a message and read the
// message back from them, and so answer a request with the same bytes.
func TestModelsAgree(t *testing.T) {
	t.Parallel()
	stream, dom := codec(t, envelope.Stream), codec(t, envelope.DOM)
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.SampledFrom(versions).Draw(t, "version")
		stream.Use(version)
		dom.Use(version)
		sent := anyMessage().Draw(t, "message")
		doc := stream.Append(nil, &sent)
		if diff := cmp.Diff(string(doc), string(dom.Append(nil, &sent))); diff != "" {
			t.Fatalf("the models write different bytes (-stream +dom):\n%s", diff)
		}
		for _, c := range []*envelope.Codec{stream, dom} {
			var got envelope.Message
			if err := c.Decode(doc, &got); err != nil {
				t.Fatalf("decode %s: %v", doc, err)
			}
			if got.Answer != sent.Answer || !got.Equal(&sent) {
				t.Fatalf("the message changed (-sent +got):\n%s", cmp.Diff(sent, got))
			}
		}
	})
}

// TestModelsAgreeOnOtherWriters puts comments, CDATA and white space where they mean nothing.
func TestModelsAgreeOnOtherWriters(t *testing.T) {
	t.Parallel()
	stream, dom := codec(t, envelope.Stream), codec(t, envelope.DOM)
	rapid.Check(t, func(t *rapid.T) {
		sent := anyMessage().Draw(t, "message")
		if sent.Shape == envelope.ShapeText {
			t.Skip("a text would change with white space in it")
		}
		doc := string(stream.Append(nil, &sent))
		gap := rapid.SampledFrom([]string{" ", "\n", "<!-- x -->", "\r\n\t<!---->"}).Draw(t, "gap")
		for _, tag := range []string{"<soap:Body>", "<b:in>", "<b:a>", "<b:record>", "<b:load>", "<b:duty>", "</b:id>", "</b:weight>", "</b:active>", "</soap:Body>"} {
			doc = strings.ReplaceAll(doc, tag, tag+gap)
		}
		for _, c := range []*envelope.Codec{stream, dom} {
			var got envelope.Message
			if err := c.Decode([]byte(doc), &got); err != nil {
				t.Fatalf("decode %s: %v", doc, err)
			}
			if !got.Equal(&sent) {
				t.Fatalf("the message changed (-sent +got):\n%s", cmp.Diff(sent, got))
			}
		}
	})
}

// TestInvalidCharacters writes what XML cannot hold: the envelope stays well-formed.
func TestInvalidCharacters(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, text, want string }{
		{"control characters", "a\x00b\x1Fc", "a\uFFFDb\uFFFDc"},
		{"not UTF-8", "a\xFFb\xC3", "a\uFFFDb\uFFFD"},
		{"no character", "a\uFFFEb", "a\uFFFDb"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, model := range models {
				c := codec(t, model)
				sent := textMessage(row.text)
				var got envelope.Message
				if err := c.Decode(c.Append(nil, &sent), &got); err != nil {
					t.Fatalf("%s: %v", model, err)
				}
				if got.Text.Value != row.want {
					t.Errorf("%s: got %q, want %q", model, got.Text.Value, row.want)
				}
			}
		})
	}
}
