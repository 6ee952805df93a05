package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/worker/bench"
)

// A deed is one thing done to the only trial of a run, and whether it was accepted.
type deed func(t *testing.T, s *store.Store, run bench.Run)

func started(attempt int) deed {
	return func(t *testing.T, s *store.Store, run bench.Run) { t.Helper(); start(t, s, run, 0, attempt) }
}

func finished(attempt int, state bench.State, accepted bool) deed {
	return func(t *testing.T, s *store.Store, run bench.Run) {
		t.Helper()
		if got := finish(t, s, run, 0, attempt, state); got != accepted {
			t.Errorf("result %s of attempt %d: accepted %v, want %v", state, attempt, got, accepted)
		}
	}
}

func ended(state bench.State, accepted bool) deed {
	return func(t *testing.T, s *store.Store, run bench.Run) {
		t.Helper()
		got, err := s.EndTrial(t.Context(), run.Trials[0].ID, state, &bench.TrialError{Code: "host_lost", Message: "The host went away."})
		if err != nil || got != accepted {
			t.Errorf("end as %s: accepted %v, error %v, want %v", state, got, err, accepted)
		}
	}
}

func dispatched(t *testing.T, s *store.Store, run bench.Run) {
	t.Helper()
	if got := dispatch(t, s, run.Trials[0].Host); len(got) != 1 {
		t.Errorf("%d orders, want 1", len(got))
	}
}

func requeued(t *testing.T, s *store.Store, run bench.Run) {
	t.Helper()
	if err := s.Requeue(t.Context(), []bench.Order{{Trial: run.Trials[0].ID, Attempt: 1}}); err != nil {
		t.Error(err)
	}
}

func canceled(reason bench.CancelReason) deed {
	return func(t *testing.T, s *store.Store, run bench.Run) {
		t.Helper()
		if _, err := s.CancelRun(t.Context(), run.ID, reason); err != nil {
			t.Error(err)
		}
	}
}

// testTrial walks single trials along their ways.
func testTrial(t *testing.T, s *store.Store) {
	for _, row := range []struct {
		name    string
		deeds   []deed
		state   bench.State
		run     bench.State
		attempt int
		code    string // of the trial's error
	}{
		{"started", []deed{started(1)}, bench.Running, bench.Running, 1, ""},
		{"started twice", []deed{started(1), started(1)}, bench.Running, bench.Running, 1, ""},
		{"started again", []deed{started(1), started(2)}, bench.Running, bench.Running, 2, ""},
		{"an older start", []deed{started(2), started(1)}, bench.Running, bench.Running, 2, ""},
		{"succeeded", []deed{started(1), finished(1, bench.Succeeded, true)}, bench.Succeeded, bench.Succeeded, 1, ""},
		{"failed", []deed{started(1), finished(1, bench.Failed, true)}, bench.Failed, bench.Failed, 1, "open_failed"},
		{"the same result twice", []deed{finished(1, bench.Succeeded, true), finished(1, bench.Succeeded, false)}, bench.Succeeded, bench.Succeeded, 1, ""},
		{"another result", []deed{finished(1, bench.Succeeded, true), finished(2, bench.Failed, false)}, bench.Succeeded, bench.Succeeded, 1, ""},
		{"finished before started", []deed{finished(1, bench.Succeeded, true), started(1)}, bench.Succeeded, bench.Succeeded, 1, ""},
		{"result of an older attempt", []deed{started(2), finished(1, bench.Succeeded, false)}, bench.Running, bench.Running, 2, ""},
		{"result of a newer attempt", []deed{started(1), finished(2, bench.Succeeded, true)}, bench.Succeeded, bench.Succeeded, 2, ""},
		{"lost", []deed{started(1), ended(bench.Lost, true)}, bench.Lost, bench.Lost, 1, "host_lost"},
		{"result after lost", []deed{started(1), ended(bench.Lost, true), finished(1, bench.Succeeded, false)}, bench.Lost, bench.Lost, 1, "host_lost"},
		{"lost after result", []deed{started(1), finished(1, bench.Succeeded, true), ended(bench.Lost, false)}, bench.Succeeded, bench.Succeeded, 1, ""},
		{"order lost", []deed{dispatched, requeued, dispatched}, bench.Queued, bench.Queued, 0, ""},
		{"report of a lost order", []deed{dispatched, requeued, started(1), finished(1, bench.Succeeded, false)}, bench.Queued, bench.Queued, 0, ""},
		{"report of the order after it", []deed{dispatched, requeued, started(2), finished(2, bench.Succeeded, true)}, bench.Succeeded, bench.Succeeded, 2, ""},
		{"order lost after the start", []deed{dispatched, started(1), requeued}, bench.Running, bench.Running, 1, ""},
		{"canceled while it waits", []deed{canceled(bench.CancelAsked)}, bench.Canceled, bench.Canceled, 0, "canceled"},
		{"canceled in the queue", []deed{dispatched, canceled(bench.CancelAsked)}, bench.Canceling, bench.Canceling, 0, ""},
		{"canceled in the queue, then removed", []deed{dispatched, canceled(bench.CancelAsked), ended(bench.Canceled, true)}, bench.Canceled, bench.Canceled, 0, "host_lost"},
		{"canceled in the queue, then lost with it", []deed{dispatched, canceled(bench.CancelAsked), requeued}, bench.Canceled, bench.Canceled, 0, "canceled"},
		{"canceled in the queue, then given up", []deed{dispatched, canceled(bench.CancelAsked), ended(bench.Lost, true)}, bench.Canceled, bench.Canceled, 0, "canceled"},
		{"canceled in the queue, started all the same", []deed{dispatched, canceled(bench.CancelAsked), started(1)}, bench.Canceling, bench.Canceling, 1, ""},
		{"canceled in the queue, started, host lost", []deed{dispatched, canceled(bench.CancelAsked), started(1), ended(bench.Lost, true)}, bench.Lost, bench.Lost, 1, "host_lost"},
		{"canceled while it runs", []deed{started(1), canceled(bench.CancelAsked)}, bench.Canceling, bench.Canceling, 1, ""},
		{"canceled twice", []deed{started(1), canceled(bench.CancelAsked), canceled(bench.CancelTimeout)}, bench.Canceling, bench.Canceling, 1, ""},
		{"stopped", []deed{started(1), canceled(bench.CancelAsked), finished(1, bench.Canceled, true)}, bench.Canceled, bench.Canceled, 1, "open_failed"},
		{"done before it could stop", []deed{started(1), canceled(bench.CancelAsked), finished(1, bench.Succeeded, true)}, bench.Succeeded, bench.Succeeded, 1, ""},
		{"timed out while it waits", []deed{canceled(bench.CancelTimeout)}, bench.Failed, bench.Failed, 0, "run_timed_out"},
		{"timed out while it runs", []deed{started(1), canceled(bench.CancelTimeout), finished(1, bench.Canceled, true)}, bench.Failed, bench.Failed, 1, "run_timed_out"},
		{"timed out in the queue", []deed{dispatched, canceled(bench.CancelTimeout), ended(bench.Canceled, true)}, bench.Failed, bench.Failed, 0, "run_timed_out"},
	} {
		t.Run(row.name, func(t *testing.T) {
			run := create(t, s, newHost(), 1)
			for _, do := range row.deeds {
				do(t, s, run)
			}
			got := read(t, s, run.ID)
			tr := got.Trials[0]
			code := ""
			if tr.Error != nil {
				code = tr.Error.Code
			}
			if tr.State != row.state || got.State != row.run || tr.Attempt != row.attempt || code != row.code {
				t.Errorf("trial %s, run %s, attempt %d, error %q; want %s, %s, %d, %q", tr.State, got.State, tr.Attempt, code, row.state, row.run, row.attempt, row.code)
			}
			if row.state.Final() != (tr.Finished != nil) || row.run.Final() != (got.Finished != nil) {
				t.Errorf("trial finished %v, run finished %v", tr.Finished, got.Finished)
			}
			if (tr.State == bench.Running) && (tr.Started == nil || got.Started == nil) {
				t.Errorf("trial started %v, run started %v", tr.Started, got.Started)
			}
		})
	}
}

// testRunStates ends the trials of runs of three in every mixture.
func testRunStates(t *testing.T, s *store.Store) {
	finals := []bench.State{bench.Succeeded, bench.Failed, bench.Lost}
	for n := range len(finals) * len(finals) * len(finals) {
		run := create(t, s, "blue", 3)
		var states []bench.State
		for i, left := 0, n; i < 3; i, left = i+1, left/len(finals) {
			state := finals[left%len(finals)]
			start(t, s, run, i, 1)
			finish(t, s, run, i, 1, state)
			states = append(states, state)
			got := read(t, s, run.ID)
			if i < 2 && (got.State != bench.Running || got.Reason != "") {
				t.Errorf("after %v the run is %s (%s)", states, got.State, got.Reason)
			}
			if got.Progress.Done != i+1 {
				t.Errorf("after %v %d are done", states, got.Progress.Done)
			}
		}
		want := bench.RunState(states, false)
		if got := read(t, s, run.ID); got.State != want || (got.Reason == "") != (want == bench.Succeeded) {
			t.Errorf("after %v the run is %s (%q), want %s", states, got.State, got.Reason, want)
		}
	}
}

func testCancel(t *testing.T, s *store.Store) {
	run := create(t, s, newHost(), 4)
	finish(t, s, run, 0, 1, bench.Succeeded)
	start(t, s, run, 1, 1)
	got, err := s.CancelRun(t.Context(), run.ID, bench.CancelAsked)
	if err != nil {
		t.Fatal(err)
	}
	var states []bench.State
	for _, tr := range got.Trials {
		states = append(states, tr.State)
	}
	want := []bench.State{bench.Succeeded, bench.Canceling, bench.Canceled, bench.Canceled}
	if diff := cmp.Diff(want, states); diff != "" || got.State != bench.Canceling || got.Reason == "" {
		t.Errorf("run %s (%q), trials (-want +got):\n%s", got.State, got.Reason, diff)
	}
	if diff := cmp.Diff(got, read(t, s, run.ID)); diff != "" {
		t.Errorf("what CancelRun gave and what is stored differ (-gave +stored):\n%s", diff)
	}
	if again, err := s.CancelRun(t.Context(), run.ID, bench.CancelAsked); err != nil || again.State != bench.Canceling {
		t.Errorf("asked again: %s, error %v", again.State, err)
	}
	finish(t, s, run, 1, 1, bench.Canceled)
	_, err = s.CancelRun(t.Context(), run.ID, bench.CancelAsked)
	wantError(t, err, bench.Conflict, "final_state")
	if orders := dispatch(t, s, run.Trials[0].Host); len(orders) != 0 {
		t.Errorf("%d orders of a canceled run", len(orders))
	}
	if _, err := s.CancelRun(t.Context(), run.ID, bench.CancelLost); err == nil {
		t.Error("a run was canceled as lost")
	}
}

func testUnknown(t *testing.T, s *store.Store) {
	ctx, run := t.Context(), NewRun("blue", 1)
	finishedReport := report(run, 0, 1)
	finishedReport.Result = &bench.TrialResult{State: bench.Succeeded}
	for _, row := range []struct {
		name, code string
		do         func() error
	}{
		{"Run", "unknown_run", func() error { _, err := s.Run(ctx, run.ID); return err }},
		{"Version", "unknown_run", func() error { _, err := s.Version(ctx, run.ID); return err }},
		{"CancelRun", "unknown_run", func() error { _, err := s.CancelRun(ctx, run.ID, bench.CancelAsked); return err }},
		{"Result", "unknown_run", func() error { _, err := s.Result(ctx, run.ID); return err }},
		{"Assign", "unknown_run", func() error { return s.Assign(ctx, run.ID, "blue") }},
		{"RecordStarted", "unknown_trial", func() error { return s.RecordStarted(ctx, report(run, 0, 1)) }},
		{"RecordFinished", "unknown_trial", func() error { _, err := s.RecordFinished(ctx, finishedReport); return err }},
		{"EndTrial", "unknown_trial", func() error { _, err := s.EndTrial(ctx, run.Trials[0].ID, bench.Lost, nil); return err }},
		{"Requeue", "unknown_trial", func() error { return s.Requeue(ctx, []bench.Order{{Trial: run.Trials[0].ID}}) }},
		{"Host", "unknown_host", func() error { _, err := s.Host(ctx, "nobody"); return err }},
	} {
		t.Run(row.name, func(t *testing.T) { wantError(t, row.do(), bench.NotFound, row.code) })
	}
	_, err := s.RecordFinished(ctx, report(run, 0, 1))
	wantError(t, err, bench.Invalid, "bad_report")
	if _, err := s.EndTrial(ctx, run.Trials[0].ID, bench.Running, nil); err == nil {
		t.Error("a trial was ended as running")
	}
}

func testOverdue(t *testing.T, s *store.Store) {
	run := create(t, s, newHost(), 2)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	overdue := func(after time.Duration) string {
		t.Helper()
		ids, err := s.Overdue(t.Context(), at.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(ids)
	}
	none, one := "[]", "["+run.ID+"]"
	if got := overdue(1000 * time.Hour); got != none {
		t.Errorf("a run that has not started is overdue: %s", got)
	}
	for i := range 2 { // the first start counts
		r := report(run, i, 1)
		r.At = at.Add(time.Duration(i) * time.Second)
		if err := s.RecordStarted(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, s, run.ID).Started; got == nil || !got.Equal(at) {
		t.Errorf("started %v, want %v", got, at)
	}
	if early, late := overdue(time.Minute-time.Microsecond), overdue(time.Minute); early != none || late != one {
		t.Errorf("just before the timeout %s, at it %s", early, late)
	}
	if _, err := s.CancelRun(t.Context(), run.ID, bench.CancelTimeout); err != nil {
		t.Fatal(err)
	}
	if got := overdue(time.Hour); got != none {
		t.Errorf("overdue after it was canceled for that: %s", got)
	}
	finish(t, s, run, 0, 1, bench.Canceled)
	finish(t, s, run, 1, 1, bench.Succeeded)
	got := read(t, s, run.ID)
	if got.State != bench.Failed || got.Trials[0].Error.Code != "run_timed_out" || got.Trials[1].State != bench.Succeeded {
		t.Errorf("run %s, trials %+v", got.State, got.Trials)
	}
}
