package soap

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// The schemes of an address.
const (
	schemePlain = "http"
	schemeTLS   = "https"
)

// authorityKey is what the fragment of an address begins with that has an authority in it.
const authorityKey = "ca="

// An endpoint is where a service is and how it is reached.
type endpoint struct {
	host string      // host:port to connect to
	name string      // the value of Host
	uri  string      // what is asked for there
	auth string      // the value of Authorization; empty for none
	tls  *tls.Config // nil for none

	secrets []string // what of auth must not be shown, as it is and as it is sent
}

// parseAddress reads the address of a service: a URL, or host:port for one with the given
// path. The scheme decides on TLS, and secure, which asks for it, must not say otherwise. The
// user in a URL is sent with each call (RFC 7617). Errors tell the scheme and the host alone,
// since there may be a password elsewhere.
func parseAddress(addr, path string, secure bool) (endpoint, error) {
	if !strings.Contains(addr, "://") {
		scheme := schemePlain
		if secure {
			scheme = schemeTLS
		}
		addr = scheme + "://" + addr + path
	}
	u, err := url.Parse(addr)
	if err != nil || u.Scheme != schemePlain && u.Scheme != schemeTLS || u.Hostname() == "" {
		return endpoint{}, fmt.Errorf("the address of the service is not like http://127.0.0.1:8080%s or https://host%s", path, path)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return endpoint{}, fmt.Errorf("the port of the service at %s is %s; ports are 1 to 65535", u.Hostname(), port)
		}
	}
	e := endpoint{host: u.Host, name: u.Host, uri: u.RequestURI()}
	if password, _ := u.User.Password(); u.User != nil {
		said := u.User.Username() + ":" + password
		encoded := base64.StdEncoding.EncodeToString([]byte(said))
		e.auth, e.secrets = "Basic "+encoded, []string{encoded, said}
		if password != "" {
			e.secrets = append(e.secrets, password)
		}
	}
	if u.Port() == "" {
		e.host = net.JoinHostPort(u.Hostname(), u.Scheme) // the ports have the names of the schemes
	}
	if u.Scheme == schemePlain {
		if secure || u.Fragment != "" {
			return endpoint{}, fmt.Errorf("the service at %s is asked for by TLS, and its address is plain http; use one of https, or tls: false", u.Host)
		}
		return e, nil
	}
	roots, err := authorityIn(u.Fragment)
	if err != nil {
		return endpoint{}, fmt.Errorf("the address of the service at %s: %w", u.Host, err)
	}
	e.tls = clientTLS(u.Hostname(), roots)
	return e, nil
}

// authorityIn returns the authority that the fragment of an address names, or nil if it has
// none (see kernels.Addr).
func authorityIn(fragment string) (*x509.CertPool, error) {
	if fragment == "" {
		return nil, nil //nolint:nilnil // no pool is what crypto/tls takes for that of the system.
	}
	text, ok := strings.CutPrefix(fragment, authorityKey)
	if !ok {
		return nil, fmt.Errorf("the fragment must be empty, or %s and a certificate", authorityKey)
	}
	der, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the certificate in the fragment is not base64url: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("the certificate in the fragment cannot be read: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return roots, nil
}
