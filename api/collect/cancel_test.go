package collect_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"benchd/worker/bench"
	"benchd/worker/queue/queuetest"
)

func TestCancelARunThatWaits(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			first, second, third := s.post(1, onBlue(), time.Hour), s.post(3, onBlue(), time.Hour), s.post(1, onBlue(), time.Hour)
			s.await(first.ID, bench.Running)
			s.within("the second is not in Redis", func() bool {
				d, err := s.queue.Depth(t.Context())
				return err == nil && d["run.blue"].Pending == 4
			})
			s.cancel(second.ID)
			s.await(second.ID, bench.Canceled)
			if d, err := s.queue.Depth(t.Context()); err != nil || d["run.blue"].Pending != 1 {
				t.Errorf("in Redis: %+v %v, want the third run's order only", d["run.blue"], err)
			}
			w.release(2)
			s.await(third.ID, bench.Succeeded)
			if got := w.trials(); !slices.Equal(got, []string{first.Trials[0].ID, third.Trials[0].ID}) {
				t.Errorf("measured %v", got)
			}
		})
	}
}

func TestCancelARunThatRuns(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(3, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			s.cancel(run.ID)
			s.cancelIsRepeatable(run.ID)
			got := s.await(run.ID, bench.Canceled)
			for _, trial := range got.Trials {
				if trial.State != bench.Canceled {
					t.Errorf("trial is %s", trial.State)
				}
			}
			time.Sleep(time.Second)
			if n := len(w.trials()); n != 1 {
				t.Errorf("%d trials were started, want the first one once", n)
			}
		})
	}
}

// cancelIsRepeatable asks again: nothing or a Conflict comes of it.
func (s *service) cancelIsRepeatable(id string) {
	s.t.Helper()
	_, err := s.Cancel(s.t.Context(), id, bench.CancelAsked)
	if e := bench.AsError(err); err != nil && (e == nil || e.Code != "final_state") {
		s.t.Errorf("canceled again: %v", err)
	}
}

// TestCancelStaysUntilTheProcessIsGone has a worker that is slow to stop.
func TestCancelStaysUntilTheProcessIsGone(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s := newService(t, r, nil)
	w := newWorker(t, r, "blue", held)
	run := s.post(1, onBlue(), time.Hour)
	s.await(run.ID, bench.Running)
	w.mu.Lock() // it can neither beat nor end its trial, for less than a heartbeat lasts
	s.cancel(run.ID)
	time.Sleep(time.Second)
	got := s.run(run.ID)
	w.mu.Unlock()
	if got.State != bench.Canceling {
		t.Errorf("%s while the process is there", got.State)
	}
	s.await(run.ID, bench.Canceled)
}

func TestCancelWhileTheHostIsAway(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(2, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			w.kill()
			s.cancel(run.ID)
			if got := s.run(run.ID).State; got != bench.Canceling {
				t.Errorf("%s, want canceling while nobody knows of the host's end", got)
			}
			s.await(run.ID, bench.Canceled)
			w.thaw() // and now it comes back
			w.release(2)
			time.Sleep(time.Second)
			if got := s.run(run.ID); got.State != bench.Canceled || got.Trials[0].State != bench.Canceled {
				t.Errorf("the late result was taken: %s, %s", got.State, got.Trials[0].State)
			}
			if n := len(w.trials()); n != 1 {
				t.Errorf("%d trials were started", n)
			}
		})
	}
}

// TestCancelSurvivesTheLossOfItsKey empties Redis while a host is slow to hear of a
// cancellation.
func TestCancelSurvivesTheLossOfItsKey(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(2, onBlue(), time.Hour)
			s.await(run.ID, bench.Running)
			w.set(func() { w.deaf = true })
			s.cancel(run.ID)
			s.within("no key", func() bool { _, yes, err := s.queue.Canceled(t.Context(), run.Trials[0].ID); return yes && err == nil })
			r.Do(t, "FLUSHALL")
			s.within("the key stays lost", func() bool { _, yes, err := s.queue.Canceled(t.Context(), run.Trials[0].ID); return yes && err == nil })
			w.set(func() { w.deaf = false })
			s.await(run.ID, bench.Canceled)
		})
	}
}
