package queue_test

import (
	"context"
	"encoding/base64"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/queuetest"
)

func report(trial string, kind bench.ReportKind) bench.Report {
	r := bench.Report{Kind: kind, Run: "run", Trial: trial, Attempt: 1, Host: "blue", Instance: "i", At: time.Now().UTC().Round(0)}
	if kind == bench.Finished {
		r.Result = &bench.TrialResult{ID: trial, Params: kernels.Params{}, State: bench.Succeeded, Attempt: 1}
	}
	return r
}

// collect runs Collect until the test ends.
func collect(t *testing.T, q *queue.Queue, handle func(context.Context, bench.Report) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Collect(ctx, handle) }()
	t.Cleanup(func() {
		cancel()
		succeed(t, <-done)
	})
}

func TestReportsArriveAndAreAcknowledged(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			sent := report("t1", bench.Finished)
			for _, rep := range []bench.Report{report("t1", bench.Started), report("t2", bench.Started), sent, sent} {
				succeed(t, q.Send(ctx, rep))
			}
			if must(q.Acked(ctx, "t1", 1))(t) {
				t.Fatal("acknowledged before it was handled")
			}
			got := make(chan bench.Report, 10)
			collect(t, q, func(_ context.Context, r bench.Report) error { got <- r; return nil })
			within(t, 5*time.Second, "not acknowledged", func() bool { return must(q.Acked(ctx, "t1", 1))(t) })
			within(t, 5*time.Second, "not all arrived", func() bool { return len(got) == 3 })
			if must(q.Acked(ctx, "t2", 1))(t) || must(q.Acked(ctx, "t1", 2))(t) {
				t.Error("only the finished report of t1.1 may be acknowledged")
			}
			byID := make(map[string]bench.Report)
			for range 3 {
				r := <-got
				byID[r.Trial+string(r.Kind)] = r
			}
			if d := cmp.Diff(sent, byID["t1finished"]); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAReportThatCannotBeStoredComesAgain(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			succeed(t, q.Send(ctx, report("t", bench.Finished)))
			var calls atomic.Int32
			collect(t, q, func(context.Context, bench.Report) error {
				if calls.Add(1) == 1 {
					return errors.New("the disk is full")
				}
				return nil
			})
			within(t, 5*time.Second, "not handled", func() bool { return calls.Load() > 0 })
			within(t, 15*time.Second, "not acknowledged", func() bool { return must(q.Acked(ctx, "t", 1))(t) })
			if n := calls.Load(); n != 2 {
				t.Errorf("handled %d times", n)
			}
		})
	}
}

func TestAReportThatCannotBeReadIsDropped(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			for _, trial := range []string{"bad", "good"} {
				succeed(t, q.Send(ctx, report(trial, bench.Finished)))
			}
			r.Do(t, "HSET", "asynq:{results}:t:bad.1.finished", "msg",
				"\x0a\x06report\x12\x03\x28\xb5\x2f\x1a\x0ebad.1.finished\x22\x07results\x28\x64\x40\x3c")
			collect(t, q, func(_ context.Context, r bench.Report) error {
				if r.Trial != "good" {
					t.Errorf("handled %+v", r)
				}
				return nil
			})
			within(t, 5*time.Second, "the good one is not acknowledged", func() bool { return must(q.Acked(ctx, "good", 1))(t) })
			within(t, 5*time.Second, "the bad one stays", func() bool { return must(q.Depth(ctx))(t)["results"] == queue.Depth{} })
		})
	}
}

func TestSendRefusesAHugeReport(t *testing.T) {
	t.Parallel()
	q := open(t, queuetest.Embedded(t))
	huge := func(bytes int) bench.Report {
		noise := make([]byte, bytes)
		rand.NewChaCha8([32]byte{}).Read(noise)
		r := report("t", bench.Finished)
		r.Result.Latency = &bench.Latency{HDR: base64.StdEncoding.EncodeToString(noise)}
		return r
	}
	succeed(t, q.Send(t.Context(), huge(11<<20)))
	if e := bench.AsError(q.Send(t.Context(), huge(17<<20))); e == nil || e.Kind != bench.TooLarge {
		t.Errorf("got %v, want a refusal", e)
	}
}

func TestResultsWaitForRedis(t *testing.T) {
	t.Parallel()
	r := queuetest.Own(t, os.Getenv)
	q, ctx := open(t, r), t.Context()
	var calls atomic.Int32
	collect(t, q, func(context.Context, bench.Report) error { calls.Add(1); return nil })
	r.Stop()
	if err := q.Send(ctx, report("t", bench.Finished)); err == nil {
		t.Fatal("sent to a Redis that is not there")
	}
	r.Start(t)
	within(t, 20*time.Second, "it cannot be sent after Redis came back", func() bool {
		return q.Send(ctx, report("t", bench.Finished)) == nil
	})
	within(t, 20*time.Second, "not acknowledged", func() bool {
		yes, err := q.Acked(ctx, "t", 1)
		return err == nil && yes
	})
	if n := calls.Load(); n != 1 {
		t.Errorf("handled %d times", n)
	}
}

func TestTidyRemovesWhatDeadWorkersLeft(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			take := func(trial, lease string) {
				enqueue(t, q, order(trial, 1))
				r.Do(t, "RPOPLPUSH", "asynq:{run.blue}:pending", "asynq:{run.blue}:active")
				r.Do(t, "HSET", "asynq:{run.blue}:t:"+trial+".1", "state", "active")
				if lease != "" {
					r.Do(t, "ZADD", "asynq:{run.blue}:lease", lease, trial+".1")
				}
			}
			now := must(q.Now(ctx))(t)
			take("alive", unix(now.Add(20*time.Second)))
			take("recent", unix(now.Add(-time.Minute)))
			take("orphan", unix(now.Add(-time.Hour)))
			take("unleased", "")
			take("evicted", unix(now))
			r.Do(t, "DEL", "asynq:{run.blue}:t:evicted.1")
			succeed(t, q.Tidy(ctx))
			want := map[string]bool{"alive": true, "recent": true, "orphan": false, "unleased": true, "evicted": false}
			for trial, there := range want {
				if got := must(q.Queued(ctx, order(trial, 1)))(t); got != there {
					t.Errorf("%s: in Redis %v, want %v", trial, got, there)
				}
			}
			if d := must(q.Depth(ctx))(t)["run.blue"]; d.Active != 3 {
				t.Errorf("%d are active, want 3", d.Active)
			}
			if got := r.Do(t, "ZCARD", "asynq:{run.blue}:lease"); got != ":3" {
				t.Errorf("%s leases, want 3: the one without got one", got)
			}
		})
	}
}

func TestAnArchivedReportCanBeSentAgain(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			q, ctx := open(t, r), t.Context()
			rep := report("t", bench.Finished)
			succeed(t, q.Send(ctx, rep))
			r.Do(t, "RPOP", "asynq:{results}:pending")
			r.Do(t, "HSET", "asynq:{results}:t:t.1.finished", "state", "archived")
			r.Do(t, "ZADD", "asynq:{results}:archived", unix(time.Now()), "t.1.finished")
			succeed(t, q.Send(ctx, rep))
			collect(t, q, func(context.Context, bench.Report) error { return nil })
			within(t, 5*time.Second, "not acknowledged", func() bool { return must(q.Acked(ctx, "t", 1))(t) })
		})
	}
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
