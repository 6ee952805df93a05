package soap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Limits of a message in parts.
const (
	partBuffer    = 64 << 10 // read at a time
	partHeadLimit = 8 << 10  // the head of one part
	preambleLimit = 4 << 10  // what may stand before the first part
	boundaryLimit = 70       // RFC 2046, section 5.1.1
)

// A MultipartError says why a message is not one in parts, in a sentence for its sender.
type MultipartError struct {
	Offset int64 // bytes into the message at which it was found
	Reason string
}

// Error gives the reason and the place.
func (e *MultipartError) Error() string { return fmt.Sprintf("%s, at byte %d", e.Reason, e.Offset) }

// A PartReader takes a message in parts (RFC 2046, section 5.1) to pieces as it comes in. It
// holds no part: what it costs is one buffer, whatever the message's length, and reading a
// part allocates nothing.
//
//	preamble CRLF--boundary CRLF head CRLF CRLF content CRLF--boundary CRLF … CRLF--boundary--
//
// The reader is used like this:
//
//	parts, err := NewPartReader(r, boundary)
//	for {
//		part, err := parts.Next()     // io.EOF behind the last
//		for {
//			piece, err := parts.Piece() // io.EOF at the part's end
//		}
//	}
//
// Every other error of the message's making is a *MultipartError; one of the source is
// returned as it is.
//
// A delimiter is a line's beginning that is the boundary. Where more than white space follows
// it the message is refused: senders must choose a boundary that begins no line of the
// content, and to guess what else was meant is how two readers come to see different parts.
type PartReader struct {
	source    io.Reader
	delimiter []byte // CRLF, two hyphens and the boundary
	buf       []byte
	begin     int   // of what is not read yet in buf
	end       int   // of what is in buf
	past      int64 // how far into the message buf begins
	failed    error // the source's last word

	part  Part
	state partState
}

// A partState is where in a message a PartReader is.
type partState uint8

const (
	inPreamble partState = iota // before the first delimiter
	atContent                   // behind a part's head
	inContent
	atDelimiter // a delimiter begins at begin
	atEnd       // behind the last one
)

// NewPartReader makes a reader of a message whose parts are told apart by boundary.
func NewPartReader(r io.Reader, boundary string) (*PartReader, error) {
	p := &PartReader{buf: make([]byte, partBuffer)}
	if err := p.Reset(r, boundary); err != nil {
		return nil, err
	}
	return p, nil
}

// Reset makes the reader begin with another message.
func (p *PartReader) Reset(r io.Reader, boundary string) error {
	if err := checkBoundary(boundary); err != nil {
		return err
	}
	p.delimiter = append(append(p.delimiter[:0], "\r\n--"...), boundary...)
	// The first delimiter need not stand behind a line end. It gets one, which is not counted.
	p.begin, p.end = 0, copy(p.buf, "\r\n")
	p.source, p.past, p.failed, p.state = r, -2, nil, inPreamble
	return nil
}

// checkBoundary tells whether a boundary is one: up to 70 of the characters that RFC 2046
// allows, and no space at the end.
func checkBoundary(boundary string) error {
	bad := len(boundary) == 0 || len(boundary) > boundaryLimit || boundary[len(boundary)-1] == ' '
	for i := 0; i < len(boundary) && !bad; i++ {
		c := boundary[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		bad = !letter && bytes.IndexByte([]byte("'()+_,-./:=? "), c) < 0
	}
	if bad {
		return &MultipartError{Reason: fmt.Sprintf("the boundary %q is none; it is 1 to %d letters, digits and marks", boundary[:min(len(boundary), 2*boundaryLimit)], boundaryLimit)}
	}
	return nil
}

// Next goes to the next part, passing over what is left of the current one, and reads its
// head. The part is valid until the next call. Behind the last part the error is io.EOF.
func (p *PartReader) Next() (*Part, error) {
	for p.state != atDelimiter && p.state != atEnd {
		if _, err := p.Piece(); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if p.state == inPreamble && p.offset() > preambleLimit {
			return nil, p.wrong("more than %d bytes stand before the first part", preambleLimit)
		}
	}
	if p.state == atEnd {
		return nil, io.EOF
	}
	if err := p.passDelimiter(); err != nil {
		return nil, err
	}
	if p.state == atEnd {
		return nil, io.EOF
	}
	if err := p.readHead(); err != nil {
		return nil, err
	}
	return &p.part, nil
}

// Piece returns more of the current part's content, valid until the next call, and io.EOF at
// its end.
func (p *PartReader) Piece() ([]byte, error) {
	switch p.state {
	case atDelimiter, atEnd:
		return nil, io.EOF
	case atContent:
		// The line end behind the head is the delimiter's too if the part has no content.
		if err := p.need(len(p.delimiter)); err != nil {
			return nil, err
		}
		p.state = inContent
		if bytes.HasPrefix(p.buf[p.begin:p.end], p.delimiter) {
			p.state = atDelimiter
			return nil, io.EOF
		}
		p.begin += 2
	case inPreamble, inContent:
	}
	return p.content()
}

// content returns what is in the buffer up to a delimiter, or up to where one may begin.
func (p *PartReader) content() ([]byte, error) {
	if p.end-p.begin < len(p.delimiter) {
		if err := p.need(len(p.delimiter)); err != nil {
			return nil, err
		}
	}
	there := p.buf[p.begin:p.end]
	if i := bytes.Index(there, p.delimiter); i >= 0 {
		p.begin += i
		p.state = atDelimiter
		if i == 0 {
			return nil, io.EOF
		}
		return there[:i], nil
	}
	sure := len(there) - len(p.delimiter) + 1
	p.begin += sure
	return there[:sure], nil
}

// need makes at least n bytes be there to read, which moves what is. That the message ends
// before is an error: it has to end with a delimiter.
func (p *PartReader) need(n int) error {
	for p.end-p.begin < n {
		if p.failed != nil {
			if errors.Is(p.failed, io.EOF) {
				return p.wrong("the message ends before its last delimiter")
			}
			return p.failed
		}
		if p.begin > 0 {
			p.past += int64(p.begin)
			copy(p.buf, p.buf[p.begin:p.end])
			p.begin, p.end = 0, p.end-p.begin
		}
		more, err := p.source.Read(p.buf[p.end:])
		p.end += more
		p.failed = err
	}
	return nil
}

// passDelimiter goes to the line end behind a delimiter, or, if that is the last, behind it.
func (p *PartReader) passDelimiter() error {
	p.begin += len(p.delimiter)
	if err := p.need(2); err != nil {
		return err
	}
	if p.buf[p.begin] == '-' && p.buf[p.begin+1] == '-' {
		p.begin += 2
		p.state = atEnd
		return nil
	}
	for p.buf[p.begin] == ' ' || p.buf[p.begin] == '\t' { // transport padding, which is gone in HTTP
		p.begin++
		if err := p.need(2); err != nil {
			return err
		}
	}
	if p.buf[p.begin] != '\r' || p.buf[p.begin+1] != '\n' {
		return p.wrong("a delimiter is not alone on its line")
	}
	return nil
}

// readHead reads the head of a part, which begins behind the line end at begin and ends with
// an empty line, and stays at the line end of that.
func (p *PartReader) readHead() error {
	size := 0
	for n := len("\r\n\r\n"); ; n = p.end - p.begin + 1 {
		if err := p.need(n); err != nil {
			return err
		}
		there := p.buf[p.begin:min(p.end, p.begin+partHeadLimit)]
		if size = bytes.Index(there, []byte("\r\n\r\n")); size >= 0 {
			break
		}
		if len(there) == partHeadLimit {
			return p.wrong("the head of a part has no end within %d bytes", partHeadLimit)
		}
	}
	head := p.buf[p.begin : p.begin+size+2]
	if bytes.Contains(head, p.delimiter) {
		return p.wrong("the head of a part has no empty line behind it")
	}
	p.part.text = append(p.part.text[:0], head[2:]...)
	if reason := p.part.parse(); reason != "" {
		return p.wrong("%s", reason)
	}
	p.begin += size + 2
	p.state = atContent
	return nil
}

// Rest reads what follows the last part and means nothing, up to the source's end.
func (p *PartReader) Rest() error {
	p.begin, p.end = 0, 0
	for p.failed == nil {
		_, p.failed = p.source.Read(p.buf)
	}
	if errors.Is(p.failed, io.EOF) {
		return nil
	}
	return p.failed
}

// AppendAll appends the rest of the current part to dst, of which there may be at most limit
// bytes.
func (p *PartReader) AppendAll(dst []byte, limit int) ([]byte, error) {
	room := len(dst) + limit
	for {
		piece, err := p.Piece()
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
		if len(dst)+len(piece) > room {
			return dst, p.wrong("a part is longer than %d bytes", limit)
		}
		dst = append(slices.Grow(dst, len(piece)), piece...)
	}
}

// offset tells how many bytes of the message have been read.
func (p *PartReader) offset() int64 { return p.past + int64(p.begin) }

// wrong makes the error of a message that is not what it should be.
func (p *PartReader) wrong(format string, args ...any) error {
	return &MultipartError{Offset: max(0, p.offset()), Reason: fmt.Sprintf(format, args...)}
}
