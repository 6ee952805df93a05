package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/catalog"
	"benchd/worker"
)

// outsideServer runs the server of a kernel until the test ends, and returns its address as that
// of a service outside.
func outsideServer(t *testing.T, name string, changed kernels.Params) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	for _, f := range catalog.Families() {
		for _, k := range f.Kernels {
			if k.Info().Name != name {
				continue
			}
			p := k.Info().Defaults()
			for param, value := range changed {
				p[param] = value
			}
			go func() { ended <- k.(kernels.Server).Serve(ctx, p, func(addr string) { ready <- addr }) }()
		}
	}
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	select {
	case addr := <-ready:
		addr, _, _ = strings.Cut(addr, "#")
		return addr
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not start", name)
		return ""
	}
}

// stranger listens, and hands each connection to a function until the test ends.
func stranger(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				talk(c)
			}()
		}
	}()
	return l.Addr().String()
}

// refusing is a Redis that takes no password, and repeats it.
func refusing(c net.Conn) {
	in := bufio.NewScanner(c)
	for in.Scan() {
		if text := strings.ToLower(in.Text()); text == "auth" || text == "hello" || text == "ping" {
			_, _ = io.WriteString(c, "-WRONGPASS invalid username-password pair hush-hush\r\n")
		}
	}
}

// silent never says anything.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// doctor runs the command and decodes what it says.
func doctor(t *testing.T, args ...string) (code int, found discoveries, said string) {
	t.Helper()
	var out, errout bytes.Buffer
	code = command(append([]string{"doctor", "--json"}, args...), terminal{strings.NewReader(""), &out, &errout})
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatalf("%v in %q and %q", err, out.String(), errout.String())
	}
	return code, found, out.String() + errout.String()
}

// Every service is tried; that one is of no use is exit code 1, and says why in one sentence,
// and nobody learns a password.
func TestDoctorServices(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = nobody.Close()
	services := map[string]struct{ addr, product, wrong string }{
		"nats":    {outsideServer(t, "messaging.roundtrip", kernels.Params{"broker": "nats"}), "NATS", ""},
		"echo":    {"http://" + stripScheme(outsideServer(t, "soap.echo", nil)), "", ""},
		"refuses": {"redis://user:hush-hush@" + stranger(t, refusing), "", "WRONGPASS"},
		"closes":  {"amqp://user:hush-hush@" + stranger(t, func(net.Conn) {}), "", "AMQP"},
		"silent":  {"stomp://user:hush-hush@" + stranger(t, silent), "", "within 5s"},
		"web":     {"mqtt://user:hush-hush@" + stranger(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); silent(c) }), "", "no MQTT"},
		"plain":   {"https://user:hush-hush@" + stripScheme(outsideServer(t, "soap.echo", nil)), "", "tls"},
		"nobody":  {"nats://user:hush-hush@" + nobody.Addr().String(), "", "refused"},
		"unknown": {"gopher://user:hush-hush@127.0.0.1:70", "", "gopher://"},
	}
	args, addrs := []string{"--services"}, map[string]any{}
	for name, s := range services {
		if s.wrong == "" {
			args = append(args, "--service", name+"="+s.addr)
		} else {
			addrs[name] = s.addr
		}
	}
	text, err := json.Marshal(addrs)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "services.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	code, found, said := doctor(t, append(args, "--services", file)...)
	if code != exitFailed || found.Failed != 7 || len(found.Services) != len(services) {
		t.Errorf("exit code %d, %d of %d failed", code, found.Failed, len(found.Services))
	}
	if strings.Contains(said, "hush") {
		t.Errorf("it tells the password: %s", said)
	}
	for _, d := range found.Services {
		want := services[d.Name]
		switch {
		case want.wrong == "" && (d.Error != nil || d.RoundTrip == nil || d.RoundTrip.Median <= 0 || want.product != "" && (d.Product == nil || *d.Product != want.product)):
			t.Errorf("%s: %s", d.Name, show(d))
		case want.wrong != "" && (d.Error == nil || !strings.Contains(*d.Error, want.wrong) || strings.ContainsAny(*d.Error, "\r\n")):
			t.Errorf("%s: %s, want %q", d.Name, show(d), want.wrong)
		}
	}
}

func show(d worker.Discovery) string {
	text, err := json.Marshal(d)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// stripScheme leaves host and path of an address.
func stripScheme(addr string) string {
	_, rest, ok := strings.Cut(addr, "://")
	if !ok {
		return addr
	}
	return rest
}

// The table has a row for each service, and below it what is wrong with one.
func TestDoctorServicesTable(t *testing.T) {
	t.Parallel()
	good := "nats=" + outsideServer(t, "messaging.roundtrip", kernels.Params{"broker": "nats"})
	for _, row := range []struct {
		name string
		args []string
		code int
		want []string // patterns
	}{
		{"all is well", []string{"--service", good}, exitOK, []string{
			`(?m)^name +scheme +product +version +round trip +message +supports$`,
			`(?m)^nats +nats +NATS +[0-9.]+ +[0-9.]+ ms of [0-9]+ +[0-9.]+ ms of [0-9]+ +no JetStream, max_payload `,
			`(?m)^1 of 1 can be used$`,
		}},
		{"one is not", []string{"--service", good, "--service", "odd=gopher://127.0.0.1"}, exitFailed, []string{
			`(?m)^odd +gopher +- +- +- +- +cannot be used, see below$`,
			`(?m)^odd: no kernel measures at an address that begins with gopher://; .*\.$`,
			`(?m)^1 of 2 can be used$`,
		}},
	} {
		var out, errout bytes.Buffer
		code := command(append([]string{"doctor", "--services"}, row.args...), terminal{strings.NewReader(""), &out, &errout})
		if code != row.code || errout.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d; %q", row.name, code, row.code, errout.String())
		}
		for _, pattern := range row.want {
			if !regexp.MustCompile(pattern).MatchString(out.String()) {
				t.Errorf("%s: nothing like %s in\n%s", row.name, pattern, out.String())
			}
		}
	}
}

// Services come from the environment of the worker where the command line names none, and
// without any there is a sentence.
func TestDoctorServicesEnvironment(t *testing.T) {
	addr := outsideServer(t, "messaging.roundtrip", kernels.Params{"broker": "nats"})
	for _, row := range []struct {
		name, env string
		args      []string
		code      int
		want      int
	}{
		{"none", "", nil, exitOK, 0},
		{"of the environment", "a=" + addr, nil, exitOK, 1},
		{"of the command line", "a=" + addr + " b=gopher://127.0.0.1", []string{"--service", "a=" + addr}, exitOK, 1},
	} {
		t.Setenv("BENCHD_SERVICES", row.env)
		t.Setenv("BENCHD_SERVICES_FILE", "")
		code, found, said := doctor(t, append([]string{"--services"}, row.args...)...)
		if code != row.code || len(found.Services) != row.want || found.Failed != 0 {
			t.Errorf("%s: exit code %d, %s", row.name, code, said)
		}
	}
	t.Setenv("BENCHD_SERVICES", "")
	var out, errout bytes.Buffer
	if code := command([]string{"doctor", "--services"}, terminal{strings.NewReader(""), &out, &errout}); code != exitOK || !strings.HasPrefix(out.String(), "No services are named. ") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q and %q", code, out.String(), errout.String())
	}
}

// What cannot be a service is refused before one is tried, and not repeated.
func TestDoctorServicesRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ args, want string }{
		{"--service=hush-hush", `no "="`},
		{"--service=Name=nats://hush-hush@h", "a service's name is"},
		{"--service=a=hush-hush", "no URL"},
		{"--services=" + filepath.Join(t.TempDir(), "none.json"), "none.json"},
	} {
		var out, errout bytes.Buffer
		code := command([]string{"doctor", row.args}, terminal{strings.NewReader(""), &out, &errout})
		if code != exitUsage || out.Len() > 0 || !strings.Contains(errout.String(), row.want) || strings.Contains(errout.String(), "hush") {
			t.Errorf("%s: exit code %d, %q and %q", row.args, code, out.String(), errout.String())
		}
	}
}
