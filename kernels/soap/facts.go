package soap

import (
	"crypto/tls"
	"net"
	"net/http"
	"strconv"

	"benchd/kernels"
)

// The names of what a trial tells of its service.
const (
	factTransport = "transport"                // what carried the calls, whatever the parameters say
	factServer    = "server"                   // what the service calls itself
	factRepeated  = "repeated_calls_of_lane_1" // see client.call
)

// facts are what a client finds out about its service beside the answers.
type facts struct {
	transport string // "plain", or the version and the cipher suite of TLS
	server    string // the Server field (RFC 9110, section 10.2.4), or empty
	repeated  int64  // calls that were made again since a kept connection was closed
}

// connected notes how a new connection is spoken on.
func (f *facts) connected(conn net.Conn) {
	f.transport = "plain"
	if secure, ok := conn.(*tls.Conn); ok {
		state := secure.ConnectionState()
		f.transport = tls.VersionName(state.Version) + ", " + tls.CipherSuiteName(state.CipherSuite)
	}
}

// answered notes what the first answer on a connection says of the service.
func (f *facts) answered(c *client, h http.Header) {
	if named := h["Server"]; len(named) > 0 {
		f.server = c.brief([]byte(named[0]), excerpt)
	}
}

// describe gives the facts by name. With a named service whose address is https, calls are by
// TLS though the parameter tls is false: the transport is what was.
func (f *facts) describe() map[string]string {
	out := map[string]string{factTransport: f.transport, factRepeated: strconv.FormatInt(f.repeated, 10)}
	if f.server != "" {
		out[factServer] = f.server
	}
	return out
}

var (
	_ kernels.Describer = (*trial)(nil)
	_ kernels.Describer = (*attachmentTrial)(nil)
)

// Describe tells how the service was called, what it calls itself, and how many calls were made
// once more since the service had closed the connection before it answered: to another client
// those are failures.
func (t *trial) Describe() map[string]string { return t.client.facts.describe() }

// Describe tells the same of attachments.
func (t *attachmentTrial) Describe() map[string]string { return t.client.facts.describe() }
