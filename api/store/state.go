package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"benchd/worker/bench"
)

// A trial is a trial's row, as far as changes of state need it, with its run's wish to end.
type trial struct {
	seq          int64
	ordinal      int
	state        bench.State
	attempt      int
	least        int
	instance     string
	sent         bool // its order went to the queue
	started      sql.NullInt64
	cancelReason bench.CancelReason
}

// trial reads a trial, or NotFound.
func (t *tx) trial(id string) (trial, error) {
	var tr trial
	var dispatched sql.NullInt64
	err := t.row(`SELECT t.run, t.ordinal, t.state, t.attempt, t.least, t.instance, t.dispatched, t.started, r.cancel_reason
		FROM trials t JOIN runs r ON r.seq = t.run WHERE t.id = ?`, id).
		Scan(&tr.seq, &tr.ordinal, &tr.state, &tr.attempt, &tr.least, &tr.instance, &dispatched, &tr.started, &tr.cancelReason)
	if isNoRows(err) {
		return tr, unknownTrial(id)
	}
	tr.sent = dispatched.Valid
	return tr, err
}

// A head is a run's row, as far as changes of state need it.
type head struct {
	seq          int64
	id           string
	state        bench.State
	hosts        []string
	waiting      bool
	cancelReason bench.CancelReason
}

// head reads a run's head, or NotFound.
func (t *tx) head(id string) (head, error) {
	h := head{id: id}
	var hosts []byte
	err := t.row("SELECT seq, state, hosts, waiting, cancel_reason FROM runs WHERE id = ?", id).Scan(&h.seq, &h.state, &hosts, &h.waiting, &h.cancelReason)
	if isNoRows(err) {
		return h, unknownRun(id)
	}
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(hosts, &h.hosts); err != nil {
		return h, fmt.Errorf("read hosts of run %s: %w", id, err)
	}
	return h, nil
}

// refresh brings a run's state, progress and times in line with its trials. The run starts
// with the first start that is reported, which also sets its deadline.
func (t *tx) refresh(seq int64, started *time.Time) error {
	var id, reason string
	var state bench.State
	var cancelReason bench.CancelReason
	var timeout int64
	var start, finish, deadline sql.NullInt64
	err := t.row("SELECT id, state, reason, cancel_reason, timeout, started, finished, deadline FROM runs WHERE seq = ?", seq).
		Scan(&id, &state, &reason, &cancelReason, &timeout, &start, &finish, &deadline)
	if err != nil {
		return err
	}
	states, err := t.statesOf(seq)
	if err != nil {
		return err
	}
	now := bench.RunState(states.list(), cancelReason != "")
	if started != nil && !start.Valid {
		start = sql.NullInt64{Int64: micros(*started), Valid: true}
		deadline = sql.NullInt64{Int64: start.Int64 + timeout, Valid: cancelReason == ""}
	}
	if now != bench.Queued && now != bench.Running { // then it says what trials wait for
		reason = states.reason(now, cancelReason)
	}
	if now.Final() {
		finish, deadline = sql.NullInt64{Int64: micros(t.store.now()), Valid: true}, sql.NullInt64{}
	}
	_, err = t.exec("UPDATE runs SET state = ?, reason = ?, started = ?, finished = ?, deadline = ?, done = ?, version = version + 1 WHERE seq = ?",
		now, reason, start, finish, deadline, states.done(), seq)
	t.move(tallyRun, state, now, 1)
	t.changed = append(t.changed, id)
	return err
}

// states counts a run's trials by state.
type states map[bench.State]int

// statesOf counts anew each time. A run has a thousand trials at most, which stand side by
// side, and a count that is never kept is never wrong.
func (t *tx) statesOf(seq int64) (states, error) {
	n := make(states)
	err := t.each("SELECT state, count(*) FROM trials WHERE run = ? GROUP BY state", []any{seq}, func(r *sql.Rows) error {
		var state bench.State
		var count int
		err := r.Scan(&state, &count)
		n[state] = count
		return err
	})
	return n, err
}

// total counts all trials.
func (n states) total() (total int) {
	for _, count := range n {
		total += count
	}
	return total
}

// done counts the trials that have ended.
func (n states) done() (done int) {
	for state, count := range n {
		if state.Final() {
			done += count
		}
	}
	return done
}

// list gives the state of each trial, in no order that matters.
func (n states) list() []bench.State {
	list := make([]bench.State, 0, n.total())
	for state, count := range n {
		for range count {
			list = append(list, state)
		}
	}
	return list
}

// reason says in a sentence why a run that waits no longer is as it is.
func (n states) reason(state bench.State, cancelReason bench.CancelReason) string {
	switch {
	case cancelReason == bench.CancelTimeout && state != bench.Succeeded:
		return "the run's timeout passed"
	case state == bench.Canceling || state == bench.Canceled:
		return "the run was canceled on request"
	case state == bench.Lost:
		return fmt.Sprintf("%d of %d trials were lost with the host that measured them", n[bench.Lost], n.total())
	case state == bench.Failed:
		return fmt.Sprintf("%d of %d trials failed", n[bench.Failed], n.total())
	}
	return ""
}
