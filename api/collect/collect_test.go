package collect_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"benchd/api/collect"
	"benchd/worker/bench"
	"benchd/worker/queue/queuetest"
)

func held(w *worker) { w.hold = true }

func ids(run bench.Run) []string {
	var out []string
	for _, t := range run.Trials {
		out = append(out, t.ID)
	}
	return out
}

func TestTrialsAreMeasuredInOrderAWindowAtATime(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, func(c *collect.Config) { c.Times.Window = 3 })
			w := newWorker(t, r, "blue", held)
			run := s.post(9, onBlue(), time.Hour)
			for i := range run.Trials {
				s.within("no trial begins", func() bool { return len(w.trials()) == i+1 })
				depth, err := s.queue.Depth(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				// Three that wait, and the one whose start was reported.
				if n := depth["run.blue"].Pending + depth["run.blue"].Active; n > 4 {
					t.Fatalf("%d orders are in Redis", n)
				}
				w.release(1)
			}
			s.await(run.ID, bench.Succeeded)
			if got := w.trials(); !slices.Equal(got, ids(run)) {
				t.Errorf("measured %v, want %v", got, ids(run))
			}
		})
	}
}

// runs says whether a trial is being measured.
func (w *worker) runs() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running != nil
}

func TestARunWaitsForAHost(t *testing.T) {
	t.Parallel()
	zone := map[string]string{"zone": "a"}
	rows := []struct {
		name  string
		hosts bench.HostSelector
		fits  error
		want  string
	}{
		{"any host", bench.HostSelector{}, nil, "no live host"},
		{"label", bench.HostSelector{Labels: zone}, nil, "no live host with label zone=a"},
		{"labels", bench.HostSelector{Labels: map[string]string{"zone": "a", "cpu": "big"}}, nil, "no live host with labels cpu=big, zone=a"},
		{"named", onBlue(), nil, "host blue has sent no heartbeat since "},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := queuetest.Embedded(t)
			s := newService(t, r, nil)
			if err := s.store.SaveHost(t.Context(), bench.Host{Name: "blue", LastSeen: time.Now()}); err != nil {
				t.Fatal(err)
			}
			run := s.post(2, row.hosts, time.Hour)
			s.within("no reason", func() bool { return s.run(run.ID).Reason != "" })
			if got := s.run(run.ID); got.State != bench.Queued || !strings.HasPrefix(got.Reason, row.want) {
				t.Errorf("%s: %q, want %q", got.State, got.Reason, row.want)
			}
			newWorker(t, r, "blue", func(w *worker) { w.labels = map[string]string{"zone": "a", "cpu": "big"} })
			if got := s.await(run.ID, bench.Succeeded); got.Reason != "" || !slices.Equal(got.Hosts, []string{"blue"}) {
				t.Errorf("on %v, reason %q", got.Hosts, got.Reason)
			}
		})
	}
}

func TestTheReasonGoesWhenTheHostComes(t *testing.T) {
	t.Parallel()
	r := queuetest.Embedded(t)
	s := newService(t, r, nil)
	if err := s.store.SaveHost(t.Context(), bench.Host{Name: "blue"}); err != nil {
		t.Fatal(err)
	}
	first, second := s.post(1, onBlue(), time.Hour), s.post(1, onBlue(), time.Hour)
	s.within("no reason", func() bool { return s.run(second.ID).Reason != "" })
	w := newWorker(t, r, "blue", held)
	s.await(first.ID, bench.Running)
	if got := s.run(second.ID); got.State != bench.Queued || got.Reason != "" {
		t.Errorf("%s: %q", got.State, got.Reason)
	}
	w.release(2)
	s.await(second.ID, bench.Succeeded)
}

func TestTheLeastBusyHostThatFitsIsChosen(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, func(c *collect.Config) {
				c.Fits = func(_ bench.Case, _ bench.Plan, l bench.Limits) error {
					if l.Clients < 10 {
						return errors.New("too few clients")
					}
					return nil
				}
			})
			newWorker(t, r, "tiny", func(w *worker) { w.limits.Clients = 1 })
			s.within("tiny is not live", func() bool { return s.live("tiny") })
			a := s.post(3, bench.HostSelector{}, time.Hour)
			s.within("no reason", func() bool { return s.run(a.ID).Reason != "" })
			if got := s.run(a.ID).Reason; got != "no live host allows it; host tiny: too few clients" {
				t.Errorf("reason %q", got)
			}
			newWorker(t, r, "green", held)
			s.within("not assigned", func() bool { return len(s.run(a.ID).Hosts) > 0 })
			newWorker(t, r, "blue", held)
			s.within("blue is not live", func() bool { return s.live("blue") })
			b := s.post(1, bench.HostSelector{}, time.Hour)
			s.within("not assigned", func() bool { return len(s.run(b.ID).Hosts) > 0 })
			c := s.post(1, bench.HostSelector{}, time.Hour)
			s.within("not assigned", func() bool { return len(s.run(c.ID).Hosts) > 0 })
			for run, want := range map[string]string{a.ID: "green", b.ID: "blue", c.ID: "blue"} {
				if got := s.run(run).Hosts; !slices.Equal(got, []string{want}) {
					t.Errorf("on %v, want %s", got, want)
				}
			}
		})
	}
}

func (s *service) live(name string) bool {
	h, err := s.store.Host(s.t.Context(), name)
	return err == nil && h.Live
}

func TestHostsAreRemembered(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", func(w *worker) { w.labels = map[string]string{"zone": "a"}; w.hold = true })
			s.within("blue is not live", func() bool { return s.live("blue") })
			run := s.post(1, onBlue(), time.Hour)
			s.within("it is not seen measuring", func() bool {
				h, err := s.store.Host(t.Context(), "blue")
				return err == nil && h.Running != nil && h.Running.Run == run.ID
			})
			w.kill()
			s.within("blue is live", func() bool { return !s.live("blue") })
			h, err := s.store.Host(t.Context(), "blue")
			if err != nil || h.Labels["zone"] != "a" || h.Running != nil || time.Since(h.LastSeen) > time.Minute {
				t.Errorf("%+v %v", h, err)
			}
		})
	}
}

func TestTwoCollectorsMeasureNothingTwice(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			other, _ := s.collector(nil)
			w := newWorker(t, r, "blue", nil)
			var want []string
			for range 5 {
				run := s.post(8, onBlue(), time.Hour)
				other.Wake()
				want = append(want, ids(run)...)
				defer s.await(run.ID, bench.Succeeded)
			}
			s.within("not all were measured", func() bool { return len(w.trials()) >= len(want) })
			time.Sleep(time.Second)
			got := w.trials()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d trials were measured, want each of %d once", len(got), len(want))
			}
		})
	}
}

func TestAnOverdueRunFails(t *testing.T) {
	t.Parallel()
	for name, start := range queuetest.Kinds(os.Getenv) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			s := newService(t, r, nil)
			w := newWorker(t, r, "blue", held)
			run := s.post(3, onBlue(), time.Second)
			s.await(run.ID, bench.Running)
			got := s.await(run.ID, bench.Failed)
			for _, trial := range got.Trials {
				if trial.State != bench.Failed || trial.Error == nil || trial.Error.Code != "run_timed_out" {
					t.Errorf("trial %s: %s %+v", trial.ID, trial.State, trial.Error)
				}
			}
			if n := len(w.trials()); n != 1 {
				t.Errorf("%d trials were started", n)
			}
		})
	}
}
