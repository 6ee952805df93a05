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

// describedAddress is the address that the description has as a file.
const describedAddress = "http://localhost" + Path

// asksForWSDL tells whether a request asks for the description, which by custom stands
// behind the address with "?wsdl" in small or capital letters.
func asksForWSDL(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.URL.RawQuery, "wsdl")
}

// describe returns the description of the service at the host that was asked.
func describe(host string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte("http://"+host+Path)) // into memory
	return strings.ReplaceAll(echoWSDL, describedAddress, escaped.String())
}
