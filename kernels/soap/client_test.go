package soap_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// echoed is the envelope of the right answer.
func echoed(tb testing.TB) string {
	tb.Helper()
	m := envelope.Beans(1)
	m.Answer = true
	return string(newCodec(tb, envelope.Stream).Append(nil, &m))
}

// scripted opens a client of a service that answers each call on a connection with the next
// of the given texts and closes the connection after the last.
func scripted(tb testing.TB, answers ...string) kernels.Trial {
	tb.Helper()
	return open(tb, soap.Echo{}.Info().Defaults().With(kernels.Addr, answering(tb, answers...)))
}

// answering starts such a service and returns its address.
func answering(tb testing.TB, answers ...string) string {
	tb.Helper()
	return script(tb, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for _, answer := range answers {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			if _, err := io.WriteString(conn, answer); err != nil {
				return
			}
		}
	})
}

// reply makes an answer of a status with a body.
func reply(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// chunked makes an answer with a body in chunks.
func chunked(body string) string {
	half := len(body) / 2
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x;a=b\r\n%s\r\n0\r\nX: y\r\n\r\n",
		half, body[:half], len(body)-half, body[half:])
}

func TestClientReads(t *testing.T) {
	t.Parallel()
	body := echoed(t)
	good := reply(200, body)
	rows := []struct {
		name    string
		answers []string // on each connection
	}{
		{"kept connection", []string{good, good, good, good, good}},
		{"closed after each without a word", []string{good}},
		{"closed after two without a word", []string{good, good}},
		{"chunked", []string{chunked(body), chunked(body)}},
		{"Connection: close", []string{strings.Replace(good, "\r\n", "\r\nConnection: close\r\n", 1)}},
		{"HTTP/1.0 without a length", []string{"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n" + body}},
		{"HTTP/1.1 without a length", []string{"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n" + body}},
		{"100 first", []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + good, good}},
		{"more than was asked for", []string{good + "HTTP/1.1 408 Too late\r\n\r\n", good}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			trial := scripted(t, row.answers...)
			if err := trial.Do(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			if err := trial.Do(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// eachWay runs a test for each way in which client and service wait for each other: in the
// system call, as with one lane, and by the runtime's poller, as with more.
func eachWay(t *testing.T, name string, test func(t *testing.T, p kernels.Params)) {
	t.Helper()
	for _, clients := range []string{"1", "2"} {
		t.Run(name+" clients="+clients, func(t *testing.T) {
			t.Parallel()
			test(t, echoDefaults().With("clients", clients))
		})
	}
}

func TestClientFails(t *testing.T) {
	t.Parallel()
	body := echoed(t)
	good := reply(200, body)
	rows := []struct {
		name, answer, class string
	}{
		{"fault", reply(500, fault(t)), "fault"},
		{"fault with status 200", reply(200, fault(t)), "fault"},
		{"fault with status 413", reply(413, fault(t)), "fault"},
		{"500 without a fault", reply(500, "out of order"), "malformed"},
		{"404", reply(404, ""), "malformed"},
		{"no content", "HTTP/1.1 204 No Content\r\n\r\n", "malformed"},
		{"the right answer with status 202", reply(202, body), "malformed"},
		{"not XML", reply(200, "hello"), "malformed"},
		{"cut XML", reply(200, body[:len(body)-1]), "malformed"},
		{"not HTTP", "hello\r\n\r\n", "malformed"},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "malformed"},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "malformed"},
		{"switching protocols", "HTTP/1.1 101 X\r\n\r\n", "malformed"},
		{"another answer", reply(200, strings.Replace(body, ">1001<", ">1002<", 1)), "mismatch"},
		{"the request", reply(200, beans(t)), "mismatch"},
		{"nothing", "", "reset"},
		{"half a head", "HTTP/1.1 200 OK\r\nContent", "reset"},
		{"half a body", good[:len(good)-10], "reset"},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx", "reset"},
		{"nine megabytes", reply(200, strings.Repeat(" ", 9<<20)), "malformed"},
		{"nine megabytes in chunks", chunked(strings.Repeat(" ", 9<<20)), "malformed"},
		{"a head without end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 2<<20), "malformed"},
	}
	for _, row := range rows {
		eachWay(t, row.name, func(t *testing.T, p kernels.Params) {
			trial := open(t, p.With(kernels.Addr, answering(t, row.answer)))
			for range 2 { // a failure does not spoil the next call
				var failed *kernels.Failure
				if err := trial.Do(t.Context(), 1); !errors.As(err, &failed) || failed.Class != row.class {
					t.Fatalf("got %v, want a failure of class %s", err, row.class)
				}
			}
		})
	}
}

// TestClientRecovers lets a call fail and the next succeed.
func TestClientRecovers(t *testing.T) {
	t.Parallel()
	trial := scripted(t, reply(500, fault(t)), reply(200, echoed(t)))
	if err := trial.Do(t.Context(), 1); err == nil {
		t.Fatal("a fault was no failure")
	}
	if err := trial.Do(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

// TestClientEnds ends the context of a call that is never answered, in its beginning or in its
// midst, and the call with it.
func TestClientEnds(t *testing.T) {
	t.Parallel()
	soon := 20 * time.Millisecond
	for _, row := range []struct {
		name  string
		begin func() (context.Context, context.CancelFunc)
		want  error
	}{
		{"cancel", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(soon, cancel)
			return ctx, cancel
		}, context.Canceled},
		{"deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), soon)
		}, context.DeadlineExceeded},
		{"before the call", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx, cancel
		}, context.Canceled},
	} {
		for said, answer := range map[string]string{"nothing said": "", "half an answer": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<"} {
			eachWay(t, row.name+", "+said, func(t *testing.T, p kernels.Params) {
				addr := script(t, func(conn net.Conn) {
					_, _ = io.WriteString(conn, answer)
					_, _ = io.Copy(io.Discard, conn)
				})
				trial := open(t, p.With(kernels.Addr, addr))
				ctx, cancel := row.begin()
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- trial.Do(ctx, 1) }()
				select {
				case err := <-ended:
					if !errors.Is(err, row.want) {
						t.Errorf("got %v, want %v", err, row.want)
					}
				case <-time.After(10 * time.Second):
					t.Error("the call had not ended after 10 s")
				}
			})
		}
	}
}

// TestClientGoesOn ends one context between two calls: the next call, under another, is not
// disturbed, and neither is a connection that is kept.
func TestClientGoesOn(t *testing.T) {
	t.Parallel()
	trial := open(t, serve(t, "stream"))
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := trial.Do(ctx, 1); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := trial.Do(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if c, ok := trial.(kernels.Checker); !ok || c.Check() != nil {
		t.Error("the check fails after contexts have ended")
	}
	if err := trial.Do(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

// TestCheckFindsCarelessService has a service that answers the ordinary call rightly but
// cannot carry anything else.
func TestCheckFindsCarelessService(t *testing.T) {
	t.Parallel()
	good := reply(200, echoed(t))
	trial := scripted(t, good, good, good)
	if err := trial.Do(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	c, ok := trial.(kernels.Checker)
	if !ok {
		t.Fatal("the trial is no Checker")
	}
	if err := c.Check(); err == nil {
		t.Error("the check finds nothing wrong with a service that always says the same")
	}
}
