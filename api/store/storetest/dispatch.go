package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/worker/bench"
)

func testAssign(t *testing.T, s *store.Store) {
	host, run := newHost(), create(t, s, "", 3)
	if err := s.SetReason(t.Context(), run.ID, "no live host"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, run.ID); got.Reason != "no live host" {
		t.Errorf("reason %q", got.Reason)
	}
	if err := s.Assign(t.Context(), run.ID, host); err != nil {
		t.Fatal(err)
	}
	got := read(t, s, run.ID)
	if len(got.Hosts) != 1 || got.Hosts[0] != host || got.Reason != "" || got.State != bench.Queued {
		t.Errorf("hosts %v, reason %q, state %s", got.Hosts, got.Reason, got.State)
	}
	for _, tr := range got.Trials {
		if tr.Host != host {
			t.Errorf("trial on %q, want %q", tr.Host, host)
		}
	}
	if ids := pages(t, s, store.Filter{Host: host, Limit: 5}); len(ids) != 1 {
		t.Errorf("runs found by the host: %v", ids)
	}
	wantError(t, s.Assign(t.Context(), run.ID, newHost()), bench.Conflict, "already_assigned")
	waiting := create(t, s, "", 1)
	if _, err := s.CancelRun(t.Context(), waiting.ID, bench.CancelAsked); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Assign(t.Context(), waiting.ID, host), bench.Conflict, "final_state")
	if err := s.SetReason(t.Context(), waiting.ID, "late"); err != nil || read(t, s, waiting.ID).Reason == "late" {
		t.Errorf("reason of an ended run was changed, error %v", err)
	}
	if left, err := s.Unassigned(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("%d runs still wait, error %v", len(left), err)
	}
}

// testUnassigned has many runs that wish the same before one that wishes something else.
func testUnassigned(t *testing.T, s *store.Store) {
	create(t, s, "blue", 1)
	var first bench.Run
	for i := range 120 {
		if run := create(t, s, "", 2); i == 0 {
			first = run
		}
	}
	other := NewRun("", 1)
	other.Spec.Hosts.Labels = map[string]string{"zone": "a"}
	createRun(t, s, other)
	waiting, err := s.Unassigned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(waiting) != 101 {
		t.Fatalf("%d runs wait, want the first 100 and the other one", len(waiting))
	}
	want := store.Waiting{RunID: first.ID, Spec: first.Spec, Created: first.Created, Cases: []bench.Case{first.Trials[0].Case(), first.Trials[1].Case()}}
	if diff := cmp.Diff(want, waiting[0]); diff != "" {
		t.Errorf("oldest (-want +got):\n%s", diff)
	}
	if last := waiting[100]; last.RunID != other.ID || last.Selector.Labels["zone"] != "a" {
		t.Errorf("last %+v, want run %s", last, other.ID)
	}
}

// testInterleaved has the first trial's order carry the others of its run, beyond the number
// asked for, and only those that can still be measured.
func testInterleaved(t *testing.T, s *store.Store) {
	host := newHost()
	before := create(t, s, host, 1)
	run := NewRun(host, 4)
	run.Spec.Plan.Order = bench.Interleaved
	createRun(t, s, run)
	after := create(t, s, host, 1)
	got, err := s.Undispatched(t.Context(), host, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Run != before.ID || got[1].Run != run.ID || len(got[1].With) != 3 {
		t.Fatalf("orders %+v", got)
	}
	for i, o := range got[1].All() {
		if o.Trial != run.Trials[i].ID || o.Attempt != 1 || o.Plan.Order != bench.Interleaved || len(o.With) != 0 {
			t.Errorf("order %d of the run is %+v", i, o)
		}
	}
	marked, err := s.MarkDispatched(t.Context(), got)
	if diff := cmp.Diff(got, marked); err != nil || diff != "" {
		t.Fatalf("marked (-want +got):\n%s error %v", diff, err)
	}
	if left, err := s.Undispatched(t.Context(), host, 9); err != nil || len(left) != 1 || left[0].Run != after.ID {
		t.Errorf("left %+v, error %v", left, err)
	}
	// The queue lost two of them: they are measured in turn with each other.
	lost := []bench.Order{got[1].All()[1], got[1].All()[3]}
	if err := s.Requeue(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	again, err := s.Undispatched(t.Context(), host, 1)
	if err != nil || len(again) != 1 || again[0].Trial != lost[0].Trial || again[0].Attempt != 2 || len(again[0].With) != 1 || again[0].With[0].Trial != lost[1].Trial {
		t.Errorf("again %+v, error %v", again, err)
	}
}

// testOwnOperations: an order's plan has the number of operations that its case asked for.
func testOwnOperations(t *testing.T, s *store.Store) {
	run := NewRun(newHost(), 2)
	run.Spec.Cases = []bench.CaseSpec{{Kernel: run.Trials[0].Kernel, Operations: new(7)}, {Kernel: run.Trials[1].Kernel}}
	createRun(t, s, run)
	got, err := s.Undispatched(t.Context(), run.Trials[0].Host, 2)
	if err != nil || len(got) != 2 {
		t.Fatalf("%d orders, error %v", len(got), err)
	}
	if got[0].Plan.Operations != 7 || got[1].Plan.Operations != run.Spec.Plan.Operations {
		t.Errorf("slices of %d and %d operations, want 7 and %d", got[0].Plan.Operations, got[1].Plan.Operations, run.Spec.Plan.Operations)
	}
}

func testDispatch(t *testing.T, s *store.Store) {
	host := newHost()
	runs := []bench.Run{create(t, s, host, 3), create(t, s, newHost(), 2), create(t, s, host, 2)}
	var want []bench.Order
	for _, r := range []bench.Run{runs[0], runs[2]} {
		for _, tr := range r.Trials {
			want = append(want, bench.Order{Run: r.ID, Trial: tr.ID, Host: host, Attempt: 1, Case: tr.Case(), Repeat: tr.Repeat, Plan: r.Spec.Plan})
		}
	}
	got, err := s.Undispatched(t.Context(), host, 100)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orders (-want +got):\n%s", diff)
	}
	if few, err := s.Undispatched(t.Context(), host, 2); err != nil || len(few) != 2 || few[0].Trial != want[0].Trial {
		t.Errorf("the first two: %v, error %v", few, err)
	}
	if _, err := s.CancelRun(t.Context(), runs[2].ID, bench.CancelAsked); err != nil {
		t.Fatal(err)
	}
	marked, err := s.MarkDispatched(t.Context(), got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[:3], marked); diff != "" {
		t.Errorf("marked, after one run was canceled (-want +got):\n%s", diff)
	}
	if again, err := s.MarkDispatched(t.Context(), got); err != nil || len(again) != 0 {
		t.Errorf("marked twice: %v, error %v", again, err)
	}
	if left, err := s.Undispatched(t.Context(), host, 100); err != nil || len(left) != 0 {
		t.Errorf("still undispatched: %v, error %v", left, err)
	}
	start(t, s, runs[0], 1, 1)
	sent, err := s.Dispatched(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bench.Order{want[0], want[2]}, sent); diff != "" {
		t.Errorf("dispatched, after one started (-want +got):\n%s", diff)
	}
	testDispatchRace(t, s)
}

// testDispatchRace lets several collectors mark the same orders: each comes back once.
func testDispatchRace(t *testing.T, s *store.Store) {
	host := newHost()
	create(t, s, host, 30)
	var mu sync.Mutex
	times := make(map[string]int)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			orders, err := s.Undispatched(context.Background(), host, 100)
			if err != nil {
				t.Error(err)
			}
			marked, err := s.MarkDispatched(context.Background(), orders)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, o := range marked {
				times[o.Trial]++
			}
		})
	}
	wg.Wait()
	for trial, n := range times {
		if n != 1 {
			t.Errorf("trial %s was given to %d collectors", trial, n)
		}
	}
	if len(times) != 30 {
		t.Errorf("%d trials were given, want 30", len(times))
	}
}

func testRequeue(t *testing.T, s *store.Store) {
	host := newHost()
	run := create(t, s, host, 4)
	dispatch(t, s, host)
	start(t, s, run, 1, 1)
	finish(t, s, run, 2, 1, bench.Succeeded)
	ids := []string{run.Trials[0].ID, run.Trials[1].ID, run.Trials[2].ID, run.Trials[3].ID}
	var first []bench.Order
	for _, id := range ids {
		first = append(first, bench.Order{Trial: id, Attempt: 1})
	}
	if err := s.Requeue(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	orders, err := s.Undispatched(t.Context(), host, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range orders {
		got = append(got, fmt.Sprintf("%s attempt %d", o.Trial, o.Attempt))
	}
	want := []string{ids[0] + " attempt 2", ids[3] + " attempt 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orders again (-want +got):\n%s", diff)
	}
	if err := s.Requeue(t.Context(), []bench.Order{{Trial: ids[0], Attempt: 1}, {Trial: ids[3], Attempt: 2}}); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Undispatched(t.Context(), host, 100); err != nil || len(again) != 2 || again[0].Attempt != 2 || again[1].Attempt != 2 {
		t.Errorf("requeued though nothing was in the queue: %+v, error %v", again, err)
	}
	dispatch(t, s, host)
	if err := s.Requeue(t.Context(), []bench.Order{{Trial: ids[0], Attempt: 1}, {Trial: ids[3], Attempt: 2}}); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Undispatched(t.Context(), host, 100); err != nil || len(again) != 1 || again[0].Trial != ids[3] || again[0].Attempt != 3 {
		t.Errorf("requeued an order of this attempt and one of an older: %+v, error %v", again, err)
	}
	if stale, err := s.MarkDispatched(t.Context(), []bench.Order{{Trial: ids[0], Attempt: 1}}); err != nil || len(stale) != 0 {
		t.Errorf("an order of an older attempt was marked: %v, error %v", stale, err)
	}
}

func testActive(t *testing.T, s *store.Store) {
	host := newHost()
	run := create(t, s, host, 4)
	dispatch(t, s, host)
	r := report(run, 1, 3)
	if err := s.RecordStarted(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	finish(t, s, run, 2, 1, bench.Succeeded)
	running := store.ActiveTrial{Run: run.ID, Trial: run.Trials[1].ID, Host: host, Instance: r.Instance, Attempt: 3, State: bench.Running, StartedAt: r.At}
	check := func(when string, want ...store.ActiveTrial) {
		t.Helper()
		got, err := s.Active(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("active %s (-want +got):\n%s", when, diff)
		}
	}
	check("while it runs", running)
	if _, err := s.CancelRun(t.Context(), run.ID, bench.CancelAsked); err != nil {
		t.Fatal(err)
	}
	running.State, running.CancelReason = bench.Canceling, bench.CancelAsked
	waiting := store.ActiveTrial{Run: run.ID, Trial: run.Trials[0].ID, Host: host, Attempt: 1, State: bench.Canceling, CancelReason: bench.CancelAsked}
	last := waiting
	last.Trial = run.Trials[3].ID
	check("while it is canceled", waiting, running, last)
	if want := (bench.Order{Run: run.ID, Trial: run.Trials[0].ID, Host: host, Attempt: 1}); waiting.Order().Trial != want.Trial || waiting.Order().Attempt != want.Attempt {
		t.Errorf("order %+v, want %+v", waiting.Order(), want)
	}
}
