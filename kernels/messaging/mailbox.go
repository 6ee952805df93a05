package messaging

import (
	"context"
	"errors"
	"fmt"

	"benchd/kernels"
)

// mailboxKernel measures two mailboxes of one process that send each other a message.
type mailboxKernel struct{}

var _ kernels.Kernel = mailboxKernel{}

// maxPayload is the largest payload of a message between mailboxes, in bytes.
const maxPayload = 1 << 20

// Info describes the kernel.
func (mailboxKernel) Info() kernels.Info {
	return kernels.Info{
		Name:  "messaging.mailbox",
		Title: "A message from one mailbox to another and back, inside one process.",
		Operation: "one message there and back: a goroutine sends to the second mailbox, receives there, " +
			"sends back and receives at the first; the payload goes by reference and nothing is encoded",
		Unit: "message/s", Noun: "message", Batched: true, Lanes: "pairs",
		Params: []kernels.Param{
			{Name: "size", Doc: "Bytes of payload that a message refers to.", Kind: kernels.Size, Default: "16B", Min: 0, Max: maxPayload},
			{Name: "pairs", Doc: "Pairs of mailboxes, each worked by a goroutine of its own.", Kind: kernels.Int, Default: "1", Min: 1, Max: maxLanes},
		},
	}
}

// Open makes one pair of mailboxes and the payload that travels between them.
func (mailboxKernel) Open(_ context.Context, p kernels.Params) (kernels.Trial, error) {
	return &mailboxTrial{first: newMailbox(), second: newMailbox(), payload: seeded(p.Bytes("size"))}, nil
}

// mailboxTrial is one pair. A single goroutine works both ends, as the echo between two
// mailboxes of one node is usually measured: what counts is the price of a delivery, not
// that of waking another thread.
type mailboxTrial struct {
	first, second *mailbox
	payload       []byte
	last          letter
	sent          uint64
}

var (
	_ kernels.Checker = (*mailboxTrial)(nil)
	_ kernels.Counter = (*mailboxTrial)(nil)
)

// glance is how many operations go by between two looks at the context.
const glance = 1024

// Do sends n messages there and back. Every one carries a number of its own, and both ends
// look at it.
func (t *mailboxTrial) Do(ctx context.Context, n int) error {
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("send between mailboxes: %w", err)
		}
		batch := min(n, glance)
		if err := t.batch(ctx, batch); err != nil {
			return err
		}
		n -= batch
	}
	return nil
}

func (t *mailboxTrial) batch(ctx context.Context, n int) error {
	for range n {
		t.sent++
		t.second.send(letter{from: t.first, number: t.sent, payload: t.payload})
		there, err := t.second.receive(ctx)
		if err != nil {
			return fmt.Errorf("receive at the second mailbox: %w", err)
		}
		there.from.send(letter{from: t.second, number: there.number, payload: there.payload})
		if t.last, err = t.first.receive(ctx); err != nil {
			return fmt.Errorf("receive at the first mailbox: %w", err)
		}
		if t.last.number != t.sent {
			return mismatch("the letter that came back is number %d, sent was %d", t.last.number, t.sent)
		}
	}
	return nil
}

// Check tells whether the payload came back as it was made and nothing stayed behind.
func (t *mailboxTrial) Check() error {
	if t.sent > 0 && !isSeeded(t.last.payload, len(t.payload)) {
		return errors.New("the payload that came back between mailboxes is not the one that was sent")
	}
	if left := t.first.waiting() + t.second.waiting(); left > 0 {
		return fmt.Errorf("%d letters are left in the mailboxes", left)
	}
	return nil
}

// Count returns the payload's bytes, there and back.
func (t *mailboxTrial) Count() kernels.Work {
	return kernels.Work{Bytes: 2 * float64(len(t.payload))}
}

// Close gives nothing back: a mailbox is memory.
func (t *mailboxTrial) Close() error { return nil }
