package soap_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/soap"
)

// secure is the parameters of the echo kernel with its service by TLS.
func secure(tb testing.TB) kernels.Params {
	tb.Helper()
	return serveEcho(tb, echoDefaults().With("tls", "true"))
}

// authority returns the authority in the address of a service.
func authority(tb testing.TB, p kernels.Params) *x509.CertPool {
	tb.Helper()
	_, text, _ := strings.Cut(p[kernels.Addr], "#ca=")
	der, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return roots
}

// TestTogether runs the conformance suite on parameters that meet in one call.
func TestTogether(t *testing.T) {
	bare := kerneltest.Skip(func(p kernels.Params) bool { return p["tls"] == "false" })
	kerneltest.Run(t, soap.Echo{}, bare, kerneltest.Operations(5),
		kerneltest.Also(kernels.Params{"tls": "true", "keepalive": "false", "version": "1.2"}),
		kerneltest.Also(kernels.Params{"tls": "true", "gzip": "true", "payload": "records", "size": "1MB"}),
		kerneltest.Also(kernels.Params{"tls": "true", "model": "dom", "clients": "3"}))
	kerneltest.Run(t, soap.Attachment{}, bare, kerneltest.Operations(2),
		kerneltest.Also(kernels.Params{"tls": "true", "version": "1.2", "encoding": "swa"}),
		kerneltest.Also(kernels.Params{"tls": "true", "size": "64MB"}))
}

// listening starts a server of TLS with given settings, which answers nothing, and returns the
// address of a service there, with the server's own certificate as the authority.
func listening(t *testing.T, change func(*tls.Config)) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{}
	change(s.TLS)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL + "/echo#ca=" + base64.RawURLEncoding.EncodeToString(s.Certificate().Raw)
}

// TestTLSRefused opens clients of what is not to be believed, or is no TLS.
func TestTLSRefused(t *testing.T) {
	mine, others := secure(t)[kernels.Addr], secure(t)[kernels.Addr]
	address, _, _ := strings.Cut(mine, "#")
	_, fragment, _ := strings.Cut(others, "#")
	says := func(answer string) string {
		return "https://" + script(t, func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1))
			_, _ = io.WriteString(conn, answer)
		}) + "/echo"
	}
	good := listening(t, func(*tls.Config) {})
	rows := []struct{ name, addr, class, reason string }{
		{"another authority", address + "#" + fragment, "tls", "unknown authority"},
		{"the authorities of the system", address, "tls", "certificate"},
		{"another name", strings.Replace(good, "127.0.0.1", "localhost", 1), "tls", "not localhost"},
		{"an old version of TLS", listening(t, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11 }), "tls", "protocol version"},
		{"a client certificate wanted", listening(t, func(c *tls.Config) {
			c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12
		}), "tls", "handshake failure"},
		{"plain HTTP", says("HTTP/1.1 400 Bad Request\r\n\r\n"), "tls", "does not look like a TLS handshake"},
		{"our plain service", strings.Replace(serve(t, "stream")[kernels.Addr], "http", "https", 1), "tls", "does not look like a TLS handshake"},
		{"nothing", says(""), "reset", "connect"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			begun := time.Now()
			_, err := soap.Echo{}.Open(t.Context(), echoDefaults().With(kernels.Addr, row.addr))
			var failed *kernels.Failure
			if !errors.As(err, &failed) || failed.Class != row.class || !strings.Contains(err.Error(), row.reason) {
				t.Errorf("got %v, want a failure of class %s with %q", err, row.class, row.reason)
			}
			if took := time.Since(begun); took > 9*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestTLSEnds ends the context of a handshake that is never answered.
func TestTLSEnds(t *testing.T) {
	t.Parallel()
	addr := "https://" + script(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (soap.Echo{}).Open(ctx, echoDefaults().With(kernels.Addr, addr)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}

// TestAddresses: what cannot be an address of a service is told before anything is connected.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, addr, tls, reason string }{
		{"no address", "", "false", "is not like"},
		{"another scheme", "ftp://127.0.0.1/", "false", "is not like"},
		{"a password", "http://a:AAAA@127.0.0.1:1/?AAAA", "true", "plain http"},
		{"a password with what is no URL", "http://a:AAAA@%zz", "false", "is not like"},
		{"no host", "https:///echo", "false", "is not like"},
		{"plain where TLS is asked for", "http://127.0.0.1:1/echo", "true", "plain http"},
		{"an authority of plain HTTP", "http://127.0.0.1:1/echo#ca=AA", "false", "plain http"},
		{"another fragment", "https://127.0.0.1:1/echo#x", "false", "fragment"},
		{"no base64", "https://127.0.0.1:1/echo#ca=*", "false", "base64url"},
		{"no certificate", "https://127.0.0.1:1/echo#ca=AAAA", "true", "cannot be read"},
		{"a port that is none", "http://127.0.0.1:99999/", "false", "port"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := kernels.Params{kernels.Addr: row.addr, "tls": row.tls}
			for _, k := range soap.Family().Kernels {
				all := k.Info().Defaults()
				for name, v := range p {
					all = all.With(name, v)
				}
				if _, err := k.Open(t.Context(), all); err == nil || !strings.Contains(err.Error(), row.reason) || strings.Contains(err.Error(), "AAAA") {
					t.Errorf("got %v, want %q", err, row.reason)
				}
			}
		})
	}
}

// TestUser has a service that wants to know who calls.
func TestUser(t *testing.T) {
	t.Parallel()
	addr := script(t, func(conn net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if name, password, ok := r.BasicAuth(); !ok || name != "an" || password != "a:b c" {
			_, _ = io.WriteString(conn, reply(401, ""))
			return
		}
		_, _ = io.WriteString(conn, reply(200, echoed(t)))
	})
	at := url.URL{Scheme: "http", User: url.UserPassword("an", "a:b c"), Host: addr, Path: "/"}
	if err := open(t, echoDefaults().With(kernels.Addr, at.String())).Do(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

// TestTLSByAddress: with a named service its address decides, whatever the parameter is.
func TestTLSByAddress(t *testing.T) {
	t.Parallel()
	p := secure(t)
	for _, said := range []string{"true", "false"} {
		p := p.With("server", "mine").With("tls", said)
		if err := open(t, p).Do(t.Context(), 3); err != nil {
			t.Errorf("tls=%s: %v", said, err)
		}
	}
}

// TestTLSFullHandshakes: a client that would resume its session gets none to resume.
func TestTLSFullHandshakes(t *testing.T) {
	t.Parallel()
	p := secure(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		settings := &tls.Config{RootCAs: authority(t, p), MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: settings, DisableKeepAlives: true}}
		for range 3 {
			resp, err := client.Get("https://" + hostOf(p) + "/echo?wsdl")
			if err != nil {
				t.Fatal(err)
			}
			wsdl, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if at := `location="https://` + hostOf(p) + `/echo"`; err != nil || strings.Count(string(wsdl), at) != 2 {
				t.Errorf("%v: the description does not have %s twice", err, at)
			}
			if resp.TLS.DidResume || resp.TLS.NegotiatedProtocol == "h2" {
				t.Errorf("%s: resumed %v, protocol %q", tls.VersionName(version), resp.TLS.DidResume, resp.TLS.NegotiatedProtocol)
			}
		}
	}
}

// TestPlainAtTLS has clients who do not speak TLS: they are told so, or hung up on, at once.
func TestPlainAtTLS(t *testing.T) {
	p := secure(t)
	addr := hostOf(p)
	t.Run("our client", func(t *testing.T) {
		trial := open(t, echoDefaults().With(kernels.Addr, "http://"+addr+"/echo"))
		var failed *kernels.Failure
		if err := trial.Do(t.Context(), 1); !errors.As(err, &failed) || failed.Class != "malformed" || !strings.Contains(err.Error(), "speaks TLS") {
			t.Errorf("got %v", err)
		}
	})
	for _, row := range []struct{ name, sent, want string }{
		{"HTTP", "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 "},
		{"nothing", "", ""},
		{"half a handshake", "\x16\x03\x01\x02\x00\x01", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(9 * time.Second))
			_, _ = io.WriteString(conn, row.sent)
			if half, ok := conn.(*net.TCPConn); ok {
				_ = half.CloseWrite()
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), row.want) {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}

// TestOldTLS has a client that knows only what is not safe any more.
func TestOldTLS(t *testing.T) {
	t.Parallel()
	p := secure(t)
	conn, err := net.Dial("tcp", hostOf(p))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	settings := &tls.Config{RootCAs: authority(t, p), ServerName: "localhost", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if err := tls.Client(conn, settings).HandshakeContext(t.Context()); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("got %v, want that the version is not supported", err)
	}
}

// TestTLSAtPlain has a client that speaks TLS to the service that does not: it need not wait.
func TestTLSAtPlain(t *testing.T) {
	t.Parallel()
	conn, err := net.Dial("tcp", hostOf(serve(t, "stream")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(9 * time.Second))
	var record tls.RecordHeaderError
	if err := tls.Client(conn, &tls.Config{ServerName: "localhost"}).HandshakeContext(t.Context()); !errors.As(err, &record) {
		t.Errorf("got %v, want bytes that are no TLS", err)
	}
}

// TestTLSServeEnds ends the service while a connection is idle and another in its handshake.
func TestTLSServeEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	addr, ended := make(chan string, 1), make(chan error, 1)
	p := echoDefaults().With("tls", "true")
	go func() { ended <- soap.Echo{}.Serve(ctx, p, func(a string) { addr <- a }) }()
	p = p.With(kernels.Addr, <-addr)
	used := open(t, p)
	if err := used.Do(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Dial("tcp", hostOf(p))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(9 * time.Second):
		t.Fatal("the service had not ended after 9 s")
	}
	var failed *kernels.Failure
	if err := used.Do(context.Background(), 1); !errors.As(err, &failed) || failed.Class != "refused" {
		t.Errorf("got %v, want a failure of class refused", err)
	}
}

// TestTLSCut has a service that hangs up inside an answer, and one that sends what is no TLS
// there.
func TestTLSCut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, more, class string }{
		{"hangs up", "", "reset"},
		{"speaks no TLS any more", strings.Repeat("hello", 10), "tls"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewUnstartedServer(nil)
			s.StartTLS() // for its certificate
			settings, cert := s.TLS.Clone(), s.Certificate()
			s.Close()
			settings.NextProtos = nil
			addr := script(t, func(raw net.Conn) {
				conn := tls.Server(raw, settings)
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = io.WriteString(conn, reply(200, echoed(t))[:500])
					_, _ = io.WriteString(raw, row.more)
				}
			})
			at := url.URL{Scheme: "https", Host: addr, Path: "/echo", Fragment: "ca=" + base64.RawURLEncoding.EncodeToString(cert.Raw)}
			err := open(t, echoDefaults().With(kernels.Addr, at.String())).Do(t.Context(), 1)
			var failed *kernels.Failure
			if !errors.As(err, &failed) || failed.Class != row.class {
				t.Errorf("got %v, want a failure of class %s", err, row.class)
			}
		})
	}
}

// TestListen has a service where it is asked to be, and refuses to share.
func TestListen(t *testing.T) {
	for _, k := range soap.Family().Kernels {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		where := free.Addr().String()
		server, ok := k.(kernels.Server)
		if !ok {
			t.Fatalf("%s is no server", k.Info().Name)
		}
		p := k.Info().Defaults().With(kernels.Listen, where)
		if err := server.Serve(t.Context(), p, func(string) { t.Error("it is ready on an address that is taken") }); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("got %v, want that %s is taken", err, where)
		}
		_ = free.Close()
		p = start(t, server, p)
		if hostOf(p) != where {
			t.Errorf("%s listens at %s, not %s", k.Info().Name, hostOf(p), where)
		}
		if err := openTrial(t, k, p).Do(t.Context(), 1); err != nil {
			t.Error(err)
		}
	}
}
