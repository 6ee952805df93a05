package store

import (
	"context"
	"database/sql"
	"fmt"

	"benchd/kernels"
	"benchd/worker/bench"
)

// Result gives all that a run measured, in the order of its trials. Trials that brought no
// result of their own show how they ended. A run that has not ended is a Conflict,
// not_finished.
//
// The snapshot of a host is that of its first trial. Composites are left empty: they are worked out from the trials by whoever shows them.
func (s *Store) Result(ctx context.Context, id string) (bench.Result, error) {
	var run bench.Run
	bodies := make(map[int][]byte)
	err := s.read(ctx, "read result", func(t *tx) (err error) {
		if run, err = t.wholeRun(id); err != nil {
			return err
		}
		if !run.State.Final() {
			return bench.Errorf(bench.Conflict, "not_finished", "run %s is %s, its result is there once it has ended; wait for it with ?wait=30s", id, run.State)
		}
		return t.each("SELECT p.ordinal, p.body FROM results p JOIN runs r ON r.seq = p.run WHERE r.id = ?", []any{id}, func(r *sql.Rows) error {
			var ordinal int
			var body []byte
			err := r.Scan(&ordinal, &body)
			bodies[ordinal] = body
			return err
		})
	})
	if err != nil {
		return bench.Result{}, err
	}
	return s.assemble(run, bodies)
}

// assemble makes the result of a run and its packed measurements, outside the transaction:
// unpacking may take a while, and readers are few.
func (s *Store) assemble(run bench.Run, bodies map[int][]byte) (bench.Result, error) {
	result := bench.Result{
		ID: run.ID, State: run.State, Schema: bench.Schema, Spec: run.Spec,
		Created: run.Created, Started: run.Started, Finished: run.Finished,
		Hosts: make(map[string]bench.HostSnapshot), Trials: make([]bench.TrialResult, len(run.Trials)),
		Composites: []bench.Composite{},
	}
	for i, t := range run.Trials {
		body, measured := bodies[i]
		if !measured {
			result.Trials[i] = unmeasured(t)
			continue
		}
		m, err := s.codec.unpack(body)
		if err != nil {
			return bench.Result{}, fmt.Errorf("read result: trial %s: %w", t.ID, err)
		}
		result.Trials[i] = stamped(*m.Result, t)
		if _, known := result.Hosts[t.Host]; !known && m.Snapshot.Fingerprint != "" {
			result.Hosts[t.Host] = m.Snapshot
		}
	}
	return result, nil
}

// stamped gives a reported result under the names and in the state that the store holds: a
// worker's word about its own trial counts for the figures, not for what the trial was.
func stamped(r bench.TrialResult, t bench.Trial) bench.TrialResult {
	r.ID, r.Host, r.Kernel, r.Params, r.Repeat = t.ID, t.Host, t.Kernel, t.Params, t.Repeat
	r.State, r.Attempt, r.Error, r.Started, r.Finished = t.State, t.Attempt, t.Error, t.Started, t.Finished
	return r
}

// unmeasured is the result of a trial that brought none.
func unmeasured(t bench.Trial) bench.TrialResult {
	if t.Params == nil {
		t.Params = kernels.Params{}
	}
	return stamped(bench.TrialResult{
		Metrics: []bench.Score{}, Forks: []bench.Fork{},
		Validity: bench.Validity{Reasons: []string{fmt.Sprintf("not_measured: the trial ended as %s before a result came", t.State)}},
	}, t)
}
