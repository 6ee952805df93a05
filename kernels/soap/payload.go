package soap

import (
	"fmt"
	"strings"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// The payloads.
const (
	payloadBeans    = "beans"
	payloadText     = "text"
	payloadRecords  = "records"
	payloadDocument = "document"
)

// payloads returns their names, the default first.
func payloads() []string {
	return []string{payloadBeans, payloadText, payloadRecords, payloadDocument}
}

// payloadParam is the parameter that names one.
func payloadParam() kernels.Param {
	return kernels.Param{
		Name: "payload", Kind: kernels.Word, Default: payloadBeans, Values: payloads(),
		Doc: "What the envelope holds: four beans and an array of strings, one text, a list of beans, or a shipment document six elements deep.",
	}
}

// payloadSeed makes the message: the same in every run, so that results can be compared.
const payloadSeed = 1

// payload makes the message that is asked for. Its envelope has exactly the size that is
// asked for, whatever it holds.
func payload(p kernels.Params) (envelope.Message, error) {
	size := p.Bytes("size")
	switch p.Word("payload") {
	case payloadBeans:
		return envelope.SizedBeans(size, payloadSeed)
	case payloadText:
		return envelope.Text(size, payloadSeed)
	case payloadRecords:
		return envelope.Records(size, payloadSeed)
	case payloadDocument:
		return envelope.Document(size, payloadSeed)
	}
	return envelope.Message{}, fmt.Errorf("there is no payload %q; allowed are %s", p.Word("payload"), strings.Join(payloads(), ", "))
}

// hardMessage has what careless services lose: markup in text, line ends, white space at
// both ends, letters of several lengths, what is nil, what is empty, a list without items, the
// largest and smallest numbers, the day of leap years. The time zone of a date is not in it:
// what many stacks make of a date has none.
func hardMessage(shape envelope.Shape) envelope.Message {
	markup := envelope.String{Value: `<a href="x">&amp;]]>'`}
	blanks := envelope.String{Value: " \t\r\n\r Žluťoučký 馬 🐎 "}
	list := []envelope.Bean{
		{ID: -1 << 31, FirstName: markup, Balance: 5e-324},
		{ID: 1<<31 - 1, LastName: blanks, Balance: -1.7976931348623157e308},
		{FirstName: envelope.String{Nil: true}, City: envelope.String{Nil: true}, Active: true},
		{Nil: true},
	}
	return envelope.Message{
		Shape:    shape,
		Bundle:   envelope.Bundle{A: list[0], B: list[1], C: list[2], D: list[3]},
		Text:     envelope.String{Value: markup.Value + blanks.Value},
		Records:  list,
		Shipment: hardShipment(markup, blanks),
	}
}

// hardShipment is the shipment of a hard message.
func hardShipment(markup, blanks envelope.String) envelope.Shipment {
	const most = 999_999_999_999_999_999
	items := []envelope.Item{
		{Article: markup, Pieces: -1 << 31, Duty: envelope.Duty{Tariff: blanks, Amount: most}},
		{Article: envelope.String{Nil: true}, Pieces: 1<<31 - 1, Duty: envelope.Duty{Nil: true}},
		{Duty: envelope.Duty{Tariff: envelope.String{Nil: true}, Amount: -most}},
	}
	return envelope.Shipment{
		Number: envelope.String{Nil: true},
		Sent:   envelope.Date{Year: 2028, Month: 2, Day: 29},
		From:   envelope.Party{Name: blanks},
		To:     envelope.Party{Nil: true},
		Load:   []envelope.Parcel{{Mark: markup, Weight: 1, Items: items}, {Weight: -1}},
	}
}
