package erldist_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"benchd/kernels/messaging/erldist"
)

// allFlags are the capabilities of OTP 25.
const allFlags = 0xd07df7fbd

// hello is a node's name as the side that connects sends it.
func hello(name string, flags uint64) []byte {
	b := binary.BigEndian.AppendUint64([]byte{'N'}, flags)
	b = binary.BigEndian.AppendUint32(b, 7)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(name))), name...)
}

// challenge is a node's name as the other side sends it.
func challenge(name string, flags uint64, number uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{'N'}, flags)
	b = binary.BigEndian.AppendUint32(b, number)
	b = binary.BigEndian.AppendUint32(b, 7)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(name))), name...)
}

func digest(cookie string, number uint32) []byte {
	sum := md5.Sum([]byte(cookie + strconv.FormatUint(uint64(number), 10)))
	return sum[:]
}

// proof answers a challenge and poses one.
func proof(cookie string, theirs, ours uint32) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'r'}, ours), digest(cookie, theirs)...)
}

// say sends one message of a handshake. Who has hung up hears nothing.
func say(c net.Conn, message []byte) {
	_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...))
}

// hear reads one message of a handshake, or nothing where the other side hangs up.
func hear(c net.Conn) []byte {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil
	}
	b := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return nil
	}
	return b
}

// pretend is a node that plays its part of a handshake by hand, for one connection, and
// returns where it is.
func pretend(t *testing.T, part func(c net.Conn)) string {
	t.Helper()
	l := listen(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		part(c)
		_ = c.Close()
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

// TestHandshakeOfTheOther has our node connect to one that does something else than it
// should, and expects the right error.
func TestHandshakeOfTheOther(t *testing.T) {
	t.Parallel()
	const name = "them@127.0.0.1"
	for _, row := range []struct {
		name string
		part func(c net.Conn)
		want error
		text string
	}{
		{"hangs up", func(net.Conn) {}, nil, "shake hands"},
		{"is no node", func(c net.Conn) { hear(c); _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n") }, nil, "no handshake"},
		{"says not_allowed", func(c net.Conn) { hear(c); say(c, []byte("snot_allowed")) }, erldist.ErrRefused, "not_allowed"},
		{"says nok, and does not come", func(c net.Conn) { hear(c); say(c, []byte("snok")) }, erldist.ErrRefused, "did not within"},
		{"gives a name", func(c net.Conn) { hear(c); say(c, []byte("snamed:")) }, erldist.ErrRefused, "named"},
		{"has another name", func(c net.Conn) { hear(c); say(c, []byte("sok")); say(c, challenge("who@127.0.0.1", allFlags, 1)) }, nil, "calls itself"},
		{"has no name", func(c net.Conn) { hear(c); say(c, []byte("sok")); say(c, challenge("", allFlags, 1)) }, nil, "no name of a node"},
		{"is too old", func(c net.Conn) {
			hear(c)
			say(c, []byte("sok"))
			say(c, []byte("n\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00a@b"))
		}, erldist.ErrRefused, "before OTP 23"},
		{"lacks capabilities", func(c net.Conn) { hear(c); say(c, []byte("sok")); say(c, challenge(name, 0x4, 1)) }, erldist.ErrRefused, "capabilities"},
		{"is cut off", func(c net.Conn) { hear(c); say(c, []byte("sok")); say(c, challenge(name, allFlags, 1)[:12]) }, nil, "cut off"},
		{"has a name that is longer than its message", func(c net.Conn) {
			hear(c)
			say(c, []byte("sok"))
			b := challenge(name, allFlags, 1)
			say(c, b[:len(b)-3])
		}, nil, "cut off"},
		{"does not take our proof", func(c net.Conn) { hear(c); say(c, []byte("sok")); say(c, challenge(name, allFlags, 1)); hear(c) }, erldist.ErrCookie, "different cookies"},
		{"proves nothing", func(c net.Conn) {
			hear(c)
			say(c, []byte("sok"))
			say(c, challenge(name, allFlags, 1))
			reply := hear(c)
			say(c, append([]byte{'a'}, digest("another", binary.BigEndian.Uint32(reply[1:]))...))
		}, erldist.ErrCookie, "different cookies"},
		{"says nothing", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, nil, "deadline exceeded"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n := start(t, erldist.Config{Name: "us@127.0.0.1", SetupTime: 300 * time.Millisecond})
			_, err := n.ConnectAt(t.Context(), name, pretend(t, row.part))
			if err == nil || row.want != nil && !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("connecting gave %v; want %q", err, row.text)
			}
		})
	}
}

// A node that thinks that we are still connected is told that we are not, and the handshake
// goes on; one that knows of an attempt of its own too.
func TestHandshakeGoesOn(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"ok", "ok_simultaneous", "alive"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			up := make(chan bool, 1)
			addr := pretend(t, func(c net.Conn) {
				hear(c)
				say(c, []byte("s"+status))
				word := "strue"
				if status == "alive" {
					word = string(hear(c))
				}
				say(c, challenge("them@127.0.0.1", allFlags, 5))
				reply := hear(c)
				up <- word == "strue" && bytes.Equal(reply[5:], digest(cookie, 5))
				say(c, append([]byte{'a'}, digest(cookie, binary.BigEndian.Uint32(reply[1:]))...))
				_, _ = io.Copy(io.Discard, c) // until the node closes
			})
			n := start(t, erldist.Config{Name: "us@127.0.0.1"})
			p, err := n.ConnectAt(t.Context(), "them@127.0.0.1", addr)
			if err != nil {
				t.Fatal(err)
			}
			if !<-up {
				t.Error("our part of the handshake was wrong")
			}
			p.Close()
		})
	}
}

// dialNode connects to a node as something that speaks by hand.
func dialNode(t *testing.T, n *erldist.Node) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at(n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // a test may have closed it
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// greet shakes hands with a node by hand.
func greet(t *testing.T, n *erldist.Node, name string) net.Conn {
	t.Helper()
	c := dialNode(t, n)
	say(c, hello(name, allFlags))
	status := string(hear(c))
	if status == "salive" {
		say(c, []byte("strue"))
	} else if status != "sok" {
		t.Fatalf("the status is %q", status)
	}
	theirs := hear(c)
	if len(theirs) < 13 {
		t.Fatalf("the challenge is %x", theirs)
	}
	say(c, proof(cookie, binary.BigEndian.Uint32(theirs[9:]), 9))
	if ack := hear(c); len(ack) == 0 || !bytes.Equal(ack[1:], digest(cookie, 9)) {
		t.Fatalf("the ack is %x", ack)
	}
	return c
}

// hangsUp tells whether the other side has nothing more to say.
func hangsUp(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	var late net.Error
	return err != nil && (!errors.As(err, &late) || !late.Timeout())
}

// TestHandshakeOfWhoConnects has others connect to our node and do something else than they
// should: it hangs up on them, and goes on.
func TestHandshakeOfWhoConnects(t *testing.T) {
	t.Parallel()
	c := listener("us@127.0.0.1")
	c.SetupTime = 300 * time.Millisecond
	n := start(t, c)
	for _, row := range []struct {
		name string
		part func(c net.Conn)
	}{
		{"says nothing", func(net.Conn) {}},
		{"says half a word", func(c net.Conn) { _, _ = c.Write([]byte{0}) }},
		{"is no node", func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n") }},
		{"says an empty message", func(c net.Conn) { say(c, nil) }},
		{"is too old", func(c net.Conn) { say(c, []byte("n\x00\x05\x00\x00\x00\x00a@b")) }},
		{"has our name", func(c net.Conn) { say(c, hello("us@127.0.0.1", allFlags)); hear(c) }},
		{"has no name", func(c net.Conn) { say(c, hello("", allFlags)) }},
		{"has a name without a host", func(c net.Conn) { say(c, hello("them", allFlags)) }},
		{"lacks capabilities", func(c net.Conn) { say(c, hello("them@127.0.0.1", 0x4)) }},
		{"does not know the cookie", func(c net.Conn) {
			say(c, hello("them@127.0.0.1", allFlags))
			hear(c)
			theirs := hear(c)
			say(c, proof("another", binary.BigEndian.Uint32(theirs[9:]), 9))
		}},
		{"gives half a proof", func(c net.Conn) {
			say(c, hello("them@127.0.0.1", allFlags))
			hear(c)
			say(c, proof(cookie, binary.BigEndian.Uint32(hear(c)[9:]), 9)[:9])
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := dialNode(t, n)
			row.part(c)
			if !hangsUp(c) {
				t.Error("it does not hang up")
			}
		})
	}
	t.Run("and one is right", func(t *testing.T) {
		t.Parallel()
		greet(t, n, "right@127.0.0.1")
	})
}

// A node that connects again takes the place of its old connection if it says that this is
// gone, and does not if it takes the old one for good.
func TestHandshakeAgain(t *testing.T) {
	t.Parallel()
	n := start(t, listener("us@127.0.0.1"))
	first := greet(t, n, "them@127.0.0.1")
	waver := dialNode(t, n)
	for waver != nil { // until the node has taken the first for its connection
		say(waver, hello("them@127.0.0.1", allFlags))
		if string(hear(waver)) == "salive" {
			break
		}
		_ = waver.Close()
		waver = dialNode(t, n)
	}
	say(waver, []byte("sfalse"))
	if !hangsUp(waver) {
		t.Error("it goes on with one that thinks better of it")
	}
	greet(t, n, "them@127.0.0.1")
	if !hangsUp(first) {
		t.Error("it keeps both connections")
	}
}

// frame is one frame after the handshake.
func frame(body ...byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// control is a frame with a control message and whatever follows.
func control(t *testing.T, c erldist.Tuple, message ...byte) []byte {
	t.Helper()
	return frame(append(append([]byte{112}, write(t, c)...), message...)...)
}

// TestFrames sends a node what other nodes send, and what none should: it lives with the
// first and hangs up on the second.
func TestFrames(t *testing.T) {
	t.Parallel()
	pid := erldist.Pid{Node: "them@127.0.0.1", ID: 5, Creation: 7}
	ref := erldist.Ref{Node: "them@127.0.0.1", Creation: 7, Len: 3, IDs: [5]uint32{1, 2, 3}}
	nobody := erldist.Pid{Node: "us@127.0.0.1", ID: 99, Creation: 1}
	long := bytes.Repeat([]byte{1}, 100<<10)
	n := start(t, listener("us@127.0.0.1"))
	echo(t, n)
	for i, row := range []struct {
		name  string
		bytes []byte
		lives bool
	}{
		{"a tick", frame(), true},
		{"many ticks", bytes.Repeat(frame(), 50_000), true},
		{"a message to nobody", control(t, erldist.Tuple{6, pid, erldist.Atom(""), erldist.Atom("nobody")}, 131, 106), true},
		{"a long one to nobody", control(t, erldist.Tuple{6, pid, erldist.Atom(""), erldist.Atom("nobody")}, long...), true},
		{"with its sender", control(t, erldist.Tuple{22, pid, nobody}, 131, 106), true},
		{"traced", control(t, erldist.Tuple{12, erldist.Atom(""), nobody, erldist.Tuple{1, 2}}, 131, 106), true},
		{"traced and by name", control(t, erldist.Tuple{16, pid, erldist.Atom(""), erldist.Atom("nobody"), erldist.Atom("t")}, 131, 106), true},
		{"with its sender and traced", control(t, erldist.Tuple{23, pid, nobody, erldist.Atom("t")}, 131, 106), true},
		{"to an alias", control(t, erldist.Tuple{33, pid, ref}, 131, 106), true},
		{"an exit", control(t, erldist.Tuple{3, pid, nobody, erldist.Atom("normal")}), true},
		{"an exit with a payload", control(t, erldist.Tuple{24, pid, nobody}, 131, 106), true},
		{"an exit of the other kind", control(t, erldist.Tuple{8, pid, nobody, erldist.Atom("kill")}), true},
		{"the end of a monitor", control(t, erldist.Tuple{21, nobody, pid, ref, erldist.Atom("normal")}), true},
		{"an unlink of old", control(t, erldist.Tuple{4, pid, nobody}), true},
		{"a group leader", control(t, erldist.Tuple{7, pid, nobody}), true},
		{"something of later", control(t, erldist.Tuple{99, pid}), true},
		{"links of what is no process", control(t, erldist.Tuple{1, erldist.Map{}, erldist.List{}}), true},
		{"another kind of frame", frame(131, 68, 0), false},
		{"no term", frame(112, 131), false},
		{"no tuple", frame(112, 131, 97, 1), false},
		{"no version", frame(112, 104, 1, 97, 2), false},
		{"an empty tuple", frame(112, 131, 104, 0), false},
		{"an operation that is no number", control(t, erldist.Tuple{erldist.Atom("a")}), false},
		{"a message without a pid", control(t, erldist.Tuple{2, erldist.Atom("")}), false},
		{"a message to a name without one", control(t, erldist.Tuple{6, pid, erldist.Atom(""), int64(1)}), false},
		{"a tuple that lies", frame(112, 131, 105, 255, 255, 255, 255, 97, 2), false},
		{"a frame of 4 GB", []byte{255, 255, 255, 255, 112}, false},
		{"a long control message that is none", append(binary.BigEndian.AppendUint32(nil, 100<<10), append([]byte{112, 131, 104, 3, 97, 3}, long...)...), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := greet(t, n, "them"+strconv.Itoa(i)+"@127.0.0.1")
			if _, err := c.Write(row.bytes); err != nil {
				t.Fatal(err)
			}
			if row.lives {
				pidThere := erldist.Pid{Node: erldist.Atom("them" + strconv.Itoa(i) + "@127.0.0.1"), ID: 1, Creation: 7}
				if _, err := c.Write(control(t, erldist.Tuple{6, pidThere, erldist.Atom(""), erldist.Atom("echo")}, write(t, pidThere)...)); err != nil {
					t.Fatal(err)
				}
				answers(t, c)
			} else if !hangsUp(c) {
				t.Error("it does not hang up")
			}
		})
	}
}

// answers reads frames until the echo's five bytes come.
func answers(t *testing.T, c net.Conn) {
	t.Helper()
	for {
		var size [4]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			t.Fatalf("it does not live: %v", err)
		}
		b := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		if bytes.HasSuffix(b, []byte{131, 109, 0, 0, 0, 5, 1, 2, 3, 4, 5}) {
			return
		}
	}
}
