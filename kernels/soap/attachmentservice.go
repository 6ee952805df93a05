package soap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"mime"
	"net/http"

	"benchd/kernels/envelope"
)

// Limits of what the attachment service takes in.
const (
	attachmentLimit = 64 << 20
	rootLimit       = 64 << 10                      // the envelope
	partsLimit      = 16                            // parts in one message
	messageLimit    = attachmentLimit + 2*rootLimit // all of it
)

// acknowledge takes an attachment in and makes the answer to it.
func (x *exchange) acknowledge(r *http.Request) reply {
	if x.storing == nil {
		made, err := newStoring()
		if err != nil {
			return x.plain(http.StatusInternalServerError, "The service cannot make a codec: "+err.Error()+".\n")
		}
		x.storing = made
	}
	a := x.storing.answer(r)
	x.out = append(x.body(), x.storing.out...)
	return a
}

// A storing takes attachments in, of either encoding, and acknowledges each with its length
// and checksum. It reads them as they come in and keeps none: a call costs a buffer, whatever
// the attachment's length. One is used for calls one after another.
type storing struct {
	parts  *PartReader
	reader *storeReader
	codec  *envelope.Codec // writes faults

	contentType string // of the last message, and what it says
	related     related
	rootType    string // the last that was found good

	root   *splitter // the envelope
	rooted bool      // it was there
	rootID []byte
	stored []storedPart
	wanted []byte // the Content-ID the envelope refers to
	piece  []byte // of an envelope that is no part of anything
	read   bool   // the message has been read to its end
	out    []byte // the answer
}

// A storedPart is what is kept of a part that is not the root.
type storedPart struct {
	id  []byte
	got receipt
}

func newStoring() (*storing, error) {
	limits := envelope.DefaultLimits()
	limits.Bytes = rootLimit
	codec, err := envelope.NewCodec(envelope.Stream, limits)
	if err != nil {
		return nil, err
	}
	return &storing{
		parts: &PartReader{buf: make([]byte, partBuffer)}, reader: newStoreReader(limits), codec: codec, root: newSplitter(),
	}, nil
}

// answer takes the message in and makes the answer or a fault in x.out, in the version of the
// request, which is that of SOAP 1.1 if nothing else can be read.
func (x *storing) answer(r *http.Request) reply {
	x.read = false
	got, refused := x.store(r)
	b := x.related.binding
	a := reply{status: http.StatusOK, kind: b.kind, keep: x.read}
	if refused != nil {
		x.codec.Use(b.version)
		x.out = x.codec.AppendFault(x.out[:0], &refused.fault)
		a.status = cmp.Or(refused.status, b.status(&refused.fault))
		if codingOf(r.Header) != codingPlain {
			a.takes = codingNone
		}
		return a
	}
	x.out = appendReceipt(x.out[:0], b.version, got)
	return a
}

// store takes the message in.
func (x *storing) store(r *http.Request) (receipt, *refusal) {
	if refused := x.understandType(r.Header.Get("Content-Type")); refused != nil {
		return receipt{}, refused
	}
	if _, refused := takenCoding(r.Header, codingPlain); refused != nil {
		return receipt{}, refused
	}
	if err := x.takeAll(r); err != nil {
		return receipt{}, refuseMessage(err)
	}
	x.read = true
	x.reader.use(x.related.version)
	id, number, err := x.reader.request(x.wanted[:0], x.root.doc, x.related)
	x.wanted = id
	var wrong *envelope.Error
	if errors.As(err, &wrong) {
		return receipt{}, &refusal{0, *wrong.Fault()}
	}
	if err != nil {
		return receipt{}, refuse(0, "the request cannot be read: %v", err)
	}
	if refused := x.related.intent(r.Header).check(storeAction); refused != nil {
		return receipt{}, refused
	}
	if number != attached {
		return x.inline(number)
	}
	return x.find()
}

// inline returns the receipt of a content that stands in the envelope.
func (x *storing) inline(number int) (receipt, *refusal) {
	switch {
	case number == empty:
		return receipt{}, nil
	case number < 0 || number >= len(x.root.found):
		return receipt{}, refuse(0, "the content is not base64")
	}
	return x.root.found[number], nil
}

// takeAll reads the whole message, or the envelope that is all of it.
func (x *storing) takeAll(r *http.Request) error {
	most := int64(messageLimit)
	if x.related.plain() || x.related.xop {
		most = inlineLimit
	}
	if r.ContentLength > most {
		return errTooLarge
	}
	body := &bounded{source: r.Body, left: most + 1}
	if !x.related.plain() {
		return x.take(body)
	}
	x.root.reset()
	if x.piece == nil {
		x.piece = make([]byte, partBuffer)
	}
	x.stored = x.stored[:0]
	for {
		n, err := body.Read(x.piece)
		if wrong := x.root.write(x.piece[:n]); wrong != nil {
			return wrong
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// understandType reads the content type, unless it is that of the last message.
func (x *storing) understandType(value string) *refusal {
	if x.contentType == value && value != "" {
		return nil
	}
	x.contentType, x.related = "", related{binding: bindingOf(envelope.V11)}
	if kind, _, err := mime.ParseMediaType(value); err == nil && (kind == media11 || kind == media12) {
		meant, refused := readIntent(http.Header{"Content-Type": {value}})
		x.related = related{binding: meant.binding, actions: meant.actions}
		return refused
	}
	said, err := parseRelated(value)
	if err != nil {
		return refuse(http.StatusUnsupportedMediaType, "%v", err)
	}
	x.contentType, x.related, x.rootType = value, said, ""
	return nil
}

// take reads the whole message: the root part into x.root, and of every other part its
// length and checksum. The root may come behind the parts that it refers to.
func (x *storing) take(body io.Reader) error {
	x.rooted, x.stored = false, x.stored[:0]
	if err := x.parts.Reset(body, x.related.boundary); err != nil {
		return err
	}
	for n := 0; ; n++ {
		part, err := x.parts.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n == partsLimit {
			err = x.parts.wrong("the message has more than %d parts", partsLimit)
		}
		if err == nil {
			err = x.takePart(part, n == 0)
		}
		if err != nil {
			return err
		}
	}
	if !x.rooted {
		return x.parts.wrong("no part is the root: the content type says that its Content-ID is %q", x.related.start)
	}
	return x.parts.Rest()
}

// takePart reads one part.
func (x *storing) takePart(part *Part, first bool) error {
	if x.isKnown(part.ID) {
		return x.parts.wrong("two parts have the Content-ID %q", part.ID)
	}
	root := first && x.related.start == "" || x.related.start != "" && string(part.ID) == x.related.start
	if !root {
		return x.takeContent(part.ID)
	}
	if string(part.Type) != x.rootType || x.rootType == "" {
		kind := string(part.Type)
		x.rootType = ""
		if err := x.related.checkRoot(kind); err != nil {
			return x.parts.wrong("%v", err)
		}
		x.rootType = kind
	}
	x.rooted, x.rootID = true, append(x.rootID[:0], part.ID...)
	x.root.reset()
	for {
		piece, err := x.parts.Piece()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = x.root.write(piece)
		}
		if err != nil {
			return err
		}
	}
}

// takeContent reads an attachment and keeps what it was.
func (x *storing) takeContent(id []byte) error {
	// The memory of an ID that was kept before is used again.
	n := len(x.stored)
	if n < cap(x.stored) {
		x.stored = x.stored[:n+1]
	} else {
		x.stored = append(x.stored, storedPart{})
	}
	to := &x.stored[n]
	to.id, to.got = append(to.id[:0], id...), receipt{}
	for {
		piece, err := x.parts.Piece()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		to.got.length += int64(len(piece))
		to.got.checksum = crc32.Update(to.got.checksum, crc32.IEEETable, piece)
	}
}

// isKnown tells whether a part with this ID was taken in already.
func (x *storing) isKnown(id []byte) bool {
	if len(id) == 0 {
		return false
	}
	for i := range x.stored {
		if bytes.Equal(x.stored[i].id, id) {
			return true
		}
	}
	return x.rooted && bytes.Equal(x.rootID, id)
}

// find returns the receipt of the part that the envelope refers to.
func (x *storing) find() (receipt, *refusal) {
	for i := range x.stored {
		if bytes.Equal(x.stored[i].id, x.wanted) {
			return x.stored[i].got, nil
		}
	}
	return receipt{}, refuse(0, "no attachment has the Content-ID %q to which the envelope refers", x.wanted)
}

// errTooLarge tells that a message has more bytes than are read.
var errTooLarge = fmt.Errorf("the message is longer than %d bytes, or its content than %d", messageLimit, attachmentLimit)

// A bounded reads no more than a limit, and says so instead of an end.
type bounded struct {
	source io.Reader
	left   int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.source.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func refuseTooLarge() *refusal {
	return refuse(http.StatusRequestEntityTooLarge, "%v", errTooLarge)
}

// refuseMessage makes the fault for a message that could not be taken in.
func refuseMessage(err error) *refusal {
	var wrong *MultipartError
	var envelopes *envelope.Error
	switch {
	case errors.As(err, &envelopes):
		return &refusal{0, *envelopes.Fault()}
	case errors.Is(err, errTooLarge):
		return refuseTooLarge()
	case errors.As(err, &wrong):
		return refuse(0, "%v", wrong)
	}
	return refuse(http.StatusBadRequest, "the body of the request cannot be read: %v", err)
}
