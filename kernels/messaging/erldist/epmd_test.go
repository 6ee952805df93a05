package erldist_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/messaging/erldist"
	"benchd/kernels/messaging/erldist/erltest"
)

func entry(name string, port int) erldist.Entry {
	return erldist.Entry{Name: name, Port: port, Hidden: true, Lowest: 5, Highest: 6}
}

// register registers a node until the test ends.
func register(tb testing.TB, addr string, e erldist.Entry) *erldist.Registration {
	tb.Helper()
	r, err := erldist.Register(tb.Context(), addr, e)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.Close() }) // a test may have closed it
	return r
}

func TestEPMD(t *testing.T) {
	t.Parallel()
	mappers(t, func(t *testing.T, addr string) {
		t.Helper()
		if list, err := erldist.Names(t.Context(), addr); err != nil || len(list) != 0 {
			t.Fatalf("at first it knows %v, %v", list, err)
		}
		first := register(t, addr, entry("one", 1001))
		second := register(t, addr, entry("two", 1002))
		if first.Creation() == 0 || second.Creation() == 0 {
			t.Errorf("creations %d and %d", first.Creation(), second.Creation())
		}
		got, err := erldist.Lookup(t.Context(), addr, "two")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(entry("two", 1002), got); d != "" {
			t.Error(d)
		}
		if _, err := erldist.Lookup(t.Context(), addr, "three"); !errors.Is(err, erldist.ErrUnknownNode) {
			t.Errorf("looking an unknown node up gave %v", err)
		}
		if _, err := erldist.Register(t.Context(), addr, entry("one", 1003)); !errors.Is(err, erldist.ErrNameTaken) {
			t.Errorf("registering a taken name gave %v", err)
		}
		if list, err := erldist.Names(t.Context(), addr); err != nil || len(list) != 2 {
			t.Errorf("it knows %v, %v", list, err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		again := retake(t, addr, entry("one", 1004))
		if again.Creation() == first.Creation() {
			t.Errorf("both lives of a name have the creation %d", again.Creation())
		}
	})
}

// mappers runs a test on our port mapper, and on Erlang's where that is installed.
func mappers(t *testing.T, test func(t *testing.T, addr string)) {
	t.Helper()
	t.Run("ours", func(t *testing.T) {
		t.Parallel()
		test(t, erltest.Mapper(t))
	})
	t.Run("Erlang's", func(t *testing.T) {
		t.Parallel()
		test(t, erlangEPMD(t))
	})
}

// retake registers a name that was given back a moment ago.
func retake(t *testing.T, addr string, e erldist.Entry) *erldist.Registration {
	t.Helper()
	for range 100 {
		r, err := erldist.Register(t.Context(), addr, e)
		if err == nil {
			t.Cleanup(func() { _ = r.Close() }) // it is the test's end
			return r
		}
		if !errors.Is(err, erldist.ErrNameTaken) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the name %s is not free again", e.Name)
	return nil
}

// erlangEPMD runs the port mapper of Erlang/OTP.
func erlangEPMD(t *testing.T) string {
	t.Helper()
	otp(t) // skips where there is none
	program, err := exec.LookPath("epmd")
	if err != nil {
		t.Skip("there is no epmd")
	}
	l := listen(t)
	addr := l.Addr().String()
	_ = l.Close() // only its port was wanted
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(program, "-address", "127.0.0.1", "-port", port, "-relaxed_command_check")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	for range 100 {
		if _, err := erldist.Names(t.Context(), addr); err == nil {
			return addr
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("epmd does not start")
	return ""
}

// says runs a server that answers every connection's first bytes with the same, and ends.
func says(t *testing.T, answer string) string {
	t.Helper()
	l := listen(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1024)) // whatever the request is
			_, _ = io.WriteString(c, answer)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

func TestEPMDAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, answer string
		ask          func(ctx context.Context, addr string) error
		want         string // nothing: no error
	}{
		{"the short form of a registration", "\x79\x00\x00\x02", alive, ""},
		{"the long form of a registration", "\x76\x00\x00\x00\x00\x02", alive, ""},
		{"a name that is taken", "\x79\x01\x00\x02", alive, "taken"},
		{"a registration cut off", "\x79\x00\x00", alive, "unexpected EOF"},
		{"no port mapper", "HTTP/1.1 400 Bad Request\r\n\r\n", alive, "no port mapper"},
		{"nothing", "", alive, "EOF"},
		{"a look-up cut off", "\x77\x00\x00\x01\x4d\x00\x00\x06\x00\x05\x00\x03ab", find, "unexpected EOF"},
		{"a look-up of nothing known", "\x77\x01", find, "knows no such node"},
		{"no port mapper looks up", "SSH-2.0", find, "no port mapper"},
		{"a list of names", "\x00\x00\x11\x11name a at port 1\n", names, ""},
		{"a list without a port", "\x00\x00\x11\x11name a at port x\n", names, "no port"},
		{"a list of something else", "\x00\x00\x11\x11hello\n", names, "no line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.ask(t.Context(), says(t, tt.answer))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("it gave %v; want %q", err, tt.want)
			}
		})
	}
}

func alive(ctx context.Context, addr string) error {
	r, err := erldist.Register(ctx, addr, entry("a", 1))
	if err == nil {
		err = r.Close()
	}
	return err
}

func find(ctx context.Context, addr string) error {
	_, err := erldist.Lookup(ctx, addr, "a")
	return err
}

func names(ctx context.Context, addr string) error {
	_, err := erldist.Names(ctx, addr)
	return err
}

// A port mapper that says nothing is given up with the context.
func TestEPMDSilent(t *testing.T) {
	t.Parallel()
	l := listen(t)
	defer func() { _ = l.Close() }()
	for name, ask := range map[string]func(context.Context, string) error{"register": alive, "look up": find, "names": names} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if err := ask(ctx, l.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s gave %v; want the context's error", name, err)
		}
		cancel()
	}
}

func TestEPMDRefusesNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", strings.Repeat("a", 256)} {
		if _, err := erldist.Register(t.Context(), "127.0.0.1:1", entry(name, 1)); err == nil || !strings.Contains(err.Error(), "1 to 255") {
			t.Errorf("registering %d bytes gave %v", len(name), err)
		}
		if _, err := erldist.Lookup(t.Context(), "127.0.0.1:1", name); err == nil || !strings.Contains(err.Error(), "1 to 255") {
			t.Errorf("looking %d bytes up gave %v", len(name), err)
		}
	}
}

// The port mapper closes on who asks for what it does not do, and goes on.
func TestEPMDBadRequests(t *testing.T) {
	t.Parallel()
	addr := erltest.Mapper(t)
	for name, request := range map[string]string{
		"an empty one":            "\x00\x00",
		"a long one":              "\xff\xff",
		"to be killed":            "\x00\x01k",
		"to be told a dump":       "\x00\x01d",
		"to stop a node":          "\x00\x02sa",
		"half a registration":     "\x00\x03\x78\x00\x01",
		"a name that is too long": "\x00\x0e\x78\x00\x01\x4d\x00\x00\x06\x00\x05\xff\xffab\x00",
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, request)
		if answer, _ := io.ReadAll(c); len(answer) > 0 { // it may reset the connection
			t.Errorf("%s was answered with %q", name, answer)
		}
		_ = c.Close()
	}
	if err := names(t.Context(), addr); err != nil {
		t.Error(err)
	}
}
