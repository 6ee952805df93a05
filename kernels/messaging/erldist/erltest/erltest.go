// Package erltest runs the ends of tests that are not ours: a node of Erlang/OTP and one of
// jinterface, with a process that echoes or one that asks an echo. Their sources lie beside.
package erltest

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"benchd/kernels/messaging/erldist"
)

//go:embed echo.erl Echo.java
var sources embed.FS

// Cookie is that of every node here.
const Cookie = "monster"

// Mapper runs a port mapper of ours until the test ends and returns its address.
func Mapper(tb testing.TB) string {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- erldist.ServeEPMD(ctx, l) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Errorf("the port mapper ended with %v", err)
		}
	})
	return l.Addr().String()
}

// A Stack is another implementation of the protocol.
type Stack struct {
	name    string
	dir     string
	command func(ctx context.Context, node string, args []string) *exec.Cmd
}

// OTP compiles the Erlang end for the erl at a path.
func OTP(tb testing.TB, erl string) Stack {
	tb.Helper()
	dir := unpack(tb, "echo.erl")
	compile(tb, dir, exec.CommandContext(tb.Context(), filepath.Join(filepath.Dir(erl), "erlc"), "-o", dir, filepath.Join(dir, "echo.erl")))
	return Stack{name: "OTP", dir: dir, command: func(ctx context.Context, node string, args []string) *exec.Cmd {
		return exec.CommandContext(ctx, erl, append([]string{
			"-noshell", "-noinput", "-start_epmd", "false", "-name", node, "-setcookie", Cookie,
			"-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-pa", dir, "-s", "echo",
		}, args...)...)
	}}
}

// JInterface compiles the Java end for the library at a class path.
func JInterface(tb testing.TB, classPath string) Stack {
	tb.Helper()
	dir := unpack(tb, "Echo.java")
	compile(tb, dir, exec.CommandContext(tb.Context(), "javac", "-nowarn", "-cp", classPath, "-d", dir, filepath.Join(dir, "Echo.java")))
	return Stack{name: "jinterface", dir: dir, command: func(ctx context.Context, node string, args []string) *exec.Cmd {
		all := []string{"-Xmx256m", "-cp", dir + string(os.PathListSeparator) + classPath, "Echo", args[0], node, Cookie}
		return exec.CommandContext(ctx, "java", append(all, args[1:]...)...)
	}}
}

// unpack writes a source to a folder of the test's.
func unpack(tb testing.TB, name string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	source, err := sources.ReadFile(name)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), source, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

func compile(tb testing.TB, home string, cmd *exec.Cmd) {
	tb.Helper()
	cmd.Env = append(cmd.Environ(), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// start makes the command of one end, with the port mapper and a home of its own.
func (s Stack) start(ctx context.Context, mapper, node string, args ...string) *exec.Cmd {
	cmd := s.command(ctx, node, args)
	_, port, _ := net.SplitHostPort(mapper) // without a port the other end says that it finds none
	cmd.Env = append(cmd.Environ(), "HOME="+s.dir, "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT="+port)
	return cmd
}

// Serve runs the other end's echo node until the test ends. OTP takes flags of its own.
func (s Stack) Serve(tb testing.TB, mapper, node string, flags ...string) {
	tb.Helper()
	cmd := s.start(tb.Context(), mapper, node, append([]string{"serve"}, flags...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = cmd.Wait() }) // the test's context has killed it
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // what it said of errors is complete then
		tb.Fatalf("%s said %q, %v\n%s", s.name, line, err, errs.String())
	}
}

// Run runs the other end to its end and returns what it says: "ask NODE" asks a node of ours
// in every way, "rate NODE CLIENTS SECONDS" measures one.
func (s Stack) Run(tb testing.TB, mapper, node string, args ...string) string {
	tb.Helper()
	cmd := s.start(tb.Context(), mapper, node, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return strings.TrimSpace(string(out))
}
