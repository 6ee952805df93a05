package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"benchd/worker/bench"
)

// Run gives a run with its trials, or NotFound, unknown_run.
func (s *Store) Run(ctx context.Context, id string) (bench.Run, error) {
	var run bench.Run
	err := s.read(ctx, "read run", func(t *tx) (err error) {
		run, err = t.wholeRun(id)
		return err
	})
	return run, err
}

// read runs fn on one state of the database, so that a run and its trials fit together.
func (s *Store) read(ctx context.Context, op string, fn func(*tx) error) error {
	t := &tx{store: s, ctx: ctx, pool: s.reader, fresh: make(map[string]*sql.Stmt)}
	if err := t.look(fn); err != nil {
		return fail(op, err)
	}
	// Only now, since preparing takes a connection: readers that each hold one and wait for
	// another would wait for ever.
	t.prepareFresh()
	return nil
}

// look runs fn and gives the connection back.
func (t *tx) look(fn func(*tx) error) (err error) {
	if t.tx, err = t.pool.db.BeginTx(t.ctx, nil); err != nil {
		return err
	}
	defer t.tx.Rollback() //nolint:errcheck // nothing was written
	return fn(t)
}

// runColumns are what scanRun reads, of a table runs under the name r.
const runColumns = "r.seq, r.id, r.state, r.reason, r.spec, r.hosts, r.created, r.started, r.finished, r.done, r.total"

// scanRun reads runColumns into a run without trials. Its progress counts trials that have
// ended; with the trials at hand, wholeRun replaces it by an estimate of the time.
func scanRun(scan func(...any) error) (seq int64, run bench.Run, err error) {
	var spec, hosts []byte
	var created int64
	var started, finished sql.NullInt64
	if err := scan(&seq, &run.ID, &run.State, &run.Reason, &spec, &hosts, &created, &started, &finished, &run.Progress.Done, &run.Progress.Total); err != nil {
		return 0, run, err
	}
	err = json.Unmarshal(hosts, &run.Hosts)
	if err == nil {
		run.Spec, err = parseSpec(spec)
	}
	if err != nil {
		return 0, run, fmt.Errorf("read spec of run %s: %w", run.ID, err)
	}
	run.Created, run.Started, run.Finished = timeOf(created), timeOrNil(started), timeOrNil(finished)
	if run.Progress.Total > 0 {
		run.Progress.Percent = float64(1000*run.Progress.Done/run.Progress.Total) / 10
	}
	return seq, run, nil
}

// parseSpec reads a spec, filling in what an earlier version did not know with what it did:
// a run that was stored then can be shown, posted again and, when it still waits, measured.
func parseSpec(text []byte) (bench.Spec, error) {
	base := bench.DefaultPlan()
	spec := bench.Spec{Repeat: 1, Plan: bench.Plan{Interval: base.Interval, Order: base.Order, Pin: base.Pin}}
	err := json.Unmarshal(text, &spec)
	return spec, err
}

// wholeRun reads a run with its trials.
func (t *tx) wholeRun(id string) (bench.Run, error) {
	seq, run, err := scanRun(t.row("SELECT "+runColumns+" FROM runs r WHERE r.id = ?", id).Scan)
	if isNoRows(err) {
		return run, unknownRun(id)
	}
	if err != nil {
		return run, err
	}
	run.Trials = make([]bench.Trial, 0, run.Progress.Total)
	err = t.each("SELECT id, host, kernel, params, repeat, state, attempt, error, started, finished FROM trials WHERE run = ? ORDER BY ordinal", []any{seq}, func(r *sql.Rows) error {
		tr, err := scanTrial(r)
		run.Trials = append(run.Trials, tr)
		return err
	})
	run.Progress = bench.ComputeProgress(run.Spec, run.Trials)
	return run, err
}

// scanTrial reads a row of wholeRun. RawBytes spares a copy; what it holds is gone with the
// next row, so nothing of it is kept.
func scanTrial(r *sql.Rows) (bench.Trial, error) {
	var t bench.Trial
	var params string
	var trialError sql.RawBytes
	var started, finished sql.NullInt64
	if err := r.Scan(&t.ID, &t.Host, &t.Kernel, &params, &t.Repeat, &t.State, &t.Attempt, &trialError, &started, &finished); err != nil {
		return t, err
	}
	t.Started, t.Finished = timeOrNil(started), timeOrNil(finished)
	p, err := parseParams(params)
	if err != nil {
		return t, fmt.Errorf("read trial %s: %w", t.ID, err)
	}
	t.Params = p
	if trialError != nil {
		t.Error = new(bench.TrialError)
		if err := json.Unmarshal(trialError, t.Error); err != nil {
			return t, fmt.Errorf("read error of trial %s: %w", t.ID, err)
		}
	}
	return t, nil
}

// isNoRows tells that a query for one row found none.
func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
