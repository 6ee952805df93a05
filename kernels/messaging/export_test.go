package messaging

import (
	"context"

	"benchd/kernels"
)

// Refused tells that no broker has what the parameters ask for.
func Refused(p kernels.Params) bool {
	_, err := entryOf(p)
	return err != nil
}

// Embeds tells whether a broker runs in this process.
func Embeds(broker string) bool {
	for _, e := range table() {
		if e.name == broker {
			return e.embedded
		}
	}
	return false
}

// A Mailbox opens a mailbox to tests, with the number as the only content of a letter.
type Mailbox struct{ box *mailbox }

// NewMailbox makes a mailbox.
func NewMailbox() Mailbox { return Mailbox{newMailbox()} }

// Send puts a numbered letter in.
func (m Mailbox) Send(number uint64) { m.box.send(letter{number: number}) }

// Receive takes the oldest letter out and returns its number.
func (m Mailbox) Receive(ctx context.Context) (uint64, error) {
	l, err := m.box.receive(ctx)
	return l.number, err
}

// Waiting is the number of letters inside.
func (m Mailbox) Waiting() int { return m.box.waiting() }
