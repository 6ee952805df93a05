package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/worker/bench"
)

// page gives one page's ids and the next cursor.
func page(t *testing.T, s *store.Store, f store.Filter) (ids []string, next string) {
	t.Helper()
	runs, next, err := s.Runs(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Trials != nil {
			t.Errorf("run %s in a list has trials", r.ID)
		}
		ids = append(ids, r.ID)
	}
	return ids, next
}

// pages turns all pages.
func pages(t *testing.T, s *store.Store, f store.Filter) (ids []string) {
	t.Helper()
	for {
		more, next := page(t, s, f)
		if next != "" && len(more) != f.Limit {
			t.Errorf("a page of %d runs before the end, want %d", len(more), f.Limit)
		}
		ids = append(ids, more...)
		if next == "" {
			return ids
		}
		f.Cursor = next
	}
}

// listedRuns stores runs that differ by their number: every third on green, every fifth
// without labels, every seventh of a suite, every fourth ended.
func listedRuns(t *testing.T, s *store.Store, n int) []bench.Run {
	t.Helper()
	runs := make([]bench.Run, n)
	for i := range runs {
		run := NewRun("blue", 1)
		if i%3 == 0 {
			run.Trials[0].Host = "green"
		}
		if i%2 == 0 {
			run.Trials[0].Kernel = "messaging.mailbox"
		}
		if i%5 == 0 {
			run.Spec.Labels = nil
		}
		if i%7 == 0 {
			run.Spec.Suite = "quick"
		}
		runs[i] = createRun(t, s, run)
		if i%4 == 0 {
			finish(t, s, run, 0, 1, bench.Succeeded)
		}
		if i%8 == 1 {
			finish(t, s, run, 0, 1, bench.Failed)
		}
	}
	return runs
}

func testList(t *testing.T, s *store.Store) {
	runs := listedRuns(t, s, 43)
	branch := map[string]string{"branch": "main"}
	for _, row := range []struct {
		name   string
		filter store.Filter
		want   func(i int) bool
	}{
		{"all", store.Filter{}, func(int) bool { return true }},
		{"host", store.Filter{Host: "green"}, func(i int) bool { return i%3 == 0 }},
		{"kernel", store.Filter{Kernel: "messaging.mailbox"}, func(i int) bool { return i%2 == 0 }},
		{"family", store.Filter{Kernel: "scimark"}, func(i int) bool { return i%2 != 0 }},
		{"suite", store.Filter{Suite: "quick"}, func(i int) bool { return i%7 == 0 }},
		{"label", store.Filter{Labels: branch}, func(i int) bool { return i%5 != 0 }},
		{"two labels", store.Filter{Labels: map[string]string{"branch": "main", "commit": "abc123"}}, func(i int) bool { return i%5 != 0 }},
		{"label of another value", store.Filter{Labels: map[string]string{"branch": "abc123"}}, func(int) bool { return false }},
		{"state", store.Filter{States: []bench.State{bench.Succeeded}}, func(i int) bool { return i%4 == 0 }},
		{"states", store.Filter{States: []bench.State{bench.Succeeded, bench.Failed, bench.Failed}}, func(i int) bool { return i%4 == 0 || i%8 == 1 }},
		{"all states", store.Filter{States: bench.States()}, func(int) bool { return true }},
		{"host and state", store.Filter{Host: "green", States: []bench.State{bench.Queued}}, func(i int) bool { return i%3 == 0 && i%4 != 0 && i%8 != 1 }},
		{"state and host", store.Filter{Host: "blue", States: []bench.State{bench.Failed}}, func(i int) bool { return i%3 != 0 && i%8 == 1 }},
		{"everything", store.Filter{Host: "green", Kernel: "messaging", Labels: branch, Suite: "quick", States: []bench.State{bench.Succeeded, bench.Queued}}, func(i int) bool {
			return i%3 == 0 && i%2 == 0 && i%5 != 0 && i%7 == 0 && i%8 != 1
		}},
		{"unknown host", store.Filter{Host: "red"}, func(int) bool { return false }},
	} {
		t.Run(row.name, func(t *testing.T) {
			var want []string
			for i, r := range slices.Backward(runs) {
				if row.want(i) {
					want = append(want, r.ID)
				}
			}
			for _, limit := range []int{1, 4, 50} {
				row.filter.Limit = limit
				if diff := cmp.Diff(want, pages(t, s, row.filter)); diff != "" {
					t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
				}
			}
		})
	}
}

func testListSince(t *testing.T, s *store.Store) {
	began := time.Now().Add(-time.Hour).Truncate(time.Microsecond)
	var ids []string
	for i := range 6 {
		run := NewRun("blue", 1)
		run.Created = began.Add(time.Duration(i/2) * time.Minute) // two at a time
		ids = append(ids, createRun(t, s, run).ID)
	}
	slices.Reverse(ids)
	for _, row := range []struct {
		name  string
		since time.Time
		want  []string
	}{
		{"never", time.Time{}, ids},
		{"the first", began, ids},
		{"just after the first two", began.Add(time.Nanosecond), ids[:4]},
		{"the last two", began.Add(2 * time.Minute), ids[:2]},
		{"after all", began.Add(2*time.Minute + time.Microsecond), nil},
	} {
		for name, f := range map[string]store.Filter{"all": {}, "host": {Host: "blue"}, "state": {States: []bench.State{bench.Queued}}} {
			f.Since, f.Limit = row.since, 2
			if diff := cmp.Diff(row.want, pages(t, s, f)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", row.name, name, diff)
			}
		}
	}
}

// testListWhileGrowing turns pages while runs come in: none is shown twice, none is missed.
func testListWhileGrowing(t *testing.T, s *store.Store) {
	var want []string
	for range 9 {
		want = append(want, create(t, s, "blue", 1).ID)
	}
	slices.Reverse(want)
	var got []string
	f := store.Filter{Host: "blue", Limit: 2}
	for {
		ids, next := page(t, s, f)
		got = append(got, ids...)
		create(t, s, "blue", 1)
		if next == "" {
			break
		}
		f.Cursor = next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func testCursor(t *testing.T, s *store.Store) {
	for range 3 {
		create(t, s, "blue", 1)
	}
	_, good := page(t, s, store.Filter{Limit: 1})
	for i, bad := range []string{"x", "1", good + "A", good[:len(good)-1], good[1:], "AAAAAAAAAAAAAAAA", "%", fmt.Sprint(good, "=")} {
		_, _, err := s.Runs(t.Context(), store.Filter{Cursor: bad})
		if e := bench.AsError(err); e == nil || e.Kind != bench.Invalid || e.Code != "bad_cursor" {
			t.Errorf("cursor %d, %q: error %v", i, bad, err)
		}
	}
}
