package erldist_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/messaging/erldist"
)

// otp returns the path of Erlang/OTP's erl, and skips the test where none is told of.
func otp(tb testing.TB) string {
	tb.Helper()
	return service(tb, "BENCHD_TEST_OTP")
}

// service returns what a variable tells of a real counterpart, and skips the test without.
func service(tb testing.TB, variable string) string {
	tb.Helper()
	value := os.Getenv(variable)
	if value == "" && os.Getenv("BENCHD_REQUIRE_SERVICES") == "1" {
		tb.Fatalf("%s is not set, and real services are required", variable)
	}
	if value == "" {
		tb.Skipf("%s is not set", variable)
	}
	return value
}

// A stack is another implementation of the protocol, as commands that run its end of the
// tests on the port mapper at an address.
type stack struct {
	name    string
	variant func(tb testing.TB) stack
	command func(mapper, node string, args ...string) *exec.Cmd
}

// stacks are the other implementations.
func stacks() []stack {
	return []stack{{name: "OTP", variant: otpStack}, {name: "jinterface", variant: jinterfaceStack}}
}

// otpStack compiles the Erlang end.
func otpStack(tb testing.TB) stack {
	tb.Helper()
	erl := otp(tb)
	dir := tb.TempDir()
	compile(tb, exec.Command(filepath.Join(filepath.Dir(erl), "erlc"), "-o", dir, "testdata/echo.erl"), dir)
	return stack{name: "OTP", command: func(mapper, node string, args ...string) *exec.Cmd {
		_, port, _ := net.SplitHostPort(mapper)
		cmd := exec.Command(erl, append([]string{
			"-noshell", "-noinput", "-start_epmd", "false", "-name", node, "-setcookie", cookie,
			"-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-pa", dir, "-s", "echo",
		}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT="+port)
		return cmd
	}}
}

// jinterfaceStack compiles the Java end.
func jinterfaceStack(tb testing.TB) stack {
	tb.Helper()
	path := service(tb, "BENCHD_TEST_JINTERFACE")
	dir := tb.TempDir()
	compile(tb, exec.Command("javac", "-nowarn", "-cp", path, "-d", dir, "testdata/Echo.java"), dir)
	return stack{name: "jinterface", command: func(mapper, node string, args ...string) *exec.Cmd {
		_, port, _ := net.SplitHostPort(mapper)
		all := []string{"-Xmx256m", "-cp", dir + string(os.PathListSeparator) + path, "Echo", args[0], node, cookie}
		cmd := exec.Command("java", append(all, args[1:]...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "ERL_EPMD_PORT="+port)
		return cmd
	}}
}

func compile(tb testing.TB, cmd *exec.Cmd, home string) {
	tb.Helper()
	cmd.Env = append(os.Environ(), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// serve runs the other end's echo node until the test ends.
func (s stack) serve(tb testing.TB, mapper, node string) {
	tb.Helper()
	cmd := s.command(mapper, node, "serve")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		tb.Fatalf("%s said %q, %v\n%s", s.name, line, err, errs.String())
	}
}

// run runs the other end to its end and returns what it says.
func (s stack) run(tb testing.TB, mapper, node string, args ...string) string {
	tb.Helper()
	cmd := s.command(mapper, node, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestAskThem has our node ask the echo of another implementation: by its name, with every
// kind of term, with long messages, and from many mailboxes at once.
func TestAskThem(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mapper := epmd(t)
			s.variant(t).serve(t, mapper, "them@127.0.0.1")
			n := start(t, erldist.Config{Name: "us@127.0.0.1"})
			p, err := n.Connect(t.Context(), "them@127.0.0.1", mapper)
			if err != nil {
				t.Fatal(err)
			}
			m := open(t, n, "")
			send(t, p, m, m.Pid())
			if got := receive(t, m); !cmp.Equal(got, erldist.Term([]byte{1, 2, 3, 4, 5})) {
				t.Errorf("%v came", got)
			}
			for _, term := range someTerms(m) {
				send(t, p, m, erldist.Tuple{m.Pid(), term})
				if d := cmp.Diff(term, receive(t, m), sameTerms()); d != "" {
					t.Error(d)
				}
			}
			together(t, n, p)
		})
	}
}

// send sends a term to the process echo.
func send(tb testing.TB, p *erldist.Peer, m *erldist.Mailbox, t erldist.Term) {
	tb.Helper()
	if err := p.SendName(m, "echo", write(tb, t), nil); err != nil {
		tb.Fatal(err)
	}
}

// someTerms is one of each kind.
func someTerms(m *erldist.Mailbox) []erldist.Term {
	return []erldist.Term{
		int64(0), int64(-1), int64(1 << 40), new(big.Int).Lsh(big.NewInt(1), 3000), 1.5,
		erldist.Atom("ok"), erldist.Atom("öи"), []byte{}, bytes.Repeat([]byte{7}, 1<<20), erldist.Tuple{},
		erldist.Tuple{int64(1), erldist.Tuple{erldist.Atom("a")}}, erldist.List(nil), erldist.List{erldist.Atom("a"), int64(300)},
		erldist.List{int64('t'), int64('x')}, erldist.Improper{Elements: []erldist.Term{int64(1)}, Tail: erldist.Atom("b")},
		erldist.Map{{Key: erldist.Atom("k"), Value: int64(1)}}, m.Pid(),
		erldist.Ref{Node: m.Pid().Node, Creation: m.Pid().Creation, Len: 3, IDs: [5]uint32{1, 2, 3}},
		erldist.Port{Node: m.Pid().Node, ID: 5, Creation: m.Pid().Creation},
	}
}

// together asks from many mailboxes at once; each must get its own answers.
func together(t *testing.T, n *erldist.Node, p *erldist.Peer) {
	t.Helper()
	var all sync.WaitGroup
	for lane := range 8 {
		m := open(t, n, "")
		all.Go(func() {
			for i := range 200 {
				want, err := erldist.Append(nil, erldist.Tuple{int64(lane), int64(i)})
				if err != nil {
					t.Error(err)
					return
				}
				head := m.AppendPid(erldist.AppendTupleHeader([]byte{131}, 2))
				if err := p.SendName(m, "echo", append(head, want[1:]...), nil); err != nil {
					t.Error(err)
					return
				}
				if got, err := m.Receive(t.Context(), p); err != nil || !bytes.Equal(got, want) {
					t.Errorf("lane %d, message %d: %x, %v", lane, i, got, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestTheyAsk has another implementation ask the echo of our node.
func TestTheyAsk(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			them := s.variant(t)
			c := listener("us@127.0.0.1")
			c.EPMD = epmd(t)
			n := start(t, c)
			echo(t, n)
			closer(t, n)
			if said := them.run(t, c.EPMD, "them@127.0.0.1", "ask", n.Name()); said != "ok" {
				t.Error(said)
			}
		})
	}
}

// closer has a node tell who sends its pid the pid of a mailbox that closes when it is sent
// something.
func closer(t *testing.T, n *erldist.Node) {
	t.Helper()
	var once sync.WaitGroup
	m := open(t, n, "")
	once.Go(func() {
		if _, err := m.Receive(t.Context(), nil); err == nil {
			m.Close()
		}
	})
	t.Cleanup(once.Wait)
	_, err := n.Handle("closer", func() erldist.Handler {
		return func(p *erldist.Peer, message []byte) {
			r, _ := erldist.NewReader(message)
			if _, pid, err := r.Pid(); err == nil {
				_ = p.Send(pid, m.AppendPid([]byte{131}), nil)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A cookie that is wrong is found out on either side of either implementation.
func TestWrongCookie(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mapper := epmd(t)
			s.variant(t).serve(t, mapper, "them@127.0.0.1")
			n := start(t, erldist.Config{Name: "us@127.0.0.1", Cookie: "another"})
			begun := time.Now()
			if _, err := n.Connect(t.Context(), "them@127.0.0.1", mapper); err == nil || !strings.Contains(fmt.Sprint(err), "cookie") {
				t.Errorf("connecting gave %v", err)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
