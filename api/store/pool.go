package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// maxStatements bounds the prepared statements of a pool. The fixed ones are about fifty;
// the rest is room for the shapes that filters of lists take.
const maxStatements = 200

// A pool is a database handle with its prepared statements, by their text.
type pool struct {
	db    *sql.DB
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// newPool keeps its connections open: a prepared statement and a page cache belong to a
// connection, and both are lost with it.
func newPool(db *sql.DB, connections int) *pool {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &pool{db: db, stmts: make(map[string]*sql.Stmt)}
}

// close closes the statements and the connections.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stmts {
		s.Close()
	}
	clear(p.stmts)
	return p.db.Close()
}

// known gives the prepared statement of a query, or nil.
func (p *pool) known(query string) *sql.Stmt {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.stmts[query]
}

// stmt gives the prepared statement of a query, or nil when there are too many already.
func (p *pool) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	p.mu.RLock()
	s, n := p.stmts[query], len(p.stmts)
	p.mu.RUnlock()
	if s != nil || n >= maxStatements {
		return s, nil
	}
	s, err := p.db.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", query, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.stmts[query]; first != nil {
		return first, s.Close()
	}
	p.stmts[query] = s
	return s, nil
}

// query runs a query for many rows.
func (p *pool) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return p.db.QueryContext(ctx, query, args...)
	}
	return s.QueryContext(ctx, args...)
}

// each runs a query and calls scan for each of its rows.
func (p *pool) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := p.query(ctx, query, args...)
	if err != nil {
		return err
	}
	return forEach(rows, scan)
}

// forEach reads all rows and tells the first failure, also of the last step and of the end.
func forEach(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// A row is a query's only row, to be scanned once.
type row struct {
	rows *sql.Rows
	err  error
}

// row runs a query for one row.
func (p *pool) row(ctx context.Context, query string, args ...any) row {
	rows, err := p.query(ctx, query, args...)
	return row{rows, err}
}

// Scan reads the row, or gives sql.ErrNoRows.
func (r row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		return errors.Join(r.rows.Err(), sql.ErrNoRows)
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	return r.rows.Close()
}
