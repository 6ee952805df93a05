package soap

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"os"

	"benchd/kernels/envelope"
)

// Where the embedded services are.
const (
	// Path is that of the echo service.
	Path = "/echo"
	// AttachmentPath is that of the service that takes attachments.
	AttachmentPath = "/attachment"
)

// anywhere is where a service listens that is not told where: a random port of the loopback.
const anywhere = "127.0.0.1:0"

// Services are the embedded services, which listen on one port: the one that echoes at Path,
// and the one that takes attachments at AttachmentPath. Each answers both versions of SOAP
// and describes itself at "?wsdl".
type Services struct {
	// Listen is the host:port to listen on; empty means a random port of the loopback.
	Listen string
	// Model is how the echo service reads and writes.
	Model envelope.Model
	// TLS tells whether connections are by TLS, with a certificate authority that is made for
	// the life of the services.
	TLS bool
	// Limits bound what the services take on.
	Limits Limits

	waiting int // so many connections at once may wait in the system call
}

// Addresses tell where services listen.
type Addresses struct {
	// Echo and Attachment are URLs.
	Echo, Attachment string
	// Authority is the certificate authority in DER, or nil without TLS.
	Authority []byte
}

// believed returns a URL with the authority in its fragment, as kernels.Addr has it.
func (a Addresses) believed(url string) string {
	if a.Authority == nil {
		return url
	}
	return url + "#" + authorityKey + base64.RawURLEncoding.EncodeToString(a.Authority)
}

// Serve runs the services until ctx is done. It calls ready once they can be called.
func (s Services) Serve(ctx context.Context, ready func(Addresses)) error {
	made, err := newService(s.Model, s.Limits)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cmp.Or(s.Listen, anywhere))
	if err != nil {
		return fmt.Errorf("listen on %s: %w", cmp.Or(s.Listen, anywhere), err)
	}
	host := reachable(listener.Addr().String())
	settings, ca, err := s.secure(host, listener.Addr())
	if err != nil {
		_ = listener.Close() // nobody was told of it
		return err
	}
	if settings != nil {
		made.scheme = schemeTLS
	}
	base := made.scheme + "://" + host
	ready(Addresses{Echo: base + Path, Attachment: base + AttachmentPath, Authority: ca})
	return newServer(made, settings, s.waiting).serve(ctx, listener)
}

// secure makes the settings of TLS, if it is asked for, for a service that is at host:port
// and has all addresses of this machine if it listens on every interface.
func (s Services) secure(host string, on net.Addr) (*tls.Config, []byte, error) {
	if !s.TLS {
		return nil, nil, nil
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return nil, nil, fmt.Errorf("the address %s: %w", host, err)
	}
	names := []string{"localhost", "127.0.0.1", "::1", name}
	if tcp, ok := on.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		all, err := net.InterfaceAddrs()
		if err != nil {
			return nil, nil, fmt.Errorf("list the addresses of this machine: %w", err)
		}
		for _, a := range all {
			if network, ok := a.(*net.IPNet); ok {
				names = append(names, network.IP.String())
			}
		}
	}
	return serverTLS(names)
}

// reachable returns the host:port at which others reach what listens on an address. What
// listens on every interface is reached by the name of the machine.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return addr
	}
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "127.0.0.1"
	}
	return net.JoinHostPort(name, port)
}
