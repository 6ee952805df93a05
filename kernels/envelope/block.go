package envelope

import "unsafe"

// A block makes the strings of one message, which share its memory and so cost one
// allocation, or none if they are lent: then the next message's take the same memory.
type block struct {
	lent bool
	text []byte
}

// lentMost is how much memory a block that lends keeps from one message to the next.
const lentMost = 64 << 10

// begin begins a message whose strings take up to most bytes. Those of the last stay valid
// unless they were lent.
func (b *block) begin(most int) {
	if b.lent && cap(b.text) <= lentMost {
		b.text = b.text[:0]
		return
	}
	b.text = make([]byte, 0, min(len(b.text), most))
}

// own makes a string. What has been written is never changed before the next message, even
// when the block moves on to a larger one, so that strings can be places in it, as those of a
// strings.Builder are.
func (b *block) own(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	begin := len(b.text)
	b.text = append(b.text, text...)
	return unsafe.String(&b.text[begin], len(text))
}
