package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchd/api/store"
	"benchd/api/store/storetest"
	"benchd/worker/bench"
)

// crashChild is the first argument of the test binary when it is the process to be killed.
const crashChild = "crash-child"

// writeUntilKilled stores and measures runs without end and tells on w what was promised:
// "run ID" once a run was accepted, "done TRIAL" once a result was.
func writeUntilKilled(path string, w io.Writer) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	for {
		run := storetest.NewRun("blue", 3)
		if _, _, err := s.CreateRun(ctx, store.NewRun{Run: run, IdempotencyKey: run.ID}); err != nil {
			return err
		}
		fmt.Fprintln(w, "run", run.ID)
		orders, err := s.Undispatched(ctx, "blue", 2)
		if err != nil {
			return err
		}
		if _, err := s.MarkDispatched(ctx, orders); err != nil {
			return err
		}
		for _, o := range orders {
			r := bench.Report{Run: o.Run, Trial: o.Trial, Attempt: o.Attempt, Host: "blue", At: time.Now()}
			if err := s.RecordStarted(ctx, r); err != nil {
				return err
			}
			r.Result = &bench.TrialResult{State: bench.Succeeded, Forks: []bench.Fork{{Samples: make([]float64, 1000)}}}
			if _, err := s.RecordFinished(ctx, r); err != nil {
				return err
			}
			fmt.Fprintln(w, "done", o.Trial)
		}
		if _, err := s.CancelRun(ctx, run.ID, bench.CancelAsked); err != nil && bench.AsError(err) == nil {
			return err
		}
	}
}

// TestCrash kills a writing process at random moments, several times on one file. What was
// promised is there, and each run is whole and fits its trials.
func TestCrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "benchd.db")
	promised := make(map[string]bool)
	for range 6 {
		for _, line := range crash(t, path) {
			promised[line] = true
		}
	}
	s, err := store.Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stored := make(map[string]bool)
	for cursor := ""; ; {
		runs, next, err := s.Runs(t.Context(), store.Filter{Limit: 1000, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			checkWhole(t, s, r.ID, stored)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	for line := range promised {
		if !stored[line] {
			t.Errorf("promised and not there: %s", line)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d promises kept over 6 crashes", len(promised))
	checkIntegrity(t, path)
}

// crash starts a writer, kills it after its first promise and a random time, and gives its
// promises.
func crash(t *testing.T, path string) (lines []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, crashChild, path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if err != nil { // a line cut short was no promise
			break
		}
		if len(lines) == 0 {
			time.AfterFunc(time.Duration(50+rand.IntN(250))*time.Millisecond, func() { _ = child.Process.Kill() })
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	if err := child.Wait(); err == nil || child.ProcessState.Exited() {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return lines
}

// checkWhole checks a run against its trials and notes what it proves.
func checkWhole(t *testing.T, s *store.Store, id string, stored map[string]bool) {
	t.Helper()
	run, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	stored["run "+id] = true
	var states []bench.State
	done := 0
	for _, tr := range run.Trials {
		states = append(states, tr.State)
		if tr.State == bench.Succeeded {
			stored["done "+tr.ID] = true
		}
		if tr.State.Final() {
			done++
		}
	}
	canceled := run.State == bench.Canceling || run.State == bench.Canceled
	if len(states) != 3 || run.State != bench.RunState(states, canceled) || run.Progress.Done != done {
		t.Errorf("run %s is %s with %d done, its trials are %v", id, run.State, run.Progress.Done, states)
	}
	if !run.State.Final() {
		return
	}
	result, err := s.Result(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range result.Trials {
		if (len(r.Forks) == 1) != (states[i] == bench.Succeeded) {
			t.Errorf("trial %s is %s with %d forks", r.ID, states[i], len(r.Forks))
		}
	}
}

// checkIntegrity lets SQLite look through the whole file and counts the states anew.
func checkIntegrity(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		"PRAGMA integrity_check":                        "ok",
		"SELECT count(*) FROM pragma_foreign_key_check": "0",
		"SELECT count(*) FROM (SELECT 'trial', state, count(*) FROM trials GROUP BY state EXCEPT SELECT * FROM tally)": "0",
		"SELECT count(*) FROM (SELECT 'run', state, count(*) FROM runs GROUP BY state EXCEPT SELECT * FROM tally)":     "0",
	} {
		var got string
		if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, error %v", query, got, err)
		}
	}
}
