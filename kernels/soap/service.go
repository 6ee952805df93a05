package soap

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"benchd/kernels"
	"benchd/kernels/envelope"
)

// mediaType is what SOAP 1.1 is sent as (section 6).
const mediaType = "text/xml; charset=utf-8"

// A service answers calls. It is an http.Handler, and many calls may be at work at a time.
// What a call needs comes from a pool and not with the connection: of thousands of
// connections only as many hold buffers as are at work.
type service struct {
	exchanges   sync.Pool // of *exchange
	contentType []string  // the value of the header, shared by all answers
}

func newService(p kernels.Params) (*service, error) {
	if _, err := newCodec(p); err != nil {
		return nil, err
	}
	s := &service{contentType: []string{mediaType}}
	s.exchanges.New = func() any {
		codec, err := newCodec(p)
		if err != nil {
			return nil // cannot be: it was made with the same parameters above
		}
		return &exchange{codec: codec, limit: envelope.DefaultLimits().Bytes}
	}
	return s, nil
}

// ServeHTTP answers one call. SOAP is sent by POST (SOAP 1.1, section 6).
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != Path:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "SOAP requests are sent by POST", http.StatusMethodNotAllowed)
		return
	}
	x, ok := s.exchanges.Get().(*exchange)
	if !ok {
		http.Error(w, "the service cannot make a codec", http.StatusInternalServerError)
		return
	}
	defer s.exchanges.Put(x)
	status := x.answer(r)
	h := w.Header()
	h["Content-Type"] = s.contentType
	h["Content-Length"] = []string{strconv.Itoa(len(x.out))}
	if status == http.StatusRequestEntityTooLarge {
		h.Set("Connection", "close") // the rest of the body is not read
	}
	w.WriteHeader(status)
	_, _ = w.Write(x.out) // a client that is gone needs no answer
}

// An exchange has what one call needs; it is used again for another.
type exchange struct {
	codec *envelope.Codec
	limit int
	in    []byte // the body of the request
	out   []byte // the body of the answer
	m     envelope.Message
}

// keptBytes is how much buffer an exchange may keep from one call to the next. One large
// request does not make the service large for ever.
const keptBytes = 4 << 20

// answer reads the request, makes the answer or a fault in x.out, and returns the status.
func (x *exchange) answer(r *http.Request) int {
	if cap(x.in)+cap(x.out) > keptBytes {
		x.in, x.out = nil, nil
	}
	refused := x.read(r)
	if refused == nil {
		refused = x.understand(r.Header)
	}
	if refused != nil {
		x.out = x.codec.AppendFault(x.out[:0], &refused.fault)
		return refused.status
	}
	x.m.Answer = true
	x.out = x.codec.Append(x.out[:0], &x.m)
	return http.StatusOK
}

// A refusal is a call that is answered with a fault.
type refusal struct {
	status int
	fault  envelope.Fault
}

// refuse makes the fault of a wrong request. SOAP 1.1 sends each with status 500 (section
// 6.2); only what is refused before it is looked at as SOAP has another.
func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, envelope.Fault{Code: envelope.CodeClient, String: fmt.Sprintf(format, args...)}}
}

// read reads the body of the request into x.in.
func (x *exchange) read(r *http.Request) *refusal {
	if refused := checkType(r.Header.Get("Content-Type")); refused != nil {
		return refused
	}
	if r.ContentLength > int64(x.limit) {
		return x.tooLarge()
	}
	x.in = x.in[:0]
	if r.ContentLength > 0 {
		x.in = slices.Grow(x.in, int(r.ContentLength)+1)
	}
	var err error
	if x.in, err = readAll(r.Body, x.in, x.limit); err != nil {
		return refuse(http.StatusBadRequest, "the body of the request cannot be read: %v", err)
	}
	if len(x.in) > x.limit {
		return x.tooLarge()
	}
	return nil
}

func (x *exchange) tooLarge() *refusal {
	return refuse(http.StatusRequestEntityTooLarge, "the request is longer than %d bytes", x.limit)
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

// checkType refuses what is not XML in UTF-8.
func checkType(value string) *refusal {
	if value == mediaType {
		return nil
	}
	kind, params, err := mime.ParseMediaType(value)
	if err != nil || kind != "text/xml" {
		return refuse(http.StatusUnsupportedMediaType, "the content type must be text/xml, not %q", value)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusInternalServerError, "the encoding %q is not allowed; only UTF-8 is", charset)
	}
	return nil
}

// understand decodes the request and checks that it is one, and the one its action says. A
// codec returns its two kinds of error unwrapped, each of which has an answer of its own.
func (x *exchange) understand(h http.Header) *refusal {
	switch err := x.codec.Decode(x.in, &x.m); e := err.(type) { //nolint:errorlint // Decode returns these as they are.
	case nil:
	case *envelope.Error:
		return &refusal{http.StatusInternalServerError, *e.Fault()}
	case *envelope.Fault:
		return refuse(http.StatusInternalServerError, "a fault is not a request")
	default:
		return refuse(http.StatusInternalServerError, "the request cannot be read: %v", err)
	}
	if x.m.Answer {
		return refuse(http.StatusInternalServerError, "an answer is not a request")
	}
	return checkAction(h["Soapaction"], x.m.Shape.Action())
}

// checkAction refuses a request whose SOAPAction is missing or means another operation. The
// empty action in quotes says that the URI of the request tells what is meant (section
// 6.1.1), which it does here.
func checkAction(values []string, want string) *refusal {
	if len(values) != 1 {
		return refuse(http.StatusInternalServerError, "the request must have one SOAPAction header")
	}
	action := values[0]
	quoted := len(action) >= 2 && action[0] == '"' && action[len(action)-1] == '"'
	if quoted {
		action = action[1 : len(action)-1]
	}
	meant := quoted && action == ""
	if action != want && !meant {
		return refuse(http.StatusInternalServerError, "the SOAPAction %q does not belong to the operation in the body, which has %q", action, want)
	}
	return nil
}
