package collect_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"benchd/worker/bench"
	"benchd/worker/queue"
	"benchd/worker/queue/queuetest"
)

func (s *service) wantLost(run bench.Run, code string) {
	s.t.Helper()
	trial := run.Trials[0]
	if trial.State != bench.Lost || trial.Error == nil || trial.Error.Code != code {
		s.t.Errorf("the trial is %s, %+v; want lost, %s", trial.State, trial.Error, code)
	}
}

func TestAKilledWorkersTrialIsLost(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(1, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			w.kill()
			s.wantLost(s.await(run.ID, bench.Lost), "host_gone")
			s.within("the worker is not told to stop", func() bool {
				why, yes, err := s.queue.Canceled(t.Context(), run.Trials[0].ID)
				return yes && why == bench.CancelLost && err == nil
			})
			// The host comes back as another process and takes new runs.
			again := newWorker(t, r, "blue", nil)
			next := s.post(2, onBlue(), time.Hour)
			s.await(next.ID, bench.Succeeded)
			if got := again.trials(); !slices.Equal(got, ids(next)) {
				t.Errorf("measured %v", got)
			}
		})
	}
}

func TestARestartedWorkersTrialIsLost(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(1, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			time.Sleep(fast().BeatTTL) // past the patience after a start
			w.kill()
			newWorker(t, r, "blue", nil)
			s.wantLost(s.await(run.ID, bench.Lost), "worker_restarted")
		})
	}
}

func TestATrialThatItsWorkerDroppedIsLost(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(1, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			w.set(func() { w.forget = true })
			s.wantLost(s.await(run.ID, bench.Lost), "trial_dropped")
		})
	}
}

func TestAStartWithoutAReportIsLostAndNotRepeated(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", func(w *worker) { w.hold, w.mute = true, true })
			run := s.post(1, onBlue(), time.Hour)
			s.within("not started", func() bool { return len(w.trials()) == 1 })
			w.kill()
			s.wantLost(s.await(run.ID, bench.Lost), "trial_dropped")
			again := newWorker(t, r, "blue", nil)
			time.Sleep(time.Second)
			if got := again.trials(); len(got) > 0 {
				t.Errorf("measured %v again", got)
			}
		})
	}
}

func TestAFrozenWorkersLateResultIsRefused(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s, ctx := newService(t, r, nil), t.Context()
			w := newWorker(t, r, "blue", held)
			run := s.post(2, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			late := run.Trials[1]
			// Its order is lost and queued again; then a worker that was frozen reports of the old one.
			s.within("not in Redis", func() bool { return s.out(late.ID) == 1 })
			s.within("not removed", func() bool {
				ok, err := s.queue.Remove(ctx, bench.Order{Trial: late.ID, Host: "blue", Attempt: 1})
				return ok && err == nil
			})
			s.within("not queued again", func() bool { return s.out(late.ID) == 2 })
			old := bench.Report{
				Kind: bench.Finished, Run: run.ID, Trial: late.ID, Attempt: 1, Host: "blue", At: time.Now(),
				Result: &bench.TrialResult{ID: late.ID, State: bench.Failed, Attempt: 1},
			}
			if err := s.queue.Send(ctx, old); err != nil {
				t.Fatal(err)
			}
			s.within("the refused result is not acknowledged", func() bool { ok, err := s.queue.Acked(ctx, late.ID, 1); return ok && err == nil })
			if got := s.run(run.ID).Trials[1].State; got != bench.Queued {
				t.Fatalf("the late result was taken: %s", got)
			}
			w.release(2)
			if got := s.await(run.ID, bench.Succeeded); got.Trials[1].Attempt != 2 {
				t.Errorf("attempt %d", got.Trials[1].Attempt)
			}
		})
	}
}

// out gives the attempt under which a trial was dispatched, or 0.
func (s *service) out(trial string) int {
	orders, err := s.store.Dispatched(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range orders {
		if ok, err := s.queue.Queued(s.t.Context(), o); o.Trial == trial && ok && err == nil {
			return o.Attempt
		}
	}
	return 0
}

func TestASecondStartIsRefused(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(1, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			o := bench.Order{Run: run.ID, Trial: run.Trials[0].ID, Host: "blue", Attempt: 1}
			if _, err := s.queue.Start(t.Context(), o); !errors.Is(err, queue.ErrStarted) {
				t.Errorf("started again: %v", err)
			}
			w.release(1)
			s.await(run.ID, bench.Succeeded)
			// asynq delivers the same order once more.
			if err := s.queue.Enqueue(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			s.within("it stays in Redis", func() bool { ok, err := s.queue.Queued(t.Context(), o); return !ok && err == nil })
			if got := w.trials(); len(got) != 1 {
				t.Errorf("measured %v", got)
			}
		})
	}
}

func TestAWorkersEndRunsNothingAgain(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(3, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			w.stop()
			s.within("the trial that ran has not ended", func() bool { return s.run(run.ID).Trials[0].State == bench.Lost })
			again := newWorker(t, r, "blue", nil)
			s.await(run.ID, bench.Lost)
			if got := again.trials(); !sameTrials(got, ids(run)[1:]) {
				t.Errorf("measured %v, want the two that waited", got)
			}
		})
	}
}

func TestRedisEmptiedInMidRun(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(4, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			s.within("not in Redis", func() bool { return s.out(run.Trials[3].ID) == 1 })
			r.Do(t, "FLUSHALL")
			s.within("the trial that ran is not lost", func() bool { return s.run(run.ID).Trials[0].State == bench.Lost })
			s.wantLost(s.run(run.ID), "redis_emptied")
			w.release(1000)
			got := s.await(run.ID, bench.Lost)
			for _, trial := range got.Trials[1:] {
				if trial.State != bench.Succeeded || trial.Attempt != 2 {
					t.Errorf("a trial that waited: %s, attempt %d, %+v", trial.State, trial.Attempt, trial.Error)
				}
			}
			if got := w.trials(); !sameTrials(got, ids(run)) {
				t.Errorf("measured %v, want each once", got)
			}
			// The loss was dealt with: what runs next is not held against it.
			next := s.post(1, onBlue(), time.Hour)
			s.await(next.ID, bench.Succeeded)
		})
	}
}

func TestAResultThatWasFinishedSurvivesTheLossOfRedis(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(2, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			r.Do(t, "FLUSHALL")
			w.release(2)
			s.await(run.ID, bench.Succeeded)
		})
	}
}

func TestResultsFinishedWhileRedisIsAwayArrive(t *testing.T) {
	t.Parallel()
	r := queuetest.Own(t, os.Getenv)
	s := newService(t, r, nil)
	w := newWorker(t, r, "blue", held)
	run := s.post(3, onBlue(), time.Hour)
	s.await(run.ID, bench.Running)
	r.Stop()
	w.release(1)
	s.within("the trial goes on", func() bool { return !w.runs() })
	w.release(2)
	if got := s.run(run.ID).State; got != bench.Running {
		t.Errorf("%s while Redis is away", got)
	}
	time.Sleep(time.Second)
	r.Start(t) // and it is empty
	s.await(run.ID, bench.Succeeded)
	if got := w.trials(); !sameTrials(got, ids(run)) {
		t.Errorf("measured %v, want each once", got)
	}
}

// TestNobodyIsLostWhileRedisIsAway lets all heartbeats run out while Redis is down, with its
// data on disk.
func TestNobodyIsLostWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	r := queuetest.Own(t, os.Getenv, "--appendonly", "yes", "--appendfsync", "always")
	s := newService(t, r, nil)
	w := newWorker(t, r, "blue", held)
	run := s.post(1, onBlue(), time.Hour)
	s.await(run.ID, bench.Running)
	time.Sleep(fast().BeatTTL)
	r.Stop()
	time.Sleep(2 * fast().BeatTTL)
	r.Start(t, "--appendonly", "yes")
	s.within("no heartbeat comes", func() bool { b, err := s.queue.Beats(t.Context()); return err == nil && len(b) == 1 })
	time.Sleep(2 * fast().BeatTTL)
	if got := s.run(run.ID); got.State != bench.Running {
		t.Errorf("%s: %+v", got.State, got.Trials[0].Error)
	}
	w.release(1)
	s.await(run.ID, bench.Succeeded)
}

func TestAMissingOrderIsQueuedAgain(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(2, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			s.within("not in Redis", func() bool { return s.out(run.Trials[1].ID) == 1 })
			if _, err := s.queue.Remove(t.Context(), bench.Order{Trial: run.Trials[1].ID, Host: "blue", Attempt: 1}); err != nil {
				t.Fatal(err)
			}
			w.release(2)
			if got := s.await(run.ID, bench.Succeeded); got.Trials[1].Attempt != 2 {
				t.Errorf("attempt %d", got.Trials[1].Attempt)
			}
		})
	}
}

// TestARestartedCollectorGoesOn replaces the whole of Redis and the collector, as a restart
// of the service with the embedded Redis does.
func TestARestartedCollectorGoesOn(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s := newService(t, r, nil)
	w := newWorker(t, r, "blue", held)
	run := s.post(3, onBlue(), time.Hour)
	s.await(run.ID, bench.Running)
	s.stop()
	w.kill()
	r.Do(t, "FLUSHALL")
	s.collector(nil)
	again := newWorker(t, r, "blue", nil)
	got := s.await(run.ID, bench.Lost)
	if got.Trials[0].State != bench.Lost || !sameTrials(again.trials(), ids(run)[1:]) {
		t.Errorf("the first is %s, measured %v", got.Trials[0].State, again.trials())
	}
}

func TestAReportOfAnUnknownTrialIsDropped(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s, ctx := newService(t, r, nil), t.Context()
	stray := bench.Report{Kind: bench.Finished, Run: id(), Trial: id(), Attempt: 1, Host: "blue", At: time.Now(), Result: &bench.TrialResult{State: bench.Succeeded}}
	if err := s.queue.Send(ctx, stray); err != nil {
		t.Fatal(err)
	}
	s.within("it is not acknowledged", func() bool { ok, err := s.queue.Acked(ctx, stray.Trial, 1); return ok && err == nil })
}

// sameTrials compares regardless of order: what was lost and queued again comes later.
func sameTrials(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// TestAnOrderIsTakenBackOnce has two collectors find the same order missing.
func TestAnOrderIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	s, ctx := newService(t, queuetest.Embedded(t), nil), t.Context()
	s.stop()
	s.post(1, onBlue(), time.Hour)
	next := func() []bench.Order {
		orders, err := s.store.Undispatched(ctx, "blue", 10)
		if err == nil {
			orders, err = s.store.MarkDispatched(ctx, orders)
		}
		if err != nil {
			t.Fatal(err)
		}
		return orders
	}
	first := next()
	if err := s.store.Requeue(ctx, first); err != nil {
		t.Fatal(err)
	}
	if second := next(); len(second) != 1 || second[0].Attempt != first[0].Attempt+1 {
		t.Fatalf("queued again as %+v", second)
	}
	if err := s.store.Requeue(ctx, first); err != nil {
		t.Fatal(err)
	}
	if third := next(); len(third) != 0 {
		t.Errorf("taken back twice: %+v", third)
	}
}
