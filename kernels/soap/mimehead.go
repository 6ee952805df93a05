package soap

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"benchd/kernels/envelope"
)

// A Part is the head of a part of a message. Its fields are parts of one buffer.
type Part struct {
	text []byte

	// ID is the Content-ID without its angle brackets (RFC 2392, section 2); empty if there is
	// none.
	ID []byte
	// Type is the Content-Type as it stands in the head; empty if there is none.
	Type []byte
}

// parse reads the fields and returns what is wrong with them, or "". Fields that are not
// known mean nothing here (RFC 2045, section 9).
func (h *Part) parse() (wrong string) {
	h.ID, h.Type = nil, nil
	unfold(h.text)
	for rest := h.text; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\r\n"))
		rest = after
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !isFieldName(name) {
			return fmt.Sprintf("the line %q is no field of a part's head", line[:min(len(line), 80)])
		}
		if wrong := h.field(name, bytes.Trim(value, " \t")); wrong != "" {
			return wrong
		}
	}
	return ""
}

// field takes one field in.
func (h *Part) field(name, value []byte) (wrong string) {
	switch {
	case isName(name, "Content-ID"):
		if len(value) < 3 || value[0] != '<' || value[len(value)-1] != '>' {
			return fmt.Sprintf("the Content-ID %q is not in angle brackets", value[:min(len(value), 80)])
		}
		return once(&h.ID, value[1:len(value)-1], "Content-ID")
	case isName(name, "Content-Type"):
		return once(&h.Type, value, "Content-Type")
	case isName(name, "Content-Transfer-Encoding"):
		for _, asItIs := range []string{"binary", "8bit", "7bit"} {
			if isName(value, asItIs) {
				return ""
			}
		}
		return fmt.Sprintf("a part has the transfer encoding %q; allowed are binary, 8bit and 7bit", value[:min(len(value), 80)])
	}
	return ""
}

// once sets a field that may be there one time only.
func once(to *[]byte, value []byte, name string) string {
	if *to != nil {
		return "a part has the field " + name + " twice"
	}
	*to = value
	return ""
}

// unfold makes white space of the line ends inside of fields (RFC 822, section 3.1.1), which
// mail libraries put into long ones.
func unfold(text []byte) {
	for i := 0; i+2 < len(text); i++ {
		if text[i] == '\r' && text[i+1] == '\n' && (text[i+2] == ' ' || text[i+2] == '\t') {
			text[i], text[i+1] = ' ', ' '
		}
	}
}

// isName compares names of fields, and values that are like them.
func isName(b []byte, name string) bool {
	return len(b) == len(name) && strings.EqualFold(string(b), name)
}

// isFieldName tells whether a field may be called so.
func isFieldName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(name) > 0
}

// The media types of messages with attachments.
const (
	typeRelated = "multipart/related"   // RFC 2387
	typeXOP     = "application/xop+xml" // XOP, section 4.1
)

// A related is what the content type of a message in parts says (RFC 2387, section 3).
type related struct {
	binding  // of the version of SOAP
	boundary string
	start    string   // the ID of the root part; empty for the first part
	xop      bool     // the root is XOP, and not plain XML
	actions  []string // what SOAP 1.2 says of the operation, if it does
}

// plain tells whether the message is not in parts: the envelope is all of it.
func (r related) plain() bool { return r.boundary == "" }

// intent returns what a request in parts says that it means.
func (r related) intent(h http.Header) intent {
	if r.version == envelope.V12 {
		return intent{r.binding, r.actions}
	}
	return intent{r.binding, h["Soapaction"]}
}

// parseRelated reads the content type of a message in parts. The error is a sentence.
func parseRelated(value string) (related, error) {
	kind, params, err := mime.ParseMediaType(value)
	if err != nil {
		return related{}, fmt.Errorf("the content type %q cannot be read: %w", value, err)
	}
	if kind != typeRelated {
		return related{}, fmt.Errorf("the content type is %q; a message with attachments is %s, one with its content in the envelope %s or %s", kind, typeRelated, media11, media12)
	}
	r := related{boundary: params["boundary"]}
	if r.boundary == "" {
		return related{}, fmt.Errorf("the content type %q names no boundary", value)
	}
	soap := params["type"]
	if strings.EqualFold(soap, typeXOP) {
		r.xop = true
		soap = params["start-info"]
	}
	if !r.understand(soap) {
		if r.xop {
			return related{}, fmt.Errorf("the start-info of the content type is %q; allowed are %s and %s", soap, media11, media12)
		}
		return related{}, fmt.Errorf("the type of the root part is %q; allowed are %s, %s and %s", soap, typeXOP, media11, media12)
	}
	if action, ok := params["action"]; ok {
		r.actions = []string{action}
	}
	if start := params["start"]; start != "" {
		if len(start) < 3 || start[0] != '<' || start[len(start)-1] != '>' {
			return related{}, fmt.Errorf("the start %q of the content type is not in angle brackets", start)
		}
		r.start = start[1 : len(start)-1]
	}
	return r, nil
}

// understand takes the media type of an envelope in, which may have the action with it. It
// tells whether it is one.
func (r *related) understand(media string) bool {
	bare, more, _ := strings.Cut(media, ";")
	switch strings.ToLower(strings.TrimSpace(bare)) {
	case media11:
		r.binding = bindingOf(envelope.V11)
	case media12:
		r.binding = bindingOf(envelope.V12)
	default:
		return false
	}
	if strings.Contains(more, "action") { // a parameter as any other, whose place XOP gives here (section 4.1)
		if _, params, err := mime.ParseMediaType(media); err == nil && params["action"] != "" {
			r.actions = []string{params["action"]}
		}
	}
	return true
}

// checkRoot refuses a root part that is not of the type that the message's own says. The
// error is a sentence.
func (r related) checkRoot(value string) error {
	kind, params, err := mime.ParseMediaType(value)
	if err != nil {
		return fmt.Errorf("the content type %q of the root part cannot be read: %w", value, err)
	}
	want := r.media
	if r.xop {
		want = typeXOP
		if inner, _, _ := strings.Cut(params["type"], ";"); !strings.EqualFold(strings.TrimSpace(inner), r.media) {
			return fmt.Errorf("the type in the root part's content type is %q; that of SOAP %s is %s", params["type"], r.version, r.media)
		}
	}
	if kind != want {
		return fmt.Errorf("the content type of the root part is %q; that of the message says %s", kind, want)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return fmt.Errorf("the encoding %q of the root part is not allowed; only UTF-8 is", charset)
	}
	return nil
}

// cidOf returns the Content-ID that a reference means: a URI of the scheme cid, in which
// what is not allowed in one is written as %hh (RFC 2392, section 2). It appends to dst.
func cidOf(dst, href []byte) ([]byte, bool) {
	if len(href) < 5 || !isName(href[:4], "cid:") {
		return dst, false
	}
	for i := 4; i < len(href); i++ {
		if href[i] != '%' {
			dst = append(dst, href[i])
			continue
		}
		if i+2 >= len(href) {
			return dst, false
		}
		high, low := hexDigit(href[i+1]), hexDigit(href[i+2])
		if high < 0 || low < 0 {
			return dst, false
		}
		dst = append(dst, byte(high<<4|low))
		i += 2
	}
	return dst, true
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
