package messaging

import "context"

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
