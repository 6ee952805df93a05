package envelope

// A Shape is the kind of content of a message. Its text is the name of the operation.
type Shape string

// The shapes.
const (
	// ShapeBeans is a Bundle: four beans and an array of strings.
	ShapeBeans Shape = "echoBeans"
	// ShapeText is one string.
	ShapeText Shape = "echoText"
	// ShapeRecords is a list of beans, many small elements.
	ShapeRecords Shape = "echoRecords"
	// ShapeDocument is a Shipment, a document with elements of many kinds inside one another.
	ShapeDocument Shape = "echoDocument"
)

// An operation has the names that go with a shape.
type operation struct{ request, answer, action string }

// operations are those of the echo service.
var operations = [...]operation{newOperation(ShapeBeans), newOperation(ShapeText), newOperation(ShapeRecords), newOperation(ShapeDocument)} //nolint:gochecknoglobals // A table that is never changed.

func newOperation(s Shape) operation {
	return operation{request: string(s), answer: string(s) + answerSuffix, action: Namespace + "#" + string(s)}
}

// answerSuffix ends the name of an answer's element (WS-I Basic Profile 1.1, section 4.7.19).
const answerSuffix = "Response"

// operationOf returns the shape that the element in the body stands for.
func operationOf[T string | []byte](local T) (s Shape, answer, ok bool) {
	for i := range operations {
		switch o := &operations[i]; string(local) {
		case o.request:
			return Shape(o.request), false, true
		case o.answer:
			return Shape(o.request), true, true
		}
	}
	return "", false, false
}

// Action returns the SOAPAction of a request of this shape, without quotes.
func (s Shape) Action() string {
	for i := range operations {
		if operations[i].request == string(s) {
			return operations[i].action
		}
	}
	return ""
}

// element returns the local name of the element in the body.
func (s Shape) element(answer bool) string {
	if answer {
		return string(s) + answerSuffix
	}
	return string(s)
}

// A Message is the content of an envelope.
type Message struct {
	Answer   bool     // the answer to a request, not a request
	Shape    Shape    // says which of the fields below counts
	Bundle   Bundle   // of ShapeBeans
	Text     String   // of ShapeText
	Records  []Bean   // of ShapeRecords; as XML an element "record" for each
	Shipment Shipment // of ShapeDocument
}

// content returns where the content that counts lies: a *String or a record.
func (m *Message) content() any {
	switch m.Shape {
	case ShapeText:
		return &m.Text
	case ShapeRecords:
		return (*beans)(&m.Records)
	case ShapeDocument:
		return &m.Shipment
	default:
		return &m.Bundle
	}
}

// The one part of an operation's element, in a request and in an answer.
var inPart, returnPart = must("in"), must("return") //nolint:gochecknoglobals // Tables that are never changed.

// parameter returns that of this message.
func (m *Message) parameter() *part {
	if m.Answer {
		return &returnPart
	}
	return &inPart
}

// Equal tells whether both messages have the same content; whether they are a request or
// an answer does not count.
func (m *Message) Equal(o *Message) bool {
	switch {
	case m.Shape != o.Shape:
		return false
	case m.Shape == ShapeText:
		return m.Text == o.Text
	case m.Shape == ShapeRecords:
		return same(m.Records, o.Records, (*Bean).equal)
	case m.Shape == ShapeDocument:
		return m.Shipment.equal(&o.Shipment)
	default:
		return m.Bundle.equal(&o.Bundle)
	}
}
