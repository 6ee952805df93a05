package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/api/store"
	"benchd/worker/bench"
)

// A model is what the store should hold, kept in plain variables.
type model struct {
	store *store.Store
	host  string // of this check only
	runs  []*modelRun
}

type modelRun struct {
	run     bench.Run // as created
	waiting bool
	reason  bench.CancelReason
	trials  []modelTrial
}

type modelTrial struct {
	state         bench.State
	attempt       int
	least         int
	sent, started bool
	accepted      int // results
}

// testModel does random deeds in random order to a few runs and compares the store with
// the model after each.
func testModel(t *testing.T, s *store.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{store: s, host: newHost()}
		runs, trials, err := s.Counts(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create":   m.create,
			"assign":   m.assign,
			"dispatch": m.dispatch,
			"lose":     m.requeue,
			"start":    m.start,
			"finish":   m.finish,
			"end":      m.end,
			"cancel":   m.cancel,
			"":         m.check,
		})
		m.compareCounts(rt, runs, trials)
	})
}

func (m *model) create(t *rapid.T) {
	if len(m.runs) >= 3 {
		t.Skip("enough runs")
	}
	host := rapid.SampledFrom([]string{m.host, ""}).Draw(t, "host")
	n := rapid.IntRange(1, 3).Draw(t, "trials")
	run := createRun(t, m.store, NewRun(host, n))
	r := &modelRun{run: run, waiting: host == ""}
	for range n {
		r.trials = append(r.trials, modelTrial{state: bench.Queued, least: 1})
	}
	m.runs = append(m.runs, r)
}

// pick chooses a run, and one of its trials.
func (m *model) pick(t *rapid.T) (*modelRun, int, *modelTrial) {
	if len(m.runs) == 0 {
		t.Skip("no runs")
	}
	r := m.runs[rapid.IntRange(0, len(m.runs)-1).Draw(t, "run")]
	i := rapid.IntRange(0, len(r.trials)-1).Draw(t, "trial")
	return r, i, &r.trials[i]
}

func (r *modelRun) state() bench.State {
	var states []bench.State
	for _, tr := range r.trials {
		states = append(states, tr.state)
	}
	return bench.RunState(states, r.reason != "")
}

func (m *model) assign(t *rapid.T) {
	r, _, _ := m.pick(t)
	err := m.store.Assign(t.Context(), r.run.ID, m.host)
	switch {
	case r.state().Final():
		wantError(t, err, bench.Conflict, "final_state")
	case !r.waiting || r.reason != "":
		wantError(t, err, bench.Conflict, "already_assigned")
	case err != nil:
		t.Fatal(err)
	default:
		r.waiting = false
	}
}

func (m *model) dispatch(t *rapid.T) {
	orders := dispatch(t, m.store, m.host)
	var want []string
	for _, r := range m.runs {
		for i := range r.trials {
			if tr := &r.trials[i]; !r.waiting && tr.state == bench.Queued && !tr.sent {
				want = append(want, r.run.Trials[i].ID)
				tr.sent = true
			}
		}
	}
	var got []string
	for _, o := range orders {
		got = append(got, o.Trial)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("dispatched (-want +got):\n%s", diff)
	}
}

func (m *model) requeue(t *rapid.T) {
	r, i, tr := m.pick(t)
	if err := m.store.Requeue(t.Context(), []bench.Order{{Trial: r.run.Trials[i].ID, Attempt: tr.least}}); err != nil {
		t.Fatal(err)
	}
	switch {
	case !tr.sent || tr.started || tr.state.Final():
	case tr.state == bench.Canceling:
		tr.state = settled(bench.Canceled, r.reason)
	default:
		tr.sent = false
		tr.least++
	}
}

// settled is how a trial ends in a run that was canceled for a reason.
func settled(state bench.State, reason bench.CancelReason) bench.State {
	if state == bench.Canceled && reason == bench.CancelTimeout {
		return bench.Failed
	}
	return state
}

func (m *model) start(t *rapid.T) {
	r, i, tr := m.pick(t)
	attempt := rapid.IntRange(1, tr.least+1).Draw(t, "attempt")
	start(t, m.store, r.run, i, attempt)
	if tr.state.Final() || attempt < tr.least {
		return
	}
	tr.attempt, tr.least, tr.started = attempt, attempt, true
	if tr.state == bench.Queued {
		tr.state = bench.Running
	}
}

func (m *model) finish(t *rapid.T) {
	r, i, tr := m.pick(t)
	attempt := rapid.IntRange(1, tr.least+1).Draw(t, "attempt")
	state := rapid.SampledFrom([]bench.State{bench.Succeeded, bench.Failed, bench.Canceled}).Draw(t, "state")
	accepted := finish(t, m.store, r.run, i, attempt, state)
	if want := !tr.state.Final() && attempt >= tr.least; accepted != want {
		t.Fatalf("accepted %v, want %v", accepted, want)
	}
	if !accepted {
		return
	}
	tr.state, tr.attempt, tr.least = settled(state, r.reason), attempt, attempt
	if tr.accepted++; tr.accepted > 1 {
		t.Fatal("two results of one trial were accepted")
	}
}

func (m *model) end(t *rapid.T) {
	r, i, tr := m.pick(t)
	state := rapid.SampledFrom([]bench.State{bench.Lost, bench.Canceled}).Draw(t, "state")
	ended, err := m.store.EndTrial(t.Context(), r.run.Trials[i].ID, state, nil)
	if err != nil || ended == tr.state.Final() {
		t.Fatalf("ended %v, error %v, state before %s", ended, err, tr.state)
	}
	if tr.state == bench.Canceling && !tr.started {
		state = bench.Canceled
	}
	if ended {
		tr.state = settled(state, r.reason)
	}
}

func (m *model) cancel(t *rapid.T) {
	r, _, _ := m.pick(t)
	reason := rapid.SampledFrom([]bench.CancelReason{bench.CancelAsked, bench.CancelTimeout}).Draw(t, "reason")
	_, err := m.store.CancelRun(t.Context(), r.run.ID, reason)
	if r.state().Final() {
		wantError(t, err, bench.Conflict, "final_state")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.reason != "" {
		return
	}
	r.reason = reason
	for i := range r.trials {
		switch tr := &r.trials[i]; {
		case tr.state == bench.Queued && !tr.sent:
			tr.state = settled(bench.Canceled, reason)
		case !tr.state.Final():
			tr.state = bench.Canceling
		}
	}
}

// check compares the runs that the store gives with the model.
func (m *model) check(t *rapid.T) {
	for _, r := range m.runs {
		got := read(t, m.store, r.run.ID)
		if got.State != r.state() || got.State.Final() != (got.Finished != nil) {
			t.Fatalf("run %s, finished %v, want %s", got.State, got.Finished, r.state())
		}
		done := 0
		for i, want := range r.trials {
			tr := got.Trials[i]
			if tr.State != want.state || tr.Attempt != want.attempt {
				t.Fatalf("trial %d is %s at attempt %d, want %s at %d", i, tr.State, tr.Attempt, want.state, want.attempt)
			}
			if want.state.Final() {
				done++
			}
		}
		if got.Progress.Done != done {
			t.Fatalf("%d trials are done, want %d", got.Progress.Done, done)
		}
	}
}

// compareCounts checks how the counts of states changed during a check.
func (m *model) compareCounts(t *rapid.T, runs, trials map[bench.State]int64) {
	for _, r := range m.runs {
		runs[r.state()]++
		for _, tr := range r.trials {
			trials[tr.state]++
		}
	}
	gotRuns, gotTrials, err := m.store.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(runs, gotRuns) + cmp.Diff(trials, gotTrials); diff != "" {
		t.Fatalf("counts (-want +got):\n%s", diff)
	}
}
