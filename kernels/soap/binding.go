package soap

import (
	"mime"
	"net/http"
	"strings"

	"benchd/kernels/envelope"
)

// A binding is how a version of SOAP goes over HTTP: SOAP 1.1 (section 6) with the action in
// a header, SOAP 1.2 (Part 2, section 7, and RFC 3902) with the action in the media type.
type binding struct {
	version envelope.Version
	media   string
	kind    string // the content type of an answer
}

const (
	media11 = "text/xml"
	media12 = "application/soap+xml"
	utf8    = "; charset=utf-8"
)

// mediaType is the content type of an envelope of SOAP 1.1.
const mediaType = media11 + utf8

// bindingOf returns the binding of a version.
func bindingOf(v envelope.Version) binding {
	if v == envelope.V12 {
		return binding{envelope.V12, media12, media12 + utf8}
	}
	return binding{envelope.V11, media11, media11 + utf8}
}

// request returns the content type of a request and the value of its SOAPAction, if it has one.
func (b binding) request(action string) (kind, header string) {
	if b.version == envelope.V12 {
		return b.kind + `; action="` + action + `"`, ""
	}
	return b.kind, action
}

// status returns the status that a fault is sent with: SOAP 1.1 has one for all, SOAP 1.2
// another for the faults of the sender (Part 2, table 20).
func (b binding) status(f *envelope.Fault) int {
	if b.version == envelope.V12 && f.Code == envelope.CodeClient {
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// An intent is what the head of a request says about it.
type intent struct {
	binding
	actions []string
}

// readIntent reads a request's head and refuses what is not XML in UTF-8. The two content
// types that the client here sends are known by sight, since to parse one costs more than
// to read the beans.
func readIntent(h http.Header) (intent, *refusal) {
	value := h.Get("Content-Type")
	old, recent := bindingOf(envelope.V11), bindingOf(envelope.V12)
	if value == old.kind {
		return intent{old, h["Soapaction"]}, nil
	}
	if action, ok := strings.CutPrefix(value, media12+utf8+`; action="`); ok {
		if action, ok = strings.CutSuffix(action, `"`); ok && !strings.ContainsAny(action, `"\`) {
			return intent{recent, []string{action}}, nil
		}
	}
	media, params, err := mime.ParseMediaType(value)
	i := intent{old, h["Soapaction"]}
	switch {
	case err == nil && media == media11:
	case err == nil && media == media12:
		i = intent{binding: recent}
		if action, ok := params["action"]; ok {
			i.actions = []string{action}
		}
	default:
		return i, refuse(http.StatusUnsupportedMediaType, "the content type must be %s or %s, not %q", media11, media12, value)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return i, refuse(0, "the encoding %q is not allowed; only UTF-8 is", charset)
	}
	return i, nil
}

// check refuses a request whose action is missing or means another operation. In SOAP 1.1
// there has to be one, and the empty action in quotes says that the URI of the request tells
// what is meant (section 6.1.1), which it does here. In SOAP 1.2 there need not be one.
func (i intent) check(want string) *refusal {
	if i.version == envelope.V12 && len(i.actions) == 0 {
		return nil
	}
	if len(i.actions) != 1 {
		return refuse(0, "the request must have one SOAPAction header")
	}
	action := i.actions[0]
	meant := action == "" && i.version == envelope.V12
	if quoted := len(action) >= 2 && action[0] == '"' && action[len(action)-1] == '"'; quoted && i.version == envelope.V11 {
		action = action[1 : len(action)-1]
		meant = action == ""
	}
	if action != want && !meant {
		return refuse(0, "the action %q does not belong to the operation in the body, which has %q", action, want)
	}
	return nil
}
