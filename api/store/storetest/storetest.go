// Package storetest is the conformance suite of the store: whatever database lies under a
// store.Store, it must pass. The suite uses the public door only.
package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

// An Open gives a new, empty store and closes it at the end of the test.
type Open func(t *testing.T) *store.Store

// Run runs the suite; each of its tests opens a store of its own.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(*testing.T, *store.Store)
	}{
		{"Create", testCreate},
		{"Idempotency", testIdempotency},
		{"IdempotencyRace", testIdempotencyRace},
		{"List", testList},
		{"ListSince", testListSince},
		{"ListWhileGrowing", testListWhileGrowing},
		{"Cursor", testCursor},
		{"Trial", testTrial},
		{"Run", testRunStates},
		{"Cancel", testCancel},
		{"Unknown", testUnknown},
		{"Overdue", testOverdue},
		{"Assign", testAssign},
		{"Unassigned", testUnassigned},
		{"Dispatch", testDispatch},
		{"Interleaved", testInterleaved},
		{"OwnOperations", testOwnOperations},
		{"Requeue", testRequeue},
		{"Active", testActive},
		{"Result", testResult},
		{"NotFinished", testNotFinished},
		{"History", testHistory},
		{"HistoryWindow", testHistoryWindow},
		{"Leaders", testLeaders},
		{"Past", testPast},
		{"Hosts", testHosts},
		{"Epoch", testEpoch},
		{"Watch", testWatch},
		{"Counts", testCounts},
		{"Concurrent", testConcurrent},
		{"FirstReaders", testFirstReaders},
		{"Model", testModel},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.test(t, open(t))
		})
	}
}

// NewRun makes a run to post, with its trials on the host given, or on none yet.
func NewRun(host string, trials int) bench.Run {
	run := bench.Run{ID: newID(), Created: time.Now(), Spec: bench.Spec{
		Repeat:  1,
		Cases:   []bench.CaseSpec{{Kernel: "soap.echo", Params: bench.Matrix{"model": {"stream", "dom"}, "clients": {"1", "4"}}}},
		Plan:    bench.DefaultPlan(),
		Labels:  map[string]string{"branch": "main", "commit": "abc123"},
		Timeout: bench.Duration(time.Minute),
	}}
	if host != "" {
		run.Spec.Hosts.Names = []string{host}
	}
	names := []string{"scimark.fft", "soap.echo", "messaging.roundtrip"}
	for i := range trials {
		run.Trials = append(run.Trials, bench.Trial{
			ID: newID(), Host: host, Kernel: names[i%len(names)],
			Params: kernels.Params{"model": "stream", "size": "10KB", "clients": fmt.Sprint(1 + i)},
		})
	}
	return run
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// hostCount makes host names that no other test uses.
var hostCount atomic.Int64

func newHost() string { return fmt.Sprintf("host-%d", hostCount.Add(1)) }

// create stores a run on a host.
func create(t tester, s *store.Store, host string, trials int) bench.Run {
	t.Helper()
	return createRun(t, s, NewRun(host, trials))
}

func createRun(t tester, s *store.Store, run bench.Run) bench.Run {
	t.Helper()
	got, existed, err := s.CreateRun(context.Background(), store.NewRun{Run: run})
	if err != nil || existed {
		t.Fatalf("CreateRun: existed %v, error %v", existed, err)
	}
	return got
}

// read gives a run that has to be there.
func read(t tester, s *store.Store, id string) bench.Run {
	t.Helper()
	run, err := s.Run(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// dispatch marks all trials of a host as dispatched, as the collector does.
func dispatch(t tester, s *store.Store, host string) []bench.Order {
	t.Helper()
	orders, err := s.Undispatched(context.Background(), host, 1000)
	if err != nil {
		t.Fatal(err)
	}
	marked, err := s.MarkDispatched(context.Background(), orders)
	if err != nil {
		t.Fatal(err)
	}
	return marked
}

// start reports that a trial was started.
func start(t tester, s *store.Store, run bench.Run, i, attempt int) {
	t.Helper()
	if err := s.RecordStarted(context.Background(), report(run, i, attempt)); err != nil {
		t.Fatal(err)
	}
}

// finish reports that a trial ended, and gives whether that was accepted.
func finish(t tester, s *store.Store, run bench.Run, i, attempt int, state bench.State) bool {
	t.Helper()
	r := report(run, i, attempt)
	r.Kind = bench.Finished
	r.Result = &bench.TrialResult{ID: r.Trial, State: state, Attempt: attempt}
	if state != bench.Succeeded {
		r.Result.Error = &bench.TrialError{Code: "open_failed", Message: "It did not open."}
	}
	accepted, err := s.RecordFinished(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return accepted
}

// report makes a start report of a run's i-th trial.
func report(run bench.Run, i, attempt int) bench.Report {
	return bench.Report{
		Kind: bench.Started, Run: run.ID, Trial: run.Trials[i].ID, Attempt: attempt, Host: run.Trials[i].Host,
		Instance: fmt.Sprintf("instance-%d", attempt), At: time.Now().UTC().Truncate(time.Microsecond),
	}
}

// wantError checks that err is an error for the user of a kind and code.
func wantError(t tester, err error, kind bench.Kind, code string) {
	t.Helper()
	e := bench.AsError(err)
	if e == nil || e.Kind != kind || e.Code != code {
		t.Errorf("error %v (%+v), want kind %s and code %s", err, e, kind, code)
	}
}

// A tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}
