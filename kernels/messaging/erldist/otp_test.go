package erldist_test

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels/messaging/erldist"
	"benchd/kernels/messaging/erldist/erltest"
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

// stacks are the other implementations, made where a test wants them.
func stacks() []stack {
	return []stack{
		{"OTP", func(tb testing.TB) erltest.Stack { tb.Helper(); return erltest.OTP(tb, otp(tb)) }},
		{"jinterface", func(tb testing.TB) erltest.Stack {
			tb.Helper()
			return erltest.JInterface(tb, service(tb, "BENCHD_TEST_JINTERFACE"))
		}},
	}
}

type stack struct {
	name string
	make func(tb testing.TB) erltest.Stack
}

// TestAskThem has our node ask the echo of another implementation: by its name, with every
// kind of term, with long messages, and from many mailboxes at once.
func TestAskThem(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mapper := erltest.Mapper(t)
			s.make(t).Serve(t, mapper, "them@127.0.0.1")
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
		erldist.Atom("ok"), erldist.Atom("öи"),
		[]byte{},
		bytes.Repeat([]byte{7}, 1<<20),
		erldist.Tuple{},
		erldist.Tuple{int64(1), erldist.Tuple{erldist.Atom("a")}},
		erldist.List(nil),
		erldist.List{erldist.Atom("a"), int64(300)},
		erldist.List{int64('t'), int64('x')},
		erldist.Improper{Elements: []erldist.Term{int64(1)}, Tail: erldist.Atom("b")},
		erldist.Map{{Key: erldist.Atom("k"), Value: int64(1)}},
		m.Pid(),
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
			them := s.make(t)
			c := listener("us@127.0.0.1")
			c.EPMD = erltest.Mapper(t)
			n := start(t, c)
			echo(t, n)
			closer(t, n)
			if said := them.Run(t, c.EPMD, "them@127.0.0.1", "ask", n.Name()); said != "ok" {
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

// TestTicksWithOTP: a node of OTP that expects a sign of life every four seconds, and gives
// one, keeps a connection on which nothing else is said.
func TestTicksWithOTP(t *testing.T) {
	t.Parallel()
	mapper := erltest.Mapper(t)
	erltest.OTP(t, otp(t)).Serve(t, mapper, "them@127.0.0.1", "-kernel", "net_ticktime", "4")
	n := start(t, erldist.Config{Name: "us@127.0.0.1", TickTime: 4 * time.Second})
	p, err := n.Connect(t.Context(), "them@127.0.0.1", mapper)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Down():
		t.Fatalf("the connection went down: %v", p.Err())
	case <-time.After(9 * time.Second):
	}
	m := open(t, n, "")
	send(t, p, m, m.Pid())
	receive(t, m)
}

// A cookie that is wrong is found out on either side of either implementation.
func TestWrongCookie(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			mapper := erltest.Mapper(t)
			s.make(t).Serve(t, mapper, "them@127.0.0.1")
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
