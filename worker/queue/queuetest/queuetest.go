// Package queuetest gives tests a Redis of their own: the embedded one always, and a real
// server where there is one.
package queuetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchd/worker/queue/embedded"
)

// A Redis is a server that one test has for itself.
type Redis struct {
	URL      string
	Embedded bool
	addr     string
	dir      string    // of a server of our own
	cmd      *exec.Cmd // nil while it is stopped
}

// Env looks a variable of the environment up: os.Getenv, which only tests and package main
// may call.
type Env func(name string) string

// Kinds are the kinds of Redis that a test runs on, by name, each with how to start one.
func Kinds(env Env) map[string]func(*testing.T) *Redis {
	return map[string]func(*testing.T) *Redis{
		"embedded": Embedded,
		"real":     func(t *testing.T) *Redis { t.Helper(); return Real(t, env) },
	}
}

// Embedded starts an embedded Redis that ends with the test.
func Embedded(t *testing.T) *Redis {
	t.Helper()
	e, err := embedded.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &Redis{URL: e.URL(), Embedded: true, addr: strings.TrimPrefix(e.URL(), "redis://")}
}

// Real starts a redis-server on a free port, or, where the program is not installed, takes
// the server that BENCHD_TEST_REDIS names and empties its database. Without either the test
// is skipped, or fails when BENCHD_REQUIRE_SERVICES is 1.
func Real(t *testing.T, env Env) *Redis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return Own(t, env)
	}
	named := env("BENCHD_TEST_REDIS")
	if named == "" {
		missing(t, env, "no redis-server is installed and BENCHD_TEST_REDIS names none")
	}
	u, err := url.Parse(named)
	if err != nil {
		t.Fatalf("BENCHD_TEST_REDIS: %v", err)
	}
	r := &Redis{URL: named, addr: u.Host}
	r.Do(t, "FLUSHALL")
	return r
}

// Own starts a redis-server that the test may stop, start and configure. In its arguments,
// {port} stands for the port that the server has.
func Own(t *testing.T, env Env, args ...string) *Redis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		missing(t, env, "no redis-server is installed")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := &Redis{URL: "redis://" + addr, addr: addr, dir: t.TempDir()}
	r.Start(t, args...)
	t.Cleanup(r.Stop)
	return r
}

func missing(t *testing.T, env Env, why string) {
	t.Helper()
	if env("BENCHD_REQUIRE_SERVICES") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Start starts the server again, empty, at the address it had.
func (r *Redis) Start(t *testing.T, args ...string) {
	t.Helper()
	_, port, err := net.SplitHostPort(r.addr)
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--dir", r.dir, "--logfile", filepath.Join(r.dir, "log"),
	}, args...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{port}", port)
	}
	r.cmd = exec.CommandContext(context.Background(), "redis-server", args...)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("redis-server does not listen at %s", r.addr)
}

// Stop kills the server.
func (r *Redis) Stop() {
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.cmd = nil
}

// Do sends one command, past every client library, and returns the first line of the reply.
func (r *Redis) Do(t *testing.T, args ...string) string {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(line, "-") {
		t.Fatalf("%s: %s", strings.Join(args, " "), line)
	}
	return strings.TrimSpace(line)
}
