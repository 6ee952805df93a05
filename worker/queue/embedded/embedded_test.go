package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchd/worker/queue/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKeysAgeByTheClock(t *testing.T) {
	t.Parallel()
	r, err := embedded.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := do(t, r, "SET", "k", "v", "PX", "700"); got != "+OK" {
		t.Fatal(got)
	}
	if got := do(t, r, "EXISTS", "k"); got != ":1" {
		t.Fatalf("gone at once: %s", got)
	}
	for end := time.Now().Add(20 * time.Second); do(t, r, "EXISTS", "k") != ":0"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the key never ages")
		}
	}
}

func TestItListensOnLoopbackUntilItIsClosed(t *testing.T) {
	t.Parallel()
	r, err := embedded.Start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := net.SplitHostPort(strings.TrimPrefix(r.URL(), "redis://"))
	if err != nil || !net.ParseIP(host).IsLoopback() {
		t.Errorf("%s, %v", r.URL(), err)
	}
	r.Close()
	r.Close() // twice is once
	if c, err := net.Dial("tcp", strings.TrimPrefix(r.URL(), "redis://")); err == nil {
		_ = c.Close()
		t.Error("it still listens")
	}
}

// do sends one command and returns the first line of the reply.
func do(t *testing.T, r *embedded.Redis, args ...string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(r.URL(), "redis://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	fmt.Fprintf(c, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(c, "$%d\r\n%s\r\n", len(a), a)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}
