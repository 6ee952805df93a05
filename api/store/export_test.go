package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"benchd/worker/bench"
)

// seeds make a full store inside SQLite, which is many times faster than run by run. The
// numbers stand for: 1 first key, 2 spec, 3 runs, 4 trials of a run. Most runs succeeded and
// every twentieth failed; they were on two hosts, and every hundredth on a rare one; every
// ten-thousandth has a rare label.
var seeds = []string{
	`INSERT INTO runs (seq, id, state, reason, spec, timeout, hosts, selector, waiting, created, started, finished, cancel_reason, done, total, version)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
		SELECT ?1 + i * 1000000, printf('%08x-0000-7def-8000-0123456789ab', i), iif(i % 20 = 7, 'failed', 'succeeded'), '', ?2, 7200000000,
			iif(i % 100 = 50, '["rare"]', iif(i % 2, '["green"]', '["blue"]')), '{}', 0, ?1 + i * 1000000, ?1, ?1, '', ?4, ?4, 1 FROM n`,
	`INSERT INTO trials (run, ordinal, id, host, kernel, params, state, attempt, least, instance, dispatched, started, finished)
		WITH RECURSIVE o (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM o WHERE n < ?4 - 1)
		SELECT r.seq, o.n, printf('%s-%04x-7def-9000-0123456789ab', substr(r.id, 1, 8), o.n + 1), trim(r.hosts, '[]"'),
			iif(o.n % 2, 'soap.echo', 'scimark.fft'), '{"clients":"' || o.n || '","model":"stream","size":"10KB"}', r.state, 1, 1, 'w', 1, 1, 1
		FROM runs r CROSS JOIN o`,
	`INSERT INTO tags SELECT 'host', trim(hosts, '[]"'), seq FROM runs ORDER BY 2, 3`,
	`INSERT INTO tags SELECT 'kernel', k.value, r.seq FROM json_each('["scimark","scimark.fft","soap","soap.echo"]') k CROSS JOIN runs r`,
	`INSERT INTO tags SELECT 'label branch', 'main', seq FROM runs`,
	`INSERT INTO tags SELECT 'label commit', id, seq FROM runs`,
	`INSERT INTO tags SELECT 'label release', 'yes', seq FROM runs WHERE (seq - ?1) / 1000000 % 10000 = 77`,
	`INSERT INTO series (host, kernel, case_key, params, pin, awake, metric, unit, better, latest)
		SELECT h.value, 'scimark.fft', 'scimark.fft size=' || k.value, '{"size":"' || k.value || '"}', 'free', 0, 'throughput', 'Mflop/s', 'higher', ?1
		FROM json_each('["blue","green","rare"]') h CROSS JOIN json_each('["small","large"]') k`,
	`INSERT INTO scores (run, ordinal, series, repeat, repeats, value, low, high, confidence, n, valid, fingerprint, slice, warmup, finished, forks)
		SELECT t.run, t.ordinal, x.id, 1, 1, 100 + t.run / 1000000 % 7, 99, 107, 0.95, 30, t.run / 1000000 % 9 > 0, 'f', 200000, -1, t.run, '[100,101,102]'
		FROM trials t JOIN series x ON x.host = t.host AND x.id % 2 = t.ordinal WHERE t.ordinal < 2 AND t.state = 'succeeded'`,
	`INSERT INTO tally SELECT 'run', state, count(*) FROM runs GROUP BY state`,
	`INSERT INTO tally SELECT 'trial', state, count(*) FROM trials GROUP BY state`,
}

// Seed fills an empty store with runs that have ended, the first created at the time given,
// one a second, and gives their ids.
func (s *Store) Seed(ctx context.Context, first time.Time, spec bench.Spec, runs, trials int) ([]string, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	if _, err := s.writer.db.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
		return nil, err
	}
	for _, query := range seeds {
		if _, err := s.writer.db.ExecContext(ctx, query, micros(first), string(text), runs, trials); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
	}
	ids := make([]string, runs)
	for i := range ids {
		ids[i] = fmt.Sprintf("%08x-0000-7def-8000-0123456789ab", i)
	}
	_, err = s.writer.db.ExecContext(ctx, "PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)")
	return ids, err
}

// SetClock replaces the store's clock.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// LimitPages makes the disk look full once the database has n pages more.
func (s *Store) LimitPages(ctx context.Context, n int) error {
	var pages int
	if err := s.writer.db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	var set int
	return s.writer.db.QueryRowContext(ctx, "PRAGMA max_page_count = "+strconv.Itoa(pages+n)).Scan(&set)
}

// Plan tells how SQLite finds a page of a list: the lines of EXPLAIN QUERY PLAN.
func (s *Store) Plan(ctx context.Context, f Filter) (lines []string, err error) {
	l := listing{tags: f.tags(), states: f.states(), before: 1 << 60, since: sinceMicros(f.Since), limit: 51}
	if err := s.chooseDriver(ctx, &l); err != nil {
		return nil, err
	}
	query, args := l.query()
	return s.Explain(ctx, query, args...)
}

// Queries gives the fixed queries that the pools have prepared so far.
func (s *Store) Queries() []string {
	var all []string
	for _, p := range []*pool{s.reader, s.writer} {
		for q := range p.stmts {
			all = append(all, q)
		}
	}
	return all
}

// Explain gives the plan of a query; arguments that are missing are taken as null.
func (s *Store) Explain(ctx context.Context, query string, args ...any) (lines []string, err error) {
	for len(args) < strings.Count(query, "?") {
		args = append(args, nil)
	}
	rows, err := s.reader.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return nil, err
	}
	err = forEachPlan(rows, &lines)
	return lines, err
}

func forEachPlan(rows *sql.Rows, lines *[]string) error {
	return forEach(rows, func(r *sql.Rows) error {
		var id, parent, unused int
		var detail string
		err := r.Scan(&id, &parent, &unused, &detail)
		*lines = append(*lines, detail)
		return err
	})
}

// The store's parsers, for fuzzing.
var (
	ParamsText   = paramsText
	ParseParams  = parseParams
	FormatCursor = formatCursor
	ParseCursor  = parseCursor
)
