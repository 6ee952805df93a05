package store_test

import (
	"testing"
	"time"

	"benchd/api/store"
	"benchd/api/store/storetest"
	"benchd/worker/bench"
)

// exercise calls every method of a store once with success, so that every statement is
// prepared.
func exercise(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	run := storetest.NewRun("", 85) // one row of each size of bulk insert
	_, _, err := s.CreateRun(ctx, store.NewRun{Run: run, IdempotencyKey: "key"})
	check(err)
	_, err = s.Unassigned(ctx)
	check(err)
	check(s.SetReason(ctx, run.ID, "why"))
	check(s.Assign(ctx, run.ID, "blue"))
	orders, err := s.Undispatched(ctx, "blue", 10)
	check(err)
	_, err = s.MarkDispatched(ctx, orders)
	check(err)
	_, err = s.Dispatched(ctx)
	check(err)
	check(s.Requeue(ctx, orders[1:2]))
	report := bench.Report{Run: run.ID, Trial: orders[0].Trial, Attempt: 1, At: time.Now()}
	check(s.RecordStarted(ctx, report))
	_, err = s.Active(ctx)
	check(err)
	_, err = s.Overdue(ctx, time.Now())
	check(err)
	value := 1.0
	report.Result = &bench.TrialResult{State: bench.Succeeded, Score: &bench.Score{Value: &value}}

	_, err = s.RecordFinished(ctx, report)
	check(err)
	_, err = s.CancelRun(ctx, run.ID, bench.CancelAsked)
	check(err)
	for _, o := range orders[2:] {
		_, err = s.EndTrial(ctx, o.Trial, bench.Canceled, nil)
		check(err)
	}
	_, err = s.Result(ctx, run.ID)
	check(err)
	_, err = s.Version(ctx, run.ID)
	check(err)
	_, _, err = s.Counts(ctx)
	check(err)
	_, _, err = s.History(ctx, store.SeriesFilter{Kernel: "soap", Host: "blue", Labels: map[string]string{"branch": "main", "commit": "abc123"}, Limit: 9})
	check(err)
	for _, host := range []string{"", "blue"} {
		_, _, err = s.Leaders(ctx, store.SeriesFilter{Host: host, Limit: 9})
		check(err)
	}
	_, _, err = s.Past(ctx, store.PastKey{Host: "blue", Case: run.Trials[0].Case(), Except: []string{"a", "b"}})
	check(err)
	check(s.SetEpoch(ctx, "epoch"))
	_, err = s.Epoch(ctx)
	check(err)
	check(s.SaveHost(ctx, bench.Host{Name: "blue"}))
	_, err = s.Host(ctx, "blue")
	check(err)
	_, err = s.Hosts(ctx)
	check(err)
	for _, f := range []store.Filter{{}, {Host: "blue"}, {States: []bench.State{bench.Canceled}}, {Host: "blue", Since: time.Now(), States: []bench.State{bench.Canceled, bench.Lost}}} {
		_, _, err = s.Runs(ctx, f)
		check(err)
	}
}
