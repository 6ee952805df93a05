package messaging

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A place is where the messages of a trial go: a broker's address, and the queue at it.
//
// As a text it is a URL whose fragment holds what is no part of the address: "ca", the
// authority by which a server's certificate is believed (see kernels.Addr), and "queue", the
// name of the queue, topic or subject that the echo service made for its trial, and what a
// client has to know of that service.
type place struct {
	url   *url.URL // without the fragment
	ca    string   // base64url of a certificate in DER, or empty
	queue string
	desks int  // of the service: how many work on the queue
	fake  bool // the broker is a stand-in
}

// connectPatience is how long a broker has for a connection and its greeting.
const connectPatience = 10 * time.Second

// parsePlace reads a place.
func parsePlace(addr string) (place, error) {
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" {
		return place{}, fmt.Errorf("the address of a broker is a URL like amqp://host:port, and not %q", withoutSecrets(addr))
	}
	more, err := url.ParseQuery(u.Fragment)
	if err != nil {
		return place{}, fmt.Errorf("the fragment of the address of a broker at %s cannot be read: %w", u.Host, err)
	}
	u.Fragment, u.RawFragment = "", ""
	desks, err := strconv.Atoi(cmp.Or(more.Get("desks"), "0"))
	if err != nil {
		return place{}, fmt.Errorf("the fragment of the address of a broker at %s cannot be read: %w", u.Host, err)
	}
	return place{url: u, ca: more.Get("ca"), queue: more.Get("queue"), desks: desks, fake: more.Get("fake") == "true"}, nil
}

// withoutSecrets cuts user and password off an address that could not be read.
func withoutSecrets(addr string) string {
	if i := strings.LastIndexByte(addr, '@'); i >= 0 {
		return "…" + addr[i:]
	}
	return addr
}

// String writes what parsePlace reads.
func (p place) String() string {
	more := url.Values{}
	if p.ca != "" {
		more.Set("ca", p.ca)
	}
	if p.queue != "" {
		more.Set("queue", p.queue)
	}
	if p.desks > 0 {
		more.Set("desks", strconv.Itoa(p.desks))
	}
	if p.fake {
		more.Set("fake", "true")
	}
	u := *p.url
	u.Fragment = more.Encode()
	return u.String()
}

// user and password are those of the address, or the given ones if it has none.
func (p place) credentials(user, password string) (string, string) {
	if p.url.User == nil {
		return user, password
	}
	secret, _ := p.url.User.Password()
	return p.url.User.Username(), secret
}

// hostPort is the address for a dialer, with the port of the scheme if it names none.
func (p place) hostPort() string {
	port := p.url.Port()
	if port == "" {
		port = defaultPort(p.url.Scheme)
	}
	return net.JoinHostPort(p.url.Hostname(), port)
}

// defaultPort is the port that a scheme's servers listen on.
func defaultPort(scheme string) string {
	switch scheme {
	case "nats", "tls":
		return "4222"
	case "redis", "rediss":
		return "6379"
	case "stomp":
		return "61613"
	case "stomps":
		return "61614"
	case "amqp", "amqp10":
		return "5672"
	case "amqps", "amqp10s":
		return "5671"
	case "mqtt":
		return "1883"
	case "mqtts":
		return "8883"
	case "kafka":
		return "9092"
	case "erlang":
		return "4369"
	default:
		return "0"
	}
}

// secure tells whether the address asks for TLS.
func (p place) secure() bool {
	switch p.url.Scheme {
	case "tls", "rediss", "stomps", "amqps", "amqp10s", "mqtts":
		return true
	default:
		return false
	}
}

// tls returns the settings of a TLS connection to the broker.
func (p place) tls() (*tls.Config, error) {
	c := &tls.Config{ServerName: p.url.Hostname(), MinVersion: tls.VersionTLS12}
	if p.ca == "" {
		return c, nil
	}
	der, err := base64.RawURLEncoding.DecodeString(p.ca)
	if err != nil {
		return nil, fmt.Errorf("the authority in the address of the broker at %s is not base64url: %w", p.url.Host, err)
	}
	authority, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("the authority in the address of the broker at %s is no certificate: %w", p.url.Host, err)
	}
	c.RootCAs = x509.NewCertPool()
	c.RootCAs.AddCert(authority)
	return c, nil
}

// dial makes a socket without Nagle's algorithm, so that every message leaves at once, and
// speaks TLS over it if the address asks for that.
func (p place) dial(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	wire, err := dialTCP(ctx, p.hostPort())
	if err != nil || !p.secure() {
		return wire, err
	}
	settings, err := p.tls()
	if err == nil {
		secure := tls.Client(wire, settings)
		if err = secure.HandshakeContext(ctx); err == nil {
			return secure, nil
		}
	}
	_ = wire.Close() // the error that counts is the one before
	return nil, fmt.Errorf("speak TLS with %s: %w", p.url.Host, err)
}

// dialTCP connects and sets TCP_NODELAY, which Go's sockets have anyway: that it is on must
// not hang on a default.
func dialTCP(ctx context.Context, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: connectPatience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if t, ok := c.(*net.TCPConn); ok {
		if err := t.SetNoDelay(true); err != nil {
			_ = c.Close() // the error that counts is the one before
			return nil, fmt.Errorf("set TCP_NODELAY: %w", err)
		}
	}
	return c, nil
}

// unguessable returns a new name for a queue, which says whose it is, and which nobody who
// was not told can find.
func unguessable() string { return queuePrefix + strings.ToLower(rand.Text()) }
