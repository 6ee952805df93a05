package queue_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/queuetest"
)

func TestMain(m *testing.M) {
	queue.RouteDriverLog(quiet())
	goleak.VerifyTestMain(m)
}

// quiet drops what is logged.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func open(t *testing.T, r *queuetest.Redis) *queue.Queue {
	t.Helper()
	q, err := queue.Open(t.Context(), queue.Options{URL: r.URL, Embedded: r.Embedded, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		succeed(t, q.Close())
	})
	return q
}

func order(trial string, attempt int) bench.Order {
	return bench.Order{
		Run: "run", Trial: trial, Host: "blue", Attempt: attempt,
		Case: bench.Case{Kernel: "scimark.fft"}, Plan: bench.DefaultPlan(),
	}
}

// within fails the test when ok is not true in time.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("after %s: %s", d, what)
}

// succeed fails the test when there is an error.
func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	closed := func(t *testing.T) string {
		t.Helper()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return "redis://" + l.Addr().String()
	}
	rows := []struct {
		name string
		url  string // or else a server with this info
		info string
		kind bench.Kind
		want string
	}{
		{"nothing listens", closed(t), "", bench.Unavailable, "cannot be reached"},
		{"not a URL of Redis", "http://user:secret@127.0.0.1", "", bench.Invalid, "must read redis://"},
		{"unreadable, and a password in it", "redis://user:secret@127.0.0.1:x", "", bench.Invalid, "must read redis://"},
		{"no host", "127.0.0.1:6379", "", bench.Invalid, "must read redis://"},
		{"bad database", "redis://127.0.0.1/one", "", bench.Invalid, "invalid database number"},
		{"too old", "", "redis_version:6.0.16\r\nmaxmemory_policy:noeviction", bench.Unavailable, "is version 6.0.16; 6.2 or newer is needed"},
		{"far too old", "", "redis_version:5.2.1\r\nmaxmemory_policy:noeviction", bench.Unavailable, "is version 5.2.1"},
		{"no version", "", "maxmemory_policy:noeviction", bench.Unavailable, "does not tell its Redis version"},
		{"evicts", "", "redis_version:7.0.15\r\nmaxmemory_policy:volatile-ttl", bench.Unavailable, `maxmemory-policy is "volatile-ttl"`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.url == "" {
				row.url = fake(t, row.info)
			}
			_, err := queue.Open(t.Context(), queue.Options{URL: row.url, Logger: quiet()})
			e := bench.AsError(err)
			if e == nil || e.Kind != row.kind || !strings.Contains(e.Message, row.want) {
				t.Errorf("got %#v, want kind %s and %q", err, row.kind, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the password leaks: %v", err)
			}
		})
	}
}

func TestOpenTakesNewVersions(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"6.2.0", "7.0.15", "10.0.1"} {
		q, err := queue.Open(t.Context(), queue.Options{URL: fake(t, "redis_version:"+v+"\r\nmaxmemory_policy:noeviction"), Logger: quiet()})
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		succeed(t, q.Close())
	}
}

// fake is a server that answers PING and INFO only.
func fake(t *testing.T, info string) string {
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
			go answer(c, info)
		}
	}()
	return "redis://" + l.Addr().String()
}

func answer(c net.Conn, info string) {
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		reply := ""
		switch strings.ToUpper(in.Text()) {
		case "PING":
			reply = "+PONG\r\n"
		case "INFO":
			reply = fmt.Sprintf("$%d\r\n%s\r\n", len(info), info)
		case "HELLO", "CLIENT":
			reply = "-ERR unknown command\r\n"
		}
		if _, err := io.WriteString(c, reply); err != nil {
			return
		}
	}
}

func TestOpenRefusesARedisThatEvicts(t *testing.T) {
	t.Parallel()
	r := queuetest.Own(t, os.Getenv)
	r.Do(t, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	_, err := queue.Open(t.Context(), queue.Options{URL: r.URL, Logger: quiet()})
	if e := bench.AsError(err); e == nil || !strings.Contains(e.Message, "set it to noeviction: redis-cli config set maxmemory-policy noeviction") {
		t.Fatalf("got %v", err)
	}
	r.Do(t, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	open(t, r)
}

func TestEpochLastsUntilRedisIsEmptied(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			a, b := open(t, r), open(t, r)
			first, fresh, err := a.Epoch(t.Context())
			if err != nil || !fresh || first == "" {
				t.Fatalf("first: %q %v %v", first, fresh, err)
			}
			if again, fresh, err := b.Epoch(t.Context()); err != nil || fresh || again != first {
				t.Fatalf("again: %q %v %v", again, fresh, err)
			}
			r.Do(t, "FLUSHALL")
			if other, fresh, err := b.Epoch(t.Context()); err != nil || !fresh || other == first {
				t.Fatalf("after the flush: %q %v %v", other, fresh, err)
			} else if made := queue.EpochTime(other); time.Since(made).Abs() > time.Minute {
				t.Errorf("the epoch %q began at %s", other, made)
			}
			if made := queue.EpochTime("something else"); !made.IsZero() {
				t.Errorf("no epoch began at %s", made)
			}
		})
	}
}

func TestOrdersAreThereOnce(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			o := order("t1", 1)
			for range 2 {
				succeed(t, q.Enqueue(ctx, o))
			}
			if d := must(q.Depth(ctx))(t)["run.blue"]; d.Pending != 1 || d.Oldest <= 0 {
				t.Errorf("depth %+v, want one that waits", d)
			}
			if !must(q.Queued(ctx, o))(t) || must(q.Queued(ctx, order("t1", 2)))(t) {
				t.Error("attempt 1 is queued, attempt 2 is not")
			}
			if !must(q.Remove(ctx, o))(t) || must(q.Remove(ctx, o))(t) || must(q.Queued(ctx, o))(t) {
				t.Error("an order can be removed once, and is gone then")
			}
		})
	}
}

// TestOrdersAfterRedisWasEmptied uses Redis again from the same process.
func TestOrdersAfterRedisWasEmptied(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			o := order("t1", 1)
			succeed(t, q.Enqueue(ctx, o))
			r.Do(t, "FLUSHALL")
			if must(q.Queued(ctx, o))(t) || must(q.Remove(ctx, o))(t) {
				t.Error("nothing is queued in an empty Redis")
			}
			succeed(t, q.Enqueue(ctx, o))
			if !must(q.Queued(ctx, o))(t) {
				t.Error("the order is not found after Redis was emptied and it was queued again")
			}
		})
	}
}

func TestAnOrderStartsOnce(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			steps := []struct {
				name     string
				order    int
				takeBack bool
				ok       bool
			}{
				{"first", 1, false, true},
				{"delivered twice", 1, false, false},
				{"too late to take back", 1, true, false},
				{"taken back", 2, true, true},
				{"taken back again", 2, true, true},
				{"started after it was taken back", 2, false, false},
				{"queued again", 3, false, true},
				{"the store knows of more", 7, false, true},
				{"an order that was overtaken", 5, false, false},
				{"an order that was overtaken is taken back", 5, true, true},
			}
			if must(q.Started(ctx, order("t", 1)))(t) {
				t.Error("not started yet")
			}
			for _, s := range steps {
				if ok := must(claim(ctx, q, order("t", s.order), s.takeBack))(t); ok != s.ok {
					t.Errorf("%s: %v", s.name, ok)
				}
			}
			var started []bool
			for n := range 5 {
				started = append(started, must(q.Started(ctx, order("t", n)))(t))
			}
			if d := cmp.Diff([]bool{false, true, false, true, false}, started); d != "" {
				t.Errorf("orders that were started, from 0: %s", d)
			}
		})
	}
}

// claim starts an order or takes it back, and says whether that was allowed.
func claim(ctx context.Context, q *queue.Queue, o bench.Order, takeBack bool) (bool, error) {
	if takeBack {
		return q.TakeBack(ctx, o)
	}
	attempt, err := q.Start(ctx, o)
	if errors.Is(err, queue.ErrStarted) {
		return false, nil
	}
	return attempt == o.Attempt, err
}

func TestCancelReasons(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			if _, yes, err := q.Canceled(ctx, "t"); yes || err != nil {
				t.Fatalf("canceled before: %v %v", yes, err)
			}
			for _, s := range []struct{ reason, want bench.CancelReason }{
				{bench.CancelAsked, bench.CancelAsked},
				{bench.CancelTimeout, bench.CancelAsked}, // the first stays
				{bench.CancelLost, bench.CancelLost},     // lost is stronger
				{bench.CancelAsked, bench.CancelLost},
			} {
				succeed(t, q.Cancel(ctx, "blue", "t", s.reason))
				if got, yes, err := q.Canceled(ctx, "t"); !yes || err != nil || got != s.want {
					t.Errorf("after %s: %s %v %v, want %s", s.reason, got, yes, err, s.want)
				}
			}
		})
	}
}

func TestCancelWakesTheHost(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q := open(t, r)
			ctx, stop := context.WithCancel(t.Context())
			wake := q.CancelWakeups(ctx, "blue")
			within(t, 5*time.Second, "no wake-up came", func() bool {
				succeed(t, q.Cancel(ctx, "blue", "t", bench.CancelAsked))
				select {
				case got := <-wake:
					return got == "t"
				default:
					return false
				}
			})
			stop()
			within(t, 5*time.Second, "the channel is still open", func() bool {
				select {
				case _, ok := <-wake:
					return !ok
				default:
					return false
				}
			})
		})
	}
}

func TestBeatsVanish(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			if got := must(q.Beats(ctx))(t); len(got) != 0 {
				t.Fatalf("beats of nobody: %v", got)
			}
			b := bench.Beat{
				Host: "blue", Instance: "i1", At: time.Now().UTC().Round(0), Labels: map[string]string{"zone": "a"},
				Outbox: []string{"t9"}, Running: &bench.RunningTrial{Run: "r", Trial: "t", Attempt: 2},
			}
			succeed(t, q.Beat(ctx, b, time.Second))
			succeed(t, q.Beat(ctx, bench.Beat{Host: "red"}, time.Minute))
			for _, got := range must(q.Beats(ctx))(t) {
				if d := cmp.Diff(b, got); got.Host == "blue" && d != "" {
					t.Error(d)
				}
				if now := must(q.Now(ctx))(t); got.Host == "red" && now.Sub(got.At).Abs() > 5*time.Second {
					t.Errorf("a beat without a time got %s, it is %s", got.At, now)
				}
			}
			within(t, 10*time.Second, "the beat with a second to live is still there", func() bool {
				beats := must(q.Beats(ctx))(t)
				return len(beats) == 1 && beats[0].Host == "red"
			})
		})
	}
}

func TestPhases(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			p := bench.Phase{Name: "measure", Fork: 1, Forks: 3, Percent: 12.5}
			succeed(t, q.SetPhase(ctx, "t1", p))
			got := must(q.Phases(ctx, []string{"t0", "t1"}))(t)
			if d := cmp.Diff(map[string]bench.Phase{"t1": p}, got); d != "" {
				t.Error(d)
			}
			if got := must(q.Phases(ctx, nil))(t); len(got) != 0 {
				t.Errorf("phases of nothing: %v", got)
			}
		})
	}
}
