package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"benchd/worker/bench"
)

// A tx is a transaction. One that writes collects which runs it changed, to wake those who wait
// for them once it is committed, and by how much the counts of states change.
type tx struct {
	store   *Store
	pool    *pool
	ctx     context.Context
	tx      *sql.Tx
	changed []string
	counts  map[counter]int64
	fresh   map[string]*sql.Stmt // prepared for this transaction only
}

// A counter names a row of the tally.
type counter struct {
	what  string
	state bench.State
}

// What the tally counts.
const (
	tallyRun   = "run"
	tallyTrial = "trial"
)

// write runs fn in a transaction. The caller's context bounds the wait for the writer's
// turn only: a write that has begun is short, and cutting it would leave the caller unsure
// of whether it took place.
func (s *Store) write(ctx context.Context, op string, fn func(*tx) error) error {
	t := &tx{store: s, pool: s.writer, ctx: context.WithoutCancel(ctx), counts: make(map[counter]int64), fresh: make(map[string]*sql.Stmt)}
	if err := t.run(ctx, fn); err != nil {
		return fail(op, err)
	}
	s.watch.wake(t.changed)
	t.prepareFresh()
	return nil
}

// prepareFresh prepares the statements that the transaction was the first to use.
func (t *tx) prepareFresh() {
	for query := range t.fresh {
		if _, err := t.pool.stmt(t.ctx, query); err != nil {
			t.store.logger.Warn("store: prepare a statement", "error", err)
		}
	}
}

// run takes the writer's connection, runs fn between BEGIN and COMMIT, and gives the
// connection back. BEGIN takes SQLite's write lock at once (the driver's _txlock), so that
// no transaction that has read something fails later because another process wrote.
func (t *tx) run(wait context.Context, fn func(*tx) error) error {
	conn, err := t.pool.db.Conn(wait)
	if err != nil {
		return err
	}
	defer conn.Close()
	//nolint:contextcheck // wait bounds the wait for the connection only; the work has its own context
	if t.tx, err = conn.BeginTx(t.ctx, nil); err != nil {
		return err
	}
	defer t.tx.Rollback() //nolint:errcheck // without effect after Commit; else the error that led here is told
	if err := fn(t); err != nil {
		return err
	}
	if err := t.flush(); err != nil {
		return err
	}
	return t.tx.Commit()
}

// stmt gives the statement of a query within the transaction. One that is new is prepared
// for this transaction only and for all others afterwards: the pool cannot prepare it now,
// since the transaction holds its one connection.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s := t.pool.known(query); s != nil {
		return t.tx.StmtContext(t.ctx, s), nil
	}
	if s := t.fresh[query]; s != nil {
		return s, nil
	}
	s, err := t.tx.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", query, err)
	}
	t.fresh[query] = s
	return s, nil
}

// exec runs a statement and tells how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// each runs a query and calls scan for each of its rows. Scan must not query itself: the
// rows hold the connection.
func (t *tx) each(query string, args []any, scan func(*sql.Rows) error) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return forEach(rows, scan)
}

// row runs a query for one row.
func (t *tx) row(query string, args ...any) row {
	s, err := t.stmt(query)
	if err != nil {
		return row{err: err}
	}
	rows, err := s.QueryContext(t.ctx, args...)
	return row{rows, err}
}

// count notes that n more runs or trials are in a state.
func (t *tx) count(what string, state bench.State, n int64) {
	t.counts[counter{what, state}] += n
}

// move notes that n runs or trials went from one state to another.
func (t *tx) move(what string, from, to bench.State, n int64) {
	t.count(what, from, -n)
	t.count(what, to, n)
}

// flush writes the changed counts, always in the same order, so that two writers of a
// server database cannot wait for each other.
func (t *tx) flush() error {
	keys := slices.SortedFunc(maps.Keys(t.counts), func(a, b counter) int {
		return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.state, b.state))
	})
	for _, k := range keys {
		if t.counts[k] == 0 {
			continue
		}
		_, err := t.exec("INSERT INTO tally (what, state, n) VALUES (?, ?, ?) ON CONFLICT (what, state) DO UPDATE SET n = tally.n + excluded.n",
			k.what, k.state, t.counts[k])
		if err != nil {
			return fmt.Errorf("count states: %w", err)
		}
	}
	return nil
}
