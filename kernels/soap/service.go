package soap

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"benchd/kernels/envelope"
)

// A service answers calls, of both versions of SOAP by what their content type says. What a
// call needs is not kept with its connection: of thousands of connections only as many hold
// buffers as are at work.
type service struct {
	scheme    string // of its addresses
	exchanges *shelf
	limits    Limits
	budget    *budget
}

func newService(model envelope.Model, limits Limits) (*service, error) {
	limits = limits.filled()
	shared := newBudget(limits)
	exchanges, err := newShelf(model, shared)
	if err != nil {
		return nil, err
	}
	return &service{scheme: schemePlain, exchanges: exchanges, limits: limits, budget: shared}, nil
}

func (s *service) take() *exchange {
	x := s.exchanges.take()
	x.read, x.scheme = false, s.scheme
	return x
}

func (s *service) give(x *exchange) {
	x.pace = pace{}
	s.exchanges.give(x)
}

// An exchange has what one call needs; it is used again for another.
type exchange struct {
	codec  *envelope.Codec
	limit  int
	scheme string
	in     []byte // the body of the request, until it is understood
	out    []byte // room for the head of the answer, and its body, in the memory of the request
	read   bool   // the request has been read to its end
	m      envelope.Message
	pace   pace
	budget *budget
	held   int64 // bytes of the budget

	storing  *storing // for attachments, once there was one
	spare    []byte   // for what is compressed: a body before and after
	packer   packer
	unpacker unpacker
}

func newExchange(model envelope.Model, shared *budget) (*exchange, error) {
	codec, err := envelope.NewCodec(model, envelope.DefaultLimits())
	if err != nil {
		return nil, err
	}
	codec.Lend() // a request is answered before the next is read
	return &exchange{codec: codec, limit: envelope.DefaultLimits().Bytes, budget: shared}, nil
}

// A reply is what the head of an answer says; the body is in the exchange.
type reply struct {
	status int
	kind   string // the content type
	coding string // of the body
	takes  string // the only coding that is taken, where the request had another
	keep   bool   // the connection can carry another call
	told   bool   // the client, of HTTP/1.0, has to be told so
	later  bool   // the client may try again soon
}

// keptBytes is how much buffer an exchange may keep from one call to the next. One large
// request does not make the service large for ever.
const keptBytes = 4 << 20

// answerMore is how much longer an answer is than its request, if the client writes as the
// codec does. To be wrong costs time only.
const answerMore = 64

// replyRoom is room for the head of an answer.
const replyRoom = 320

// body returns the slice to append the body of the answer to, behind the room for its head.
func (x *exchange) body() []byte {
	return slices.Grow(x.out[:0], replyRoom)[:replyRoom]
}

// serve answers one request.
func (x *exchange) serve(r *http.Request) reply {
	a := x.reply(r)
	if r.Method == http.MethodHead {
		x.out = x.body() // its answer has none (RFC 9110, section 9.3.2)
	}
	return a
}

// reply makes the answer to a request. SOAP is sent by POST (SOAP 1.1, section 6).
func (x *exchange) reply(r *http.Request) reply {
	x.read = r.Body == http.NoBody
	path := r.URL.Path
	switch {
	case path != Path && path != AttachmentPath:
		return x.plain(http.StatusNotFound, "The services are at "+Path+" and "+AttachmentPath+".\n")
	case asksForWSDL(r):
		x.out = append(x.body(), describe(x.scheme, r.Host, path)...)
		return reply{status: http.StatusOK, kind: mediaType, keep: x.read}
	case r.Method != http.MethodPost:
		return x.plain(http.StatusMethodNotAllowed, "SOAP requests are sent by POST.\n")
	case path == AttachmentPath:
		return x.acknowledge(r)
	}
	return x.answer(r)
}

// plain makes an answer that is not SOAP.
func (x *exchange) plain(status int, text string) reply {
	x.out = append(x.body(), text...)
	return reply{status: status, kind: "text/plain; charset=utf-8", keep: x.read}
}

// answer reads the request and makes the answer or a fault, in the version of the request.
func (x *exchange) answer(r *http.Request) reply {
	meant, refused := readIntent(r.Header)
	x.codec.Use(meant.version)
	a := reply{status: http.StatusOK, kind: meant.kind}
	if refused == nil {
		var coding string
		if coding, refused = takenCoding(r.Header, codingPlain, codingGzip); refused != nil {
			a.takes = codingGzip
		} else {
			x.in = x.out[:0]
			refused = x.receive(r, coding)
			x.out = x.in // what is read from it has memory of its own
		}
	}
	if refused == nil {
		refused = x.understand(meant)
	}
	if refused == nil {
		x.m.Answer = true
		x.out = x.codec.Append(slices.Grow(x.body(), len(x.in)+answerMore), &x.m)
	} else {
		a.status = cmp.Or(refused.status, meant.status(&refused.fault))
		a.later = a.status == http.StatusServiceUnavailable
		x.out = x.codec.AppendFault(x.body(), &refused.fault)
	}
	if acceptsGzip(r.Header) {
		a.coding = codingGzip
		x.compress()
	}
	a.keep = x.read
	return a
}

// compress compresses the body of the answer.
func (x *exchange) compress() {
	plain := x.out
	x.out = x.packer.pack(slices.Grow(x.spare[:0], replyRoom)[:replyRoom], plain[replyRoom:])
	x.spare = plain
}

// frame writes the head in front of the body and returns the whole answer.
func (x *exchange) frame(a reply, now time.Time) []byte {
	var room [replyRoom]byte
	h := append(room[:0], "HTTP/1.1 "...)
	h = append(strconv.AppendInt(h, int64(a.status), 10), ' ')
	h = append(append(h, http.StatusText(a.status)...), "\r\nDate: "...)
	h = append(now.UTC().AppendFormat(h, http.TimeFormat), "\r\nContent-Type: "...)
	h = append(append(h, a.kind...), "\r\nContent-Length: "...)
	h = strconv.AppendInt(h, int64(len(x.out)-replyRoom), 10)
	if a.coding != codingPlain {
		h = append(append(h, "\r\nContent-Encoding: "...), a.coding...)
	}
	if a.takes != "" {
		h = append(append(h, "\r\nAccept-Encoding: "...), a.takes...)
	}
	switch {
	case !a.keep:
		h = append(h, "\r\nConnection: close"...)
	case a.told:
		h = append(h, "\r\nConnection: keep-alive"...)
	}
	if a.status == http.StatusMethodNotAllowed {
		h = append(h, "\r\nAllow: "+http.MethodPost...)
	}
	if a.later {
		h = append(h, "\r\nRetry-After: 5"...) // seconds (RFC 9110, section 10.2.3)
	}
	h = append(h, "\r\n\r\n"...)
	begin := replyRoom - len(h)
	copy(x.out[begin:], h)
	return x.out[begin:]
}

// A refusal is a call that is answered with a fault.
type refusal struct {
	status int // 0 for that which the binding has for the fault
	fault  envelope.Fault
}

// refuse makes the fault of a wrong request. Only what is refused before it is looked at as
// SOAP has a status of its own.
func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, envelope.Fault{Code: envelope.CodeClient, String: fmt.Sprintf(format, args...)}}
}

// takenCoding returns the coding of a request's body, and refuses all but the given ones
// (RFC 9110, section 15.5.16).
func takenCoding(h http.Header, taken ...string) (string, *refusal) {
	coding := codingOf(h)
	if slices.Contains(taken, coding) {
		return coding, nil
	}
	last := cmp.Or(taken[len(taken)-1], codingNone)
	return "", refuse(http.StatusUnsupportedMediaType, "the content encoding %q is not known here; allowed is %s, or none", coding, last)
}

// understand decodes the request and checks that it is one, and the one its action says. A
// codec returns its two kinds of error unwrapped, each of which has an answer of its own.
func (x *exchange) understand(meant intent) *refusal {
	switch err := x.codec.Decode(x.in, &x.m); e := err.(type) { //nolint:errorlint // Decode returns these as they are.
	case nil:
	case *envelope.Error:
		return &refusal{0, *e.Fault()}
	case *envelope.Fault:
		return refuse(0, "a fault is not a request")
	default:
		return refuse(0, "the request cannot be read: %v", err)
	}
	if x.m.Answer {
		return refuse(0, "an answer is not a request")
	}
	return meant.check(x.m.Shape.Action())
}
