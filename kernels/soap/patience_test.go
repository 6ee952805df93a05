package soap_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// hung starts a service that takes every call, begins the answer with the given text, and
// says no more. It answers the first calls rightly.
func hung(tb testing.TB, good int, begin string) string {
	tb.Helper()
	answer := reply(200, echoed(tb))
	var calls atomic.Int64
	return script(tb, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			say := begin
			if calls.Add(1) <= int64(good) {
				say = answer
			}
			if _, err := io.WriteString(conn, say); err != nil {
				return
			}
		}
	})
}

// TestPatience calls services that take a call and do not answer, over connections that wait
// in the system call and over those that do not.
func TestPatience(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		begin string
		with  kernels.Params
	}{
		{"nothing, one lane", "", kernels.Params{"clients": "1"}},
		{"nothing, of two lanes", "", kernels.Params{"clients": "2"}},
		{"half a head", "HTTP/1.1 200 OK\r\nContent", kernels.Params{"clients": "2"}},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx", kernels.Params{"clients": "2"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := echoDefaults().With(kernels.Addr, hung(t, 3, row.begin))
			for name, value := range row.with {
				p = p.With(name, value)
			}
			trial := open(t, p)
			soap.SetPatience(trial, 120*time.Millisecond)
			if err := trial.Do(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			for range 2 { // one on the kept connection, one on a new one
				var f *kernels.Failure
				err := trial.Do(t.Context(), 1)
				if !errors.As(err, &f) || f.Class != "timeout" || !strings.Contains(err.Error(), "did not answer within 120ms") {
					t.Fatalf("got %v, want a time-out", err)
				}
			}
		})
	}
}

// TestPatienceOfAttachments does so with an attachment, which is larger than what fits into
// the buffers of a connection, so that it is the sending that does not end.
func TestPatienceOfAttachments(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	addr := deaf(t, silent)
	trial := openTrial(t, soap.Attachment{}, soap.Attachment{}.Info().Defaults().With("size", "32MB").With(kernels.Addr, addr))
	soap.SetPatience(trial, 120*time.Millisecond)
	var f *kernels.Failure
	if err := trial.Do(t.Context(), 1); !errors.As(err, &f) || f.Class != "timeout" {
		t.Errorf("got %v, want a time-out", err)
	}
}

// deaf starts a server that reads nothing until a channel is closed.
func deaf(tb testing.TB, until <-chan struct{}) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	go func() {
		if conn, err := l.Accept(); err == nil {
			<-until
			_ = conn.Close()
		}
	}()
	tb.Cleanup(func() {
		_ = l.Close()
	})
	return "http://" + l.Addr().String() + "/"
}

// TestPatienceGoesOn makes calls for longer than the patience with one of them, with pauses
// longer than that too: only what lasts is ended, not what is done often.
func TestPatienceGoesOn(t *testing.T) {
	t.Parallel()
	trial := open(t, serve(t, "stream"))
	soap.SetPatience(trial, 600*time.Millisecond)
	for range 3 {
		for begun := time.Now(); time.Since(begun) < 800*time.Millisecond; {
			if err := trial.Do(t.Context(), 20); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(900 * time.Millisecond)
	}
}
