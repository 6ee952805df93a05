package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"benchd/worker/bench"
)

// waitingEach is how many runs with the same wish for hosts Unassigned gives: they wait for
// the same thing, so the first ones are enough to act on.
const waitingEach = 100

// Waiting is a run that no host was found for yet.
type Waiting struct {
	RunID    string
	Selector bench.HostSelector
	Spec     bench.Spec   // what was asked: the plans of its cases have to fit the host's limits
	Cases    []bench.Case // of the trials without a host: their lanes and sizes have to fit
	Reason   string       // as set before
	Created  time.Time
}

// Unassigned gives the runs that wait for a host, oldest first: of those with the same
// HostSelector, the first hundred.
func (s *Store) Unassigned(ctx context.Context) ([]Waiting, error) {
	var all []queuedRun
	err := s.read(ctx, "list waiting runs", func(t *tx) error {
		var selectors []string
		err := t.each("SELECT DISTINCT selector FROM runs WHERE waiting = 1", nil, func(r *sql.Rows) error {
			var text string
			err := r.Scan(&text)
			selectors = append(selectors, text)
			return err
		})
		if err != nil {
			return err
		}
		for _, selector := range selectors {
			if all, err = t.waitingRuns(all, selector); err != nil {
				return err
			}
		}
		for i := range all {
			if all[i].Cases, err = t.casesWithoutHost(all[i].seq); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b queuedRun) int { return cmp.Compare(a.seq, b.seq) })
	waiting := make([]Waiting, len(all))
	for i, q := range all {
		waiting[i] = q.Waiting
	}
	return waiting, err
}

// A queuedRun is a waiting run with its key.
type queuedRun struct {
	seq int64
	Waiting
}

// waitingRuns adds the oldest runs that wait with a selector.
func (t *tx) waitingRuns(all []queuedRun, selector string) ([]queuedRun, error) {
	const query = "SELECT seq, id, spec, reason, created FROM runs WHERE waiting = 1 AND selector = ? ORDER BY seq LIMIT ?"
	err := t.each(query, []any{selector, waitingEach}, func(r *sql.Rows) error {
		var q queuedRun
		var text []byte
		var created int64
		if err := r.Scan(&q.seq, &q.RunID, &text, &q.Reason, &created); err != nil {
			return err
		}
		spec, err := parseSpec(text)
		if err != nil {
			return fmt.Errorf("read spec of run %s: %w", q.RunID, err)
		}
		q.Selector, q.Spec, q.Created = spec.Hosts, spec, timeOf(created)
		all = append(all, q)
		return nil
	})
	return all, err
}

// casesWithoutHost gives the cases of a run that any host may still get.
func (t *tx) casesWithoutHost(seq int64) ([]bench.Case, error) {
	var cases []bench.Case
	err := t.each("SELECT kernel, params FROM trials WHERE run = ? AND host = '' ORDER BY ordinal", []any{seq}, func(r *sql.Rows) error {
		var c bench.Case
		var params string
		err := r.Scan(&c.Kernel, &params)
		if err == nil {
			c.Params, err = parseParams(params)
		}
		cases = append(cases, c)
		return err
	})
	return cases, err
}

// Assign gives a waiting run its host and takes back the reason why it waits. A run that
// waits no longer is a Conflict: final_state or already_assigned.
func (s *Store) Assign(ctx context.Context, runID, host string) error {
	return s.write(ctx, "assign host", func(t *tx) error {
		h, err := t.head(runID)
		if err != nil {
			return err
		}
		switch {
		case h.state.Final():
			return finalState(h)
		case !h.waiting:
			return bench.Errorf(bench.Conflict, "already_assigned", "run %s has a host already", runID)
		}
		if !slices.Contains(h.hosts, host) {
			h.hosts = append(h.hosts, host)
		}
		hosts, err := json.Marshal(h.hosts)
		if err != nil {
			return err
		}
		if _, err := t.exec("UPDATE runs SET hosts = ?, waiting = 0, reason = '', version = version + 1 WHERE seq = ?", string(hosts), h.seq); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE trials SET host = ? WHERE run = ? AND host = ''", host, h.seq); err != nil {
			return err
		}
		t.changed = append(t.changed, runID)
		return t.insert(insertTags(), []any{tagHost, host, h.seq})
	})
}

// SetReason says why a queued run waits, or trials of a running one. It changes nothing of a
// run in another state, nor when the reason is the same.
func (s *Store) SetReason(ctx context.Context, runID, reason string) error {
	return s.write(ctx, "set reason", func(t *tx) error {
		n, err := t.exec("UPDATE runs SET reason = ?, version = version + 1 WHERE id = ? AND state IN ('queued', 'running') AND reason <> ?", reason, runID, reason)
		if n > 0 {
			t.changed = append(t.changed, runID)
		}
		return err
	})
}

// orderColumns are what scanOrder reads. An order's attempt is the least that is accepted:
// one more than all that came before.
const orderColumns = "t.run, r.id, t.id, t.host, t.least, t.kernel, t.params, t.repeat"

// Undispatched gives orders for the trials of a host that can be queued, in the order in
// which they are to be measured, as many as most. Of an interleaved run the first trial's
// order carries those of all the others, beyond most if need be, so that they are measured
// in turn.
func (s *Store) Undispatched(ctx context.Context, host string, most int) ([]bench.Order, error) {
	const query = "SELECT " + orderColumns + ` FROM trials t JOIN runs r ON r.seq = t.run
		WHERE t.host = ? AND t.state = 'queued' AND t.dispatched IS NULL AND t.host <> '' %s ORDER BY t.run, t.ordinal LIMIT ?`
	orders, err := s.orders(ctx, "list undispatched trials", fmt.Sprintf(query, ""), host, most)
	if err != nil {
		return nil, err
	}
	var out []bench.Order
	for _, o := range orders {
		if o.Plan.Order != bench.Interleaved {
			out = append(out, o)
			continue
		}
		if len(out) > 0 && out[len(out)-1].Run == o.Run {
			continue // it is carried by the one before
		}
		all, err := s.orders(ctx, "list undispatched trials of a run", fmt.Sprintf(query, "AND r.id = ?"), host, o.Run, bench.MaxTrials)
		if err != nil {
			return nil, err
		}
		out = append(out, together(all)...)
	}
	return out, nil
}

// together makes one order of several.
func together(orders []bench.Order) []bench.Order {
	if len(orders) == 0 {
		return nil
	}
	first := orders[0]
	if len(orders) > 1 {
		first.With = orders[1:]
	}
	return []bench.Order{first}
}

// Dispatched gives the orders that went to the queue and were not reported as started, so
// that they can be compared with what the queue holds. Those whose cancellation was asked
// are among them.
func (s *Store) Dispatched(ctx context.Context) ([]bench.Order, error) {
	return s.orders(ctx, "list dispatched trials", "SELECT "+orderColumns+` FROM trials t JOIN runs r ON r.seq = t.run
		WHERE t.dispatched IS NOT NULL AND t.started IS NULL AND t.finished IS NULL ORDER BY t.run, t.ordinal`)
}

// orders reads orders, and their runs' plans once the rows of the orders are read: a
// connection answers one query at a time.
func (s *Store) orders(ctx context.Context, op, query string, args ...any) ([]bench.Order, error) {
	var orders []bench.Order
	err := s.read(ctx, op, func(t *tx) error {
		var seqs []int64
		err := t.each(query, args, func(r *sql.Rows) error {
			var seq int64
			var o bench.Order
			var params string
			err := r.Scan(&seq, &o.Run, &o.Trial, &o.Host, &o.Attempt, &o.Case.Kernel, &params, &o.Repeat)
			if err == nil {
				o.Case.Params, err = parseParams(params)
			}
			seqs, orders = append(seqs, seq), append(orders, o)
			return err
		})
		if err != nil {
			return err
		}
		return t.addPlans(orders, seqs)
	})
	return orders, err
}

// addPlans fills in the plan of each order, reading each run's spec once.
func (t *tx) addPlans(orders []bench.Order, seqs []int64) error {
	plans := make(map[int64]func(bench.Case) bench.Plan)
	for i, seq := range seqs {
		planOf, known := plans[seq]
		if !known {
			var text []byte
			if err := t.row("SELECT spec FROM runs WHERE seq = ?", seq).Scan(&text); err != nil {
				return err
			}
			spec, err := parseSpec(text)
			if err != nil {
				return fmt.Errorf("read spec of run %s: %w", orders[i].Run, err)
			}
			planOf = spec.Plans()
			plans[seq] = planOf
		}
		orders[i].Plan = planOf(orders[i].Case)
	}
	return nil
}

// MarkDispatched notes that orders go to the queue, and gives those that really shall: an
// order whose trial was canceled meanwhile, or that another collector has marked, does not
// come back. Mark first and enqueue then what came back; an order that a crash keeps from
// the queue shows up in Dispatched.
func (s *Store) MarkDispatched(ctx context.Context, orders []bench.Order) ([]bench.Order, error) {
	var marked []bench.Order
	err := s.write(ctx, "mark dispatched", func(t *tx) error {
		now := micros(s.now())
		for _, o := range orders {
			var left []bench.Order
			for _, o := range o.All() {
				n, err := t.exec("UPDATE trials SET dispatched = ? WHERE id = ? AND state = 'queued' AND dispatched IS NULL AND least = ?", now, o.Trial, o.Attempt)
				if err != nil {
					return err
				}
				if n > 0 {
					left = append(left, o)
				}
			}
			marked = append(marked, together(left)...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return marked, nil
}

// Requeue takes back the trials whose orders the queue lost: they can be dispatched again,
// with a higher attempt, so that a report of the lost order is refused. One whose
// cancellation was asked ends instead. Trials that started or ended meanwhile stay as they
// are, and so does one of which another collector has taken back the same order, and maybe
// sent the next.
func (s *Store) Requeue(ctx context.Context, orders []bench.Order) error {
	return s.write(ctx, "queue again", func(t *tx) error {
		for _, o := range orders {
			tr, err := t.trial(o.Trial)
			if err == nil && tr.least == o.Attempt {
				err = t.requeue(tr)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// requeue takes one trial back, unless it started or ended.
func (t *tx) requeue(tr trial) (err error) {
	switch {
	case !tr.sent || tr.started.Valid || tr.state.Final():
	case tr.state == bench.Canceling:
		_, err = t.end(tr, ending{state: bench.Canceled, at: t.store.now()})
	default:
		_, err = t.exec("UPDATE trials SET dispatched = NULL, least = least + 1 WHERE run = ? AND ordinal = ?", tr.seq, tr.ordinal)
	}
	return err
}

// An ActiveTrial is one that a host measures or shall stop measuring.
type ActiveTrial struct {
	Run      string
	Trial    string
	Host     string
	Instance string      // the worker process that started it; empty while none said so
	Attempt  int         // of the start, or of the order while none was reported
	State    bench.State // Running or Canceling
	// StartedAt is zero for a trial that was canceled while its order was in the queue and
	// of which no start was reported: the order can be removed from the queue, and the
	// trial ended, unless a host has taken it.
	StartedAt    time.Time
	CancelReason bench.CancelReason // empty while nobody asked
}

// Order gives what is needed to find the trial's order in the queue.
func (a ActiveTrial) Order() bench.Order {
	return bench.Order{Run: a.Run, Trial: a.Trial, Host: a.Host, Attempt: a.Attempt}
}

// Active gives the trials that are running or canceling, oldest run first.
func (s *Store) Active(ctx context.Context) ([]ActiveTrial, error) {
	var active []ActiveTrial
	err := s.reader.each(ctx, `SELECT r.id, t.id, t.host, t.instance, t.attempt, t.least, t.state, t.started, r.cancel_reason
		FROM trials t JOIN runs r ON r.seq = t.run WHERE t.state IN ('running', 'canceling') ORDER BY t.run, t.ordinal`, nil, func(r *sql.Rows) error {
		var a ActiveTrial
		var least int
		var started sql.NullInt64
		if err := r.Scan(&a.Run, &a.Trial, &a.Host, &a.Instance, &a.Attempt, &least, &a.State, &started, &a.CancelReason); err != nil {
			return err
		}
		if started.Valid {
			a.StartedAt = timeOf(started.Int64)
		} else {
			a.Attempt = least
		}
		active = append(active, a)
		return nil
	})
	return active, fail("list active trials", err)
}

// Overdue gives the runs whose timeout has passed at the time given and whose cancellation
// nobody asked for yet.
func (s *Store) Overdue(ctx context.Context, now time.Time) ([]string, error) {
	var ids []string
	err := s.reader.each(ctx, "SELECT id FROM runs WHERE deadline IS NOT NULL AND deadline <= ? ORDER BY deadline", []any{micros(now)}, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, fail("list overdue runs", err)
}
