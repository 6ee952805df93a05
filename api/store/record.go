package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"benchd/worker/bench"
)

// RecordStarted notes that a worker started a trial. A report of an attempt that is older
// than one known, of a trial that has ended, or that came before, changes nothing and is no
// error. Started may come after Finished. A trial that nobody knows is NotFound.
func (s *Store) RecordStarted(ctx context.Context, r bench.Report) error {
	return s.write(ctx, "record start", func(t *tx) error {
		tr, err := t.trial(r.Trial)
		if err != nil || tr.state.Final() || r.Attempt < tr.least || tr.started.Valid && r.Attempt == tr.attempt {
			return err
		}
		state := tr.state
		if state.CanBecome(bench.Running) {
			state = bench.Running
		}
		_, err = t.exec("UPDATE trials SET state = ?, attempt = ?, least = ?, instance = ?, started = ? WHERE run = ? AND ordinal = ?",
			state, r.Attempt, r.Attempt, r.Instance, micros(r.At), tr.seq, tr.ordinal)
		if err != nil {
			return err
		}
		t.move(tallyTrial, tr.state, state, 1)
		return t.refresh(tr.seq, &r.At)
	})
}

// RecordFinished ends a trial with what was measured. Of all reports one is accepted: when
// the trial has ended already, also by the same report before, or when the attempt is older
// than one known, it is false, and nothing has changed.
func (s *Store) RecordFinished(ctx context.Context, r bench.Report) (accepted bool, err error) {
	if r.Result == nil || !r.Result.State.Final() {
		return false, bench.Errorf(bench.Invalid, "bad_report", "the report of trial %q carries no result in a final state", clip(r.Trial))
	}
	body, err := s.codec.pack(measurement{r.Result, r.Snapshot})
	if err != nil {
		return false, err
	}
	e := ending{state: r.Result.State, err: r.Result.Error, at: r.At, started: r.Result.Started, attempt: r.Attempt, instance: r.Instance, body: body, measured: r.Result, fingerprint: r.Snapshot.Fingerprint}
	if r.Result.Finished != nil {
		e.at = *r.Result.Finished
	}
	err = s.write(ctx, "record result", func(t *tx) error {
		tr, err := t.trial(r.Trial)
		if err != nil || r.Attempt < tr.least {
			return err
		}
		accepted, err = t.end(tr, e)
		return err
	})
	return accepted && err == nil, err
}

// EndTrial ends a trial that no report will end: it was lost, or canceled before it began.
// It is false, and nothing has changed, when the trial has ended already.
//
// A run's timeout ends its trials as failed, run_timed_out, where Canceled is given; a trial
// that shall stop and never started is canceled, where Lost is given.
func (s *Store) EndTrial(ctx context.Context, trialID string, state bench.State, e *bench.TrialError) (ended bool, err error) {
	if !state.Final() {
		return false, fmt.Errorf("end trial %s: %s is no final state", trialID, state)
	}
	err = s.write(ctx, "end trial", func(t *tx) error {
		tr, err := t.trial(trialID)
		if err != nil {
			return err
		}
		ended, err = t.end(tr, ending{state: state, err: e, at: s.now()})
		return err
	})
	return ended && err == nil, err
}

// CancelRun asks for the end of a run, or notes that its timeout passed. Trials that were
// not dispatched end at once, canceled, or failed with run_timed_out; trials that run, or
// whose order is in the queue and may start any moment, become canceling and end by their
// report, by EndTrial or by Requeue. To ask again changes nothing; a run that has ended
// is a Conflict, final_state.
func (s *Store) CancelRun(ctx context.Context, id string, reason bench.CancelReason) (bench.Run, error) {
	if reason != bench.CancelAsked && reason != bench.CancelTimeout {
		return bench.Run{}, fmt.Errorf("cancel run %s: %q is no reason to cancel a run", id, reason)
	}
	var run bench.Run
	err := s.write(ctx, "cancel run", func(t *tx) error {
		h, err := t.head(id)
		if err != nil {
			return err
		}
		if h.state.Final() {
			return finalState(h)
		}
		if h.cancelReason == "" {
			h.cancelReason = reason
			if err := t.cancel(h); err != nil {
				return err
			}
		}
		run, err = t.wholeRun(id)
		return err
	})
	return run, err
}

// cancel notes the wish to end and ends or marks the trials. A trial whose order is in the
// queue may be in a worker's hands already with its report on the way, so that nobody here
// can say that nothing runs: it becomes canceling, not canceled.
func (t *tx) cancel(h head) error {
	if _, err := t.exec("UPDATE runs SET cancel_reason = ?, waiting = 0, deadline = NULL WHERE seq = ?", h.cancelReason, h.seq); err != nil {
		return err
	}
	e := ending{state: bench.Canceled, at: t.store.now()}
	e.settle(h.cancelReason)
	text, err := e.errorText()
	if err != nil {
		return err
	}
	n, err := t.exec("UPDATE trials SET state = ?, finished = ?, error = ? WHERE run = ? AND state = 'queued' AND dispatched IS NULL", e.state, micros(e.at), text, h.seq)
	if err != nil {
		return err
	}
	t.move(tallyTrial, bench.Queued, e.state, n)
	for _, from := range []bench.State{bench.Queued, bench.Running} {
		n, err := t.exec("UPDATE trials SET state = 'canceling' WHERE run = ? AND state = ?", h.seq, from)
		if err != nil {
			return err
		}
		t.move(tallyTrial, from, bench.Canceling, n)
	}
	return t.refresh(h.seq, nil)
}

// finalState is the answer to a change of a run that has ended.
func finalState(h head) error {
	return bench.Errorf(bench.Conflict, "final_state", "run %s has ended, it is %s; only a run that has not ended can be changed", h.id, h.state)
}

// An ending is how a trial ends.
type ending struct {
	state    bench.State
	err      *bench.TrialError
	at       time.Time
	started  *time.Time // when it is known from the result
	attempt  int        // 0: as it is
	instance string
	body     []byte // packed measurement, if there is one

	measured    *bench.TrialResult // what is in it
	fingerprint string             // of the host then
}

// settle fits the ending to the reason why the run was canceled: whoever stops a trial knows
// that it shall stop, and only the run knows whether a client or the clock wanted it.
func (e *ending) settle(reason bench.CancelReason) {
	if e.state != bench.Canceled {
		return
	}
	switch {
	case reason == bench.CancelTimeout:
		e.state = bench.Failed
		e.err = &bench.TrialError{Code: "run_timed_out", Message: "The run's timeout passed before this trial was measured."}
	case e.err == nil:
		e.err = &bench.TrialError{Code: "canceled", Message: "The run was canceled before this trial was measured."}
	}
}

// errorText is the error as the tables keep it.
func (e *ending) errorText() (any, error) {
	if e.err == nil {
		return nil, nil
	}
	text, err := json.Marshal(e.err)
	return string(text), err
}

// end ends a trial, unless it has ended. The check of the state and the write are in one
// transaction, which is what makes exactly one of several reports count.
func (t *tx) end(tr trial, e ending) (bool, error) {
	if e.state == bench.Lost && tr.state == bench.Canceling && !tr.started.Valid {
		e.state, e.err = bench.Canceled, nil
	}
	e.settle(tr.cancelReason)
	if !tr.state.CanBecome(e.state) {
		return false, nil
	}
	text, err := e.errorText()
	if err != nil {
		return false, err
	}
	if e.attempt == 0 {
		e.attempt, e.instance = tr.attempt, tr.instance
	}
	started := tr.started
	if e.started != nil {
		started = sql.NullInt64{Int64: micros(*e.started), Valid: true}
	}
	_, err = t.exec("UPDATE trials SET state = ?, attempt = ?, least = ?, instance = ?, started = ?, finished = ?, error = ? WHERE run = ? AND ordinal = ?",
		e.state, e.attempt, max(tr.least, e.attempt), e.instance, started, micros(e.at), text, tr.seq, tr.ordinal)
	if err != nil {
		return false, err
	}
	if e.body != nil {
		if _, err := t.exec("INSERT INTO results (run, ordinal, body) VALUES (?, ?, ?)", tr.seq, tr.ordinal, e.body); err != nil {
			return false, err
		}
	}
	if e.state == bench.Succeeded && e.measured != nil {
		if err := t.addScore(tr.seq, tr.ordinal, *e.measured, e.fingerprint, e.at); err != nil {
			return false, fmt.Errorf("keep score: %w", err)
		}
	}
	t.move(tallyTrial, tr.state, e.state, 1)
	return true, t.refresh(tr.seq, timeOrNil(started))
}
