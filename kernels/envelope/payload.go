package envelope

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// The payloads: what the sizes below mean is the exact length of the request's envelope in
// SOAP 1.1. That of SOAP 1.2 is two bytes shorter, since its namespace is.

func tooSmall(size, least int) error {
	return fmt.Errorf("make an envelope of %d bytes: the smallest has %d", size, least)
}

// Text makes the request with one text field whose envelope is size bytes long. The same
// seed gives the same message. A size too small for an envelope is an error.
func Text(size int, seed uint64) (Message, error) {
	m := Message{Shape: ShapeText, Text: String{Value: "x"}}
	room := size - len(appendMessage(nil, &m, V11)) + 1
	if room < 1 {
		return Message{}, tooSmall(size, size-room+1)
	}
	m.Text.Value = newGenerator(seed).prose(room)
	return m, nil
}

// Payload makes the envelope of a request with one text field, exactly size bytes long. The
// same seed gives the same bytes. A size too small for an envelope is an error.
func Payload(size int, seed uint64) ([]byte, error) {
	m, err := Text(size, seed)
	if err != nil {
		return nil, err
	}
	return appendMessage(make([]byte, 0, size), &m, V11), nil
}

// Wrap makes the envelope of a request whose text field is content, filled up with spaces so
// that the envelope is exactly size bytes long. Content that does not fit is an error.
func Wrap(content string, size int) ([]byte, error) {
	m := Message{Shape: ShapeText, Text: String{Value: content}}
	if content == "" {
		m.Text.Value = " " // an empty text would be written as a tag without an end
	}
	least := len(appendMessage(nil, &m, V11))
	if size < least {
		return nil, fmt.Errorf("wrap %d bytes into an envelope of %d bytes: it takes at least %d", len(content), size, least)
	}
	m.Text.Value += strings.Repeat(" ", size-least)
	return appendMessage(make([]byte, 0, size), &m, V11), nil
}

// Check returns an error if an answer is not the same bytes as what was sent, and says
// where the first difference lies.
func Check(sent, got []byte) error {
	if bytes.Equal(sent, got) {
		return nil
	}
	n := min(len(sent), len(got))
	at := 0
	for at < n && sent[at] == got[at] {
		at++
	}
	return fmt.Errorf("the answer of %d bytes differs from the %d bytes sent, first at byte %d", len(got), len(sent), at)
}

// The words of the generated texts: none needs an escape, so that lengths add up.
func firstNames() []string {
	return []string{"Vladimir", "Katerina", "Frantisek", "Magdalena", "Bohumil", "Ludmila", "Zdenek", "Jarmila"}
}

func lastNames() []string {
	return []string{"Novak", "Svobodova", "Dvorak", "Cerna", "Prochazka", "Kucerova", "Vesely", "Horakova"}
}

func cities() []string {
	return []string{"Brno", "Praha", "Ostrava", "Plzen", "Liberec", "Olomouc", "Pardubice", "Zlin"}
}

func words() []string {
	return []string{"order", "parcel", "invoice", "carrier", "depot", "pallet", "route", "customs", "harbour", "freight", "ledger", "sender"}
}

// A generator makes content from a seed. It uses the source's numbers directly, since those
// of a PCG are specified, while how math/rand/v2 makes ranges of them might change, and the
// payload with it.
type generator struct{ source *rand.PCG }

func newGenerator(seed uint64) generator { return generator{rand.NewPCG(seed, 0x62656e636864)} }

func (g generator) below(n int) int { return int(g.source.Uint64() % uint64(n)) }

func (g generator) pick(from []string) string { return from[g.below(len(from))] }

// fill makes the strings longer by n bytes in all, as evenly as can be. All that is generated
// is ASCII without markup, so that a letter more is a byte more of the envelope.
func (g generator) fill(items []String, n int) {
	for i := range items {
		left := len(items) - i
		more := n / left
		items[i].Value += g.tail(more)
		n -= more
	}
}

// tail returns n bytes that go on after a word.
func (g generator) tail(n int) string {
	if n == 0 {
		return ""
	}
	return " " + g.prose(n-1)
}

// prose returns words, n bytes of them. Its last byte is a letter, never a space.
func (g generator) prose(n int) string {
	b := make([]byte, 0, n+16)
	from := words()
	for len(b) < n {
		b = append(append(b, g.pick(from)...), ' ')
	}
	b = b[:n]
	if n > 0 && b[n-1] == ' ' {
		b[n-1] = 's'
	}
	return string(b)
}
