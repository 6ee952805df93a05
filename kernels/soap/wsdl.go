package soap

import (
	_ "embed" // the description
	"encoding/xml"
	"net/http"
	"strings"
)

// echoWSDL describes the echo service (WSDL 1.1, W3C Note of 2001), so that other stacks can
// make their clients from it.
//
//go:embed echo.wsdl
var echoWSDL string

// attachmentWSDL describes the service of attachments, as MTOM has them: an attachment is a
// value of the type base64Binary, and by XOP it travels in a part of its own. WSDL 1.1 has no
// words for a reference that is not such a value, as that of SOAP with Attachments.
//
//go:embed attachment.wsdl
var attachmentWSDL string

// describedHost is what the descriptions, as files, have in front of their path.
const describedHost = "http://localhost"

// asksForWSDL tells whether a request asks for the description, which by custom stands
// behind the address with "?wsdl" in small or capital letters.
func asksForWSDL(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.URL.RawQuery, "wsdl")
}

// describe returns the description of the service at a path of the host that was asked.
func describe(scheme, host, path string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(scheme+"://"+host+path)) // into memory
	text := echoWSDL
	if path == AttachmentPath {
		text = attachmentWSDL
	}
	return strings.ReplaceAll(text, describedHost+path, escaped.String())
}
