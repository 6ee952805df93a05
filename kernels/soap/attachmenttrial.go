package soap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// An attachmentTrial is one client at work. Lanes share nothing but the service.
type attachmentTrial struct {
	client *client
	form   form
	sent   content
	reader *storeReader
	codec  *envelope.Codec // reads faults
	m      envelope.Message

	text    []byte // the request up to its content
	closing []byte // and behind it
	pieces  net.Buffers
	unsent  net.Buffers   // of pieces
	records *bufio.Writer // for TLS
}

var (
	_ kernels.Checker = (*attachmentTrial)(nil)
	_ kernels.Counter = (*attachmentTrial)(nil)
)

// Do makes n calls, each of which writes the request anew, sends the attachment, and compares
// length and checksum in the answer with those of what was sent. It ends at the first that
// fails.
func (t *attachmentTrial) Do(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("call the SOAP service: %w", err)
	}
	t.client.watch(ctx)
	for range n {
		if err := t.call(ctx, t.sent); err != nil {
			return err
		}
	}
	return nil
}

// call makes one call with an attachment.
func (t *attachmentTrial) call(ctx context.Context, c content) error {
	status, answer, err := t.client.try(ctx, func() error { return t.send(c) })
	if err != nil {
		return err
	}
	if answer, err = t.unwrap(answer); err != nil {
		return malformed("the answer: %w", err)
	}
	got, err := t.reader.answer(answer)
	if fault := faultIn(err, t.codec, t.form.version, answer); fault != nil {
		return fault
	}
	switch {
	case errors.Is(err, errFault):
		return t.fault(answer)
	case status != http.StatusOK:
		return t.client.noFault(status)
	case err != nil:
		return malformed("the answer: %w", err)
	case got != c.receipt:
		return &kernels.Failure{Class: classMismatch, Err: fmt.Errorf(
			"the service received %d bytes with the checksum %08x; %d with %08x were sent", got.length, got.checksum, c.receipt.length, c.receipt.checksum)}
	}
	return nil
}

// unwrap returns the envelope of an answer. Stacks that got a message in parts may answer
// with one, though there is but the root in it.
func (t *attachmentTrial) unwrap(answer []byte) ([]byte, error) {
	if len(t.client.kind) < len(typeRelated) || !strings.EqualFold(t.client.kind[:len(typeRelated)], typeRelated) {
		return answer, nil
	}
	said, err := parseRelated(t.client.kind)
	if err != nil {
		return nil, err
	}
	if said.version != t.form.version {
		return nil, fmt.Errorf("it is in SOAP %s, and the request was in %s", said.version, t.form.version)
	}
	parts, err := NewPartReader(bytes.NewReader(answer), said.boundary)
	if err != nil {
		return nil, err
	}
	for {
		part, err := parts.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errors.New("it has no root part")
		case err != nil:
			return nil, err
		case said.start == "" || said.start == string(part.ID):
			if err := said.checkRoot(string(part.Type)); err != nil {
				return nil, err
			}
			return parts.AppendAll(nil, rootLimit)
		}
	}
}

// fault makes the failure of an answer that is one.
func (t *attachmentTrial) fault(answer []byte) error {
	err := t.codec.Decode(answer, &t.m)
	var fault *envelope.Fault
	if errors.As(err, &fault) {
		return &kernels.Failure{Class: classFault, Err: fault}
	}
	return malformed("the fault that the service answered with: %w", err)
}

// send writes a request to the connection: what stands before the content, the content out
// of its block, and the end, all with as few writes as the system allows and without a copy.
func (t *attachmentTrial) send(c content) error {
	t.text = t.form.appendOpening(t.text[:0])
	opening := len(t.text)
	t.text = append(t.text, t.client.head...)
	t.text = strconv.AppendInt(t.text, int64(opening)+c.receipt.length+int64(len(closing)), 10)
	t.text = append(t.text, "\r\n\r\n"...)
	t.pieces = append(t.pieces[:0], t.text[opening:], t.text[:opening])
	t.pieces = append(c.appendTo(t.pieces), t.closing)
	t.unsent = t.pieces // which is consumed
	if t.client.tls != nil {
		return t.sendRecords()
	}
	_, err := t.unsent.WriteTo(t.client.conn)
	return err
}

// recordSize is how much one record of TLS carries at most (RFC 8446, section 5.1).
const recordSize = 16 << 10

// sendRecords writes the pieces by way of a buffer: each write by TLS is a record and a packet
// of its own, and there is nothing to save by not copying what is encrypted anyway.
func (t *attachmentTrial) sendRecords() error {
	if t.records == nil {
		t.records = bufio.NewWriterSize(nil, recordSize)
	}
	t.records.Reset(t.client.conn)
	for _, piece := range t.unsent {
		if _, err := t.records.Write(piece); err != nil {
			return err
		}
	}
	return t.records.Flush()
}

// Count tells what a call carries: the attachment, one way.
func (t *attachmentTrial) Count() kernels.Work {
	return kernels.Work{Bytes: float64(t.sent.receipt.length)}
}

// attachmentCheckTime is how long a check may take: the largest attachment is sent too.
const attachmentCheckTime = time.Minute

// Check sends what is hard to tell from the ends of parts, and then makes an ordinary call.
func (t *attachmentTrial) Check() error {
	ctx, cancel := context.WithTimeout(context.Background(), attachmentCheckTime)
	defer cancel()
	t.client.watch(ctx)
	defer t.client.unwatch()
	for _, c := range append(hardContent(), t.sent) {
		err := t.call(ctx, c)
		if ctx.Err() != nil {
			err = late(attachmentCheckTime)
		}
		if err != nil {
			return fmt.Errorf("check soap.attachment: %w", err)
		}
	}
	return nil
}

// Close closes the connection.
func (t *attachmentTrial) Close() error {
	t.client.close()
	return nil
}
