package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

func testCreate(t *testing.T, s *store.Store) {
	many := NewRun("blue", bench.MaxTrials)
	mixed := NewRun("blue", 4)
	mixed.Trials[1].Host, mixed.Trials[3].Host = "green", "green"
	odd := NewRun("blue", 2)
	odd.Trials[0].Params = kernels.Params{`na"me`: `va\lue`, "ünï": "çødé", "empty": "", "comma": `a,"b":"c"`}
	odd.Trials[1].Params = kernels.Params{}
	odd.Spec.Labels = map[string]string{"a=b": "c=d", "e": `f "g"`}
	repeated := NewRun("blue", 3)
	repeated.Spec.Repeat, repeated.Trials[1].Repeat, repeated.Trials[2].Repeat = 3, 2, 3
	for _, row := range []struct {
		name  string
		run   bench.Run
		hosts []string
	}{
		{"on a named host", NewRun("blue", 20), []string{"blue"}},
		{"on two hosts", mixed, []string{"blue", "green"}},
		{"on any host", NewRun("", 3), []string{}},
		{"with one trial", NewRun("blue", 1), []string{"blue"}},
		{"with the most trials", many, []string{"blue"}},
		{"with odd texts", odd, []string{"blue"}},
		{"with repeats", repeated, []string{"blue"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := createRun(t, s, row.run)
			if diff := cmp.Diff(got, read(t, s, got.ID)); diff != "" {
				t.Errorf("what CreateRun gave and what is stored differ (-gave +stored):\n%s", diff)
			}
			if diff := cmp.Diff(row.hosts, got.Hosts); diff != "" {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
			if got.State != bench.Queued || got.Progress.Total != len(row.run.Trials) || got.Progress.Done != 0 {
				t.Errorf("state %s, progress %+v", got.State, got.Progress)
			}
			for i, tr := range got.Trials {
				want := bench.Trial{ID: row.run.Trials[i].ID, Host: row.run.Trials[i].Host, Kernel: row.run.Trials[i].Kernel, Params: row.run.Trials[i].Params, Repeat: max(1, row.run.Trials[i].Repeat), State: bench.Queued}
				if diff := cmp.Diff(want, tr); diff != "" {
					t.Fatalf("trial %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
	if _, _, err := s.CreateRun(t.Context(), store.NewRun{Run: bench.Run{ID: newID()}}); err == nil {
		t.Error("a run without trials was stored")
	}
}

func testIdempotency(t *testing.T, s *store.Store) {
	first := NewRun("blue", 3)
	post := func(run bench.Run, key string, hash byte) (bench.Run, bool, error) {
		return s.CreateRun(t.Context(), store.NewRun{Run: run, IdempotencyKey: key, BodyHash: [32]byte{hash}})
	}
	if _, existed, err := post(first, "key", 1); existed || err != nil {
		t.Fatal(existed, err)
	}
	start(t, s, first, 0, 1)
	again, existed, err := post(NewRun("blue", 3), "key", 1)
	if err != nil || !existed || again.ID != first.ID || again.State != bench.Running || len(again.Trials) != 3 {
		t.Errorf("same key and body: run %s (%s), existed %v, error %v; want run %s as it is now", again.ID, again.State, existed, err, first.ID)
	}
	second := NewRun("blue", 3)
	_, _, err = post(second, "key", 2)
	wantError(t, err, bench.Conflict, "idempotency_conflict")
	_, err = s.Run(t.Context(), second.ID)
	wantError(t, err, bench.NotFound, "unknown_run")
	for _, key := range []string{"other", "", ""} {
		if _, existed, err := post(NewRun("blue", 1), key, 1); existed || err != nil {
			t.Errorf("key %q: existed %v, error %v", key, existed, err)
		}
	}
}

// testIdempotencyRace posts one request many times at once: one run comes of it.
func testIdempotencyRace(t *testing.T, s *store.Store) {
	const posts = 16
	ids, fresh := make([]string, posts), make([]bool, posts)
	var wg sync.WaitGroup
	for i := range posts {
		wg.Go(func() {
			run, existed, err := s.CreateRun(context.Background(), store.NewRun{Run: NewRun("blue", 2), IdempotencyKey: "same", BodyHash: [32]byte{7}})
			if err != nil {
				t.Error(err)
			}
			ids[i], fresh[i] = run.ID, !existed
		})
	}
	wg.Wait()
	made := 0
	for i := range posts {
		if ids[i] != ids[0] {
			t.Errorf("post %d got run %s, post 0 got %s", i, ids[i], ids[0])
		}
		if fresh[i] {
			made++
		}
	}
	runs, _, err := s.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) != 1 || made != 1 {
		t.Errorf("%d runs stored, %d told as new, error %v; want one", len(runs), made, err)
	}
}

// testConcurrent lets many writers and readers work at once, each on runs of its own.
func testConcurrent(t *testing.T, s *store.Store) {
	const writers, each = 4, 8
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			host := fmt.Sprintf("concurrent-%d", w)
			for range each {
				run := create(t, s, host, 5)
				dispatch(t, s, host)
				for i := range run.Trials {
					start(t, s, run, i, 1)
					if !finish(t, s, run, i, 1, bench.Succeeded) {
						t.Errorf("trial %d of %s: the only report was refused", i, run.ID)
					}
					if got := read(t, s, run.ID); got.Progress.Done != i+1 || got.State.Final() != (i == 4) {
						t.Errorf("run %s is %s with %d done after %d reports", run.ID, got.State, got.Progress.Done, i+1)
					}
				}
			}
		})
	}
	wg.Wait()
	runs, trials, err := s.Counts(t.Context())
	if err != nil || runs[bench.Succeeded] != writers*each || trials[bench.Succeeded] != writers*each*5 {
		t.Errorf("runs %v, trials %v, error %v", runs, trials, err)
	}
}

// testFirstReaders lets many readers use a new store at once: none may wait for ever for
// what another one holds.
func testFirstReaders(t *testing.T, s *store.Store) {
	run := create(t, s, "blue", 2)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for name, do := range map[string]func(context.Context) error{
				"Run":          func(ctx context.Context) error { _, err := s.Run(ctx, run.ID); return err },
				"Undispatched": func(ctx context.Context) error { _, err := s.Undispatched(ctx, "blue", 9); return err },
				"Dispatched":   func(ctx context.Context) error { _, err := s.Dispatched(ctx); return err },
				"Unassigned":   func(ctx context.Context) error { _, err := s.Unassigned(ctx); return err },
				"Runs":         func(ctx context.Context) error { _, _, err := s.Runs(ctx, store.Filter{Host: "blue"}); return err },
			} {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				if err := do(ctx); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}
