package soap

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"benchd/kernels/envelope"
)

// receive reads the body of the request into x.in, without its coding.
func (x *exchange) receive(r *http.Request, coding string) *refusal {
	if r.ContentLength > int64(x.limit) {
		return x.tooLarge()
	}
	size := int(r.ContentLength)
	if coding != codingPlain {
		size = unsaid // of what is in it
	}
	x.in = slices.Grow(x.in, max(0, min(int(r.ContentLength), smallBytes))+replyRoom+answerMore)
	if refused := x.fill(r.Body, size, x.pace); refused != nil {
		return refused
	}
	x.read = true
	if coding == codingPlain {
		return nil
	}
	x.in, x.spare = x.spare[:0], x.in
	if err := x.unpacker.open(x.spare); err != nil {
		return refuse(http.StatusBadRequest, "the body of the request is not gzip: %v", whole(err))
	}
	return x.fill(unpacked{x.unpacker.reader}, unsaid, pace{})
}

// unsaid is the size of a body that nobody told.
const unsaid = -1

// promisedBytes is how much memory is made ready for a request because it says that it is so
// long. A longer one has to come first.
const promisedBytes = 2 << 20

// fill appends all that a source has to x.in. Before it becomes large, there has to be memory
// for all of it.
func (x *exchange) fill(from io.Reader, size int, p pace) *refusal {
	for len(x.in) <= x.limit {
		if len(x.in) == cap(x.in) {
			if refused := x.grow(size); refused != nil {
				return refused
			}
		}
		if !p.keep(len(x.in)) {
			return refuse(http.StatusBadRequest, "the connection ended")
		}
		n, err := from.Read(x.in[len(x.in):cap(x.in)])
		x.in = x.in[:len(x.in)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return unreadable(err)
		}
	}
	if len(x.in) > x.limit {
		return x.tooLarge()
	}
	return nil
}

// grow makes room for more of a body of a size.
func (x *exchange) grow(size int) *refusal {
	most := size
	if size == unsaid {
		most = x.limit
	}
	if len(x.in) >= smallBytes && !x.hold(most) {
		return &refusal{http.StatusServiceUnavailable, envelope.Fault{
			Code: envelope.CodeServer, String: "too many large requests are being served; there was no memory for this one in time",
		}}
	}
	x.in = slices.Grow(x.in, max(min(size, promisedBytes)+replyRoom+answerMore-len(x.in), 4<<10))
	return nil
}

// unreadable makes the fault for a body that could not be read.
func unreadable(err error) *refusal {
	var bad *packed
	switch {
	case errors.As(err, &bad):
		return refuse(http.StatusBadRequest, "the body of the request is not gzip: %v", bad.err)
	case isTimeout(err):
		return refuse(http.StatusRequestTimeout, "the body of the request came too slowly: %v", err)
	}
	return refuse(http.StatusBadRequest, "the body of the request cannot be read: %v", err)
}

// unpacked reads what is in a compressed body, and marks errors as those of it.
type unpacked struct{ io.Reader }

type packed struct{ err error }

func (p *packed) Error() string { return p.err.Error() }

func (u unpacked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &packed{whole(err)}
	}
	return n, err
}

func (x *exchange) tooLarge() *refusal {
	return refuse(http.StatusRequestEntityTooLarge, "the request is longer than %d bytes", x.limit)
}

// A pace is how fast a large body has to come. None is kept without a connection.
type pace struct {
	conn  net.Conn
	stall time.Duration // for each paceBytes
	until time.Time     // when all of it has to be there
	next  int           // how much is there when the next time begins; 0 for what is small
}

// keep gives the client time for more, if it has sent what it had to, and tells whether the
// connection is still there.
func (p *pace) keep(come int) bool {
	if p.conn == nil || come < max(p.next, smallBytes) {
		return true
	}
	p.next = come + paceBytes
	soon := time.Now().Add(p.stall)
	if p.until.Before(soon) {
		soon = p.until
	}
	return p.conn.SetReadDeadline(soon) == nil
}

// readAll appends what r has to dst, up to its end or until dst is longer than limit.
func readAll(r io.Reader, dst []byte, limit int) ([]byte, error) {
	for len(dst) <= limit {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 4<<10)
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}
