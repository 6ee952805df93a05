package soap

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// A trial is one client at work. Its codec and its buffers are its own, so that lanes share
// nothing but the service.
type trial struct {
	client *client
	codec  *envelope.Codec
	packer packer
	plain  []byte // an envelope before it is compressed
	binding
	sent  envelope.Message
	got   envelope.Message
	bytes float64 // of the envelopes of one call
	named bool    // the service is another's
}

var (
	_ kernels.Checker = (*trial)(nil)
	_ kernels.Counter = (*trial)(nil)
)

// Count returns the bytes of the envelopes of one call, there and back, before they are
// compressed.
func (t *trial) Count() kernels.Work { return kernels.Work{Bytes: t.bytes} }

// Do makes n calls, each of which writes the request anew, reads the whole answer and
// compares every value of it with what was sent. It ends at the first that fails.
func (t *trial) Do(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("call the SOAP service: %w", err)
	}
	t.client.watch(ctx)
	for range n {
		if err := t.call(ctx, &t.sent); err != nil {
			return err
		}
	}
	return nil
}

// call makes one call with m. A fault is told as one whatever its status is, since it says
// more than the status; an answer counts only with the status of success.
func (t *trial) call(ctx context.Context, m *envelope.Message) error {
	status, answer, err := t.client.call(ctx, t.write(m))
	if err != nil {
		return err
	}
	err = t.codec.Decode(answer, &t.got)
	if fault := faultIn(err, t.codec, t.version, answer); fault != nil {
		return fault
	}
	switch {
	case status != http.StatusOK:
		return t.client.noFault(status)
	case err != nil:
		return malformed("the answer: %w", err)
	case !t.got.Answer || !t.got.Equal(m):
		return &kernels.Failure{Class: classMismatch, Err: errors.New("the answer is not what was sent")}
	}
	return nil
}

// write writes the body of a request into the client's room for it.
func (t *trial) write(m *envelope.Message) []byte {
	if !t.client.gzip {
		return t.codec.Append(t.client.body(), m)
	}
	t.plain = t.codec.Append(t.plain[:0], m)
	return t.packer.pack(t.client.body(), t.plain)
}

// checkTime is how long a check may take.
const checkTime = 10 * time.Second

// Check calls with what is hard to carry, reads the answer by the other model too, and then
// makes an ordinary call and looks at its answer as closely. A named service gets the ordinary
// call only: stacks of good name cannot carry every letter there is, and are measured all the
// same with a message that they can.
func (t *trial) Check() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	t.client.watch(ctx)
	defer t.client.unwatch()
	messages := []*envelope.Message{&t.sent}
	if !t.named {
		hard := hardMessage(t.sent.Shape)
		messages = []*envelope.Message{&hard, &t.sent}
	}
	for _, m := range messages {
		err := t.call(ctx, m)
		if ctx.Err() != nil {
			err = late(checkTime)
		}
		if err != nil {
			return fmt.Errorf("check soap.echo: %w", err)
		}
		if err := t.look(m); err != nil {
			return fmt.Errorf("check soap.echo: %w", err)
		}
	}
	return nil
}

// look reads the last answer once more by both models and compares it with m.
func (t *trial) look(m *envelope.Message) error {
	for _, model := range []envelope.Model{envelope.Stream, envelope.DOM} {
		codec, err := envelope.NewCodec(model, envelope.DefaultLimits())
		if err != nil {
			return err
		}
		codec.Use(t.version)
		var got envelope.Message
		if err := codec.Decode(t.client.in, &got); err != nil {
			return fmt.Errorf("read the answer by %s: %w", model, err)
		}
		if !got.Equal(m) {
			return fmt.Errorf("the answer, read by %s, is not what was sent", model)
		}
	}
	if t.client.gzip && t.client.coding != codingGzip {
		return errors.New("gzip was asked for, and the service answers without it; measure it with gzip: false")
	}
	kind, _, err := mime.ParseMediaType(t.client.kind)
	if err != nil || kind != t.media {
		return fmt.Errorf("the answer's content type is %s; SOAP %s is sent as %s", t.client.brief([]byte(t.client.kind), excerpt), t.version, t.media)
	}
	return nil
}

// Close closes the connection.
func (t *trial) Close() error {
	t.client.close()
	return nil
}
