package soap_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// failed makes one call and returns how it failed.
func failed(tb testing.TB, p kernels.Params) *kernels.Failure {
	tb.Helper()
	err := open(tb, p).Do(tb.Context(), 1)
	var f *kernels.Failure
	if !errors.As(err, &f) {
		tb.Fatalf("got %v, want a failure", err)
	}
	return f
}

// TestSecretsStayHidden has a service say the user and the password that it was sent in
// places that errors tell of.
func TestSecretsStayHidden(t *testing.T) {
	t.Parallel()
	const user, password = "Somebody", "Pa55-Wort"
	token := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	filler := strings.Repeat("x", 40) // so that a cut falls into the token
	rows := []struct{ name, answer string }{
		{"as the coding", "HTTP/1.1 200 OK\r\nContent-Encoding: " + token + "\r\nContent-Length: 1\r\n\r\nx"},
		{"as the status", "HTTP/1.1 " + token + "\r\n\r\n"},
		{"as the status, cut", "HTTP/1.1 " + filler + token + "\r\n\r\n"},
		{"as the status, in small letters", "HTTP/1.1 " + strings.ToLower(token) + "\r\n\r\n"},
		{"as a text", "HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n" + strings.ToUpper(password)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			host := hostOf(kernels.Params{kernels.Addr: "http://" + answering(t, row.answer) + "/"})
			p := echoDefaults().With(kernels.Addr, fmt.Sprintf("http://%s:%s@%s/echo", user, password, host))
			said := strings.ToLower(failed(t, p).Error())
			for _, secret := range []string{token[:12], password} {
				if strings.Contains(said, strings.ToLower(secret)) {
					t.Errorf("the error tells what the service was sent: %s", said)
				}
			}
		})
	}
}

// TestGarbageIsShownBriefly has a service answer with bytes of any kind.
func TestGarbageIsShownBriefly(t *testing.T) {
	t.Parallel()
	garbage := make([]byte, 4<<10)
	for i := range garbage {
		garbage[i] = byte(i*7 + i>>3)
	}
	line := strings.ReplaceAll(string(garbage), "\n", "\r")
	rows := []struct{ name, answer string }{
		{"a line", line + "\n"},
		{"a status line", "HTTP/1.1 " + line + "\n"},
		{"a text", "HTTP/1.1 500 X\r\nContent-Type: text/plain\r\nContent-Length: 4096\r\n\r\n" + string(garbage)},
		{"a field", "HTTP/1.1 200 OK\r\n" + line + "\n\r\n"},
		{"an envelope", reply(200, string(garbage))},
		{"an element", reply(200, "<"+strings.Repeat("a\x01", 500)+">")},
		{"a coding", "HTTP/1.1 200 OK\r\nContent-Encoding: " + strings.Repeat("a", 500) + "\r\nContent-Length: 1\r\n\r\nx"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := failed(t, echoDefaults().With(kernels.Addr, answering(t, row.answer)))
			if said := f.Error(); f.Class != "malformed" || utf8.RuneCountInString(said) > 320 || strings.ContainsFunc(said, func(r rune) bool { return r < ' ' }) {
				t.Errorf("%s: %d letters: %q", f.Class, utf8.RuneCountInString(said), said)
			}
		})
	}
}

// TestNoConnection tells apart why none can be made.
func TestNoConnection(t *testing.T) {
	t.Parallel()
	nobody := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		return l.Addr().String()
	}
	rows := []struct{ name, addr, class string }{
		{"nobody listens", "http://" + nobody() + "/", "refused"},
		{"a name that can have no address", "http://no..body:80/", "unresolved"},
		{"an address to which nothing is sent", "http://255.255.255.255:80/", "unreachable"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := soap.Echo{}.Open(t.Context(), echoDefaults().With(kernels.Addr, row.addr))
			var f *kernels.Failure
			if !errors.As(err, &f) || f.Class != row.class {
				t.Errorf("got %v, want a failure of class %s", err, row.class)
			}
		})
	}
}

// TestPorts refuses addresses with ports that there are not.
func TestPorts(t *testing.T) {
	t.Parallel()
	for _, port := range []string{"0", "65536", "99999", "18446744073709551617"} {
		for _, k := range []kernels.Kernel{soap.Echo{}, soap.Attachment{}} {
			_, err := k.Open(t.Context(), k.Info().Defaults().With(kernels.Addr, "http://127.0.0.1:"+port+"/x"))
			if err == nil || !strings.Contains(err.Error(), "65535") {
				t.Errorf("%s, port %s: got %v", k.Info().Name, port, err)
			}
		}
	}
}
