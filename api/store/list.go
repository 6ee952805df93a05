package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"benchd/worker/bench"
)

// Bounds of a page of runs.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// A Filter says which runs to list. Its zero value means all.
type Filter struct {
	States []bench.State     // in one of these states
	Host   string            // with a trial on this host
	Kernel string            // with a trial of this kernel, or of this family
	Suite  string            // of this suite
	Labels map[string]string // with all of these labels
	Since  time.Time         // created then or later
	Limit  int               // runs of a page: DefaultLimit if 0, MaxLimit at most
	Cursor string            // the next of the page before
}

// Runs gives a page of the runs that fit the filter, without their trials, newest first,
// and the cursor of the next page, or "" at the end. Runs that come in while somebody turns
// pages neither repeat nor hide any. A cursor that this method did not give is Invalid,
// bad_cursor.
//
// The Progress of a listed run counts its trials; it has no ETA.
func (s *Store) Runs(ctx context.Context, f Filter) (runs []bench.Run, next string, err error) {
	before, err := parseCursor(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := DefaultLimit
	if f.Limit > 0 {
		limit = min(f.Limit, MaxLimit)
	}
	l := listing{tags: f.tags(), states: f.states(), before: before, since: sinceMicros(f.Since), limit: limit + 1}
	if err := s.chooseDriver(ctx, &l); err != nil {
		return nil, "", fail("list runs", err)
	}
	query, args := l.query()
	runs = make([]bench.Run, 0, limit)
	err = s.reader.each(ctx, query, args, func(r *sql.Rows) error {
		seq, run, err := scanRun(r.Scan)
		if err != nil {
			return err
		}
		if len(runs) == limit {
			next = formatCursor(before)
			return nil
		}
		runs, before = append(runs, run), seq
		return nil
	})
	return runs, next, fail("list runs", err)
}

// A tag is one thing that runs are found by.
type tag struct{ kind, value string }

// tags lists the filter's conditions that are tags, always in the same order.
func (f Filter) tags() []tag {
	var tags []tag
	for _, t := range []tag{{tagHost, f.Host}, {tagKernel, f.Kernel}, {tagSuite, f.Suite}} {
		if t.value != "" {
			tags = append(tags, t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		tags = append(tags, tag{tagLabel + name, f.Labels[name]})
	}
	return tags
}

// states lists the filter's states once each; all of them are no condition.
func (f Filter) states() []bench.State {
	states := slices.Compact(slices.Sorted(slices.Values(f.States)))
	if len(states) == len(bench.States()) {
		return nil
	}
	return states
}

// A listing is a page to be found. The query walks down the keys of its driver, which is
// the rarest of the conditions, and checks the others for each run it meets.
type listing struct {
	tags   []tag
	states []bench.State
	driver int // index into tags, or byState, or byKey
	before int64
	since  int64
	limit  int
}

// Drivers that are no tag.
const (
	byKey   = -1
	byState = -2
)

// query writes the listing as SQL. A list of several states takes a page of each state's
// runs and sorts what comes together, which is a few rows however many runs there are. CROSS JOIN keeps the order of the tables as written,
// for SQLite would sometimes rather walk the index of states and sort.
func (l listing) query() (string, []any) {
	var b strings.Builder
	var args []any
	switch l.driver {
	case byKey:
		b.WriteString("SELECT " + runColumns + " FROM runs r WHERE r.seq < ? AND r.seq >= ?")
		args = append(args, l.before, l.since)
	case byState:
		b.WriteString("SELECT " + runColumns + " FROM (")
		for i, state := range l.states {
			if i > 0 {
				b.WriteString(" UNION ALL ")
			}
			b.WriteString("SELECT * FROM (SELECT s.seq FROM runs s WHERE s.state = ? AND s.seq < ? AND s.seq >= ?")
			args = append(args, state, l.before, l.since)
			args = l.check(&b, args, "s.seq", "s.created")
			b.WriteString(" ORDER BY s.seq DESC LIMIT ?) AS x")
			args = append(args, l.limit)
		}
		b.WriteString(") AS d CROSS JOIN runs r WHERE r.seq = d.seq ORDER BY d.seq DESC LIMIT ?")
		return b.String(), append(args, l.limit)
	default:
		t := l.tags[l.driver]
		b.WriteString("SELECT " + runColumns + " FROM tags d CROSS JOIN runs r WHERE r.seq = d.run AND d.kind = ? AND d.value = ? AND d.run < ? AND d.run >= ?")
		args = append(args, t.kind, t.value, l.before, l.since)
	}
	return l.finish(&b, args)
}

// finish adds the other conditions, the order and the limit.
func (l listing) finish(b *strings.Builder, args []any) (string, []any) {
	if len(l.states) > 0 {
		b.WriteString(" AND r.state IN (" + strings.TrimSuffix(strings.Repeat("?,", len(l.states)), ",") + ")")
		for _, state := range l.states {
			args = append(args, state)
		}
	}
	key := "r.seq"
	if l.driver >= 0 {
		key = "d.run"
	}
	args = l.check(b, args, key, "r.created")
	b.WriteString(" ORDER BY " + key + " DESC LIMIT ?")
	return b.String(), append(args, l.limit)
}

// check adds a look-up for each tag that does not drive, and the time of creation, which a
// key exceeds when several runs were created at once.
func (l listing) check(b *strings.Builder, args []any, key, created string) []any {
	for i, t := range l.tags {
		if i != l.driver {
			b.WriteString(" AND EXISTS (SELECT 1 FROM tags e WHERE e.kind = ? AND e.value = ? AND e.run = " + key + ")")
			args = append(args, t.kind, t.value)
		}
	}
	if l.since > 0 {
		b.WriteString(" AND " + created + " >= ?")
		args = append(args, l.since)
	}
	return args
}

// chooseDriver finds the rarest condition, so that the walk meets few runs that the others
// refuse. Two conditions that are both common and hardly ever meet are the worst case: each
// run of the rarer one is looked at. The rarest is the one whose next few hundred runs reach furthest
// back. With one condition there is nothing to choose.
func (s *Store) chooseDriver(ctx context.Context, l *listing) error {
	switch {
	case len(l.tags) == 0 && len(l.states) == 0:
		l.driver = byKey
		return nil
	case len(l.tags) == 0:
		l.driver = byState
		return nil
	case len(l.tags) == 1 && len(l.states) == 0:
		l.driver = 0
		return nil
	}
	furthest := int64(math.MaxInt64)
	for i, t := range l.tags {
		reach, err := s.reach(ctx, "SELECT run FROM tags WHERE kind = ? AND value = ? AND run < ? AND run >= ? ORDER BY run DESC LIMIT 1 OFFSET 255", t.kind, t.value, l.before, l.since)
		if err != nil {
			return err
		}
		if reach < furthest {
			furthest, l.driver = reach, i
		}
	}
	states := int64(math.MinInt64)
	for _, state := range l.states {
		reach, err := s.reach(ctx, "SELECT seq FROM runs WHERE state = ? AND seq < ? AND seq >= ? ORDER BY seq DESC LIMIT 1 OFFSET 255", state, l.before, l.since)
		if err != nil {
			return err
		}
		states = max(states, reach)
	}
	if len(l.states) > 0 && states < furthest {
		l.driver = byState
	}
	return nil
}

// reach tells how far back a condition's next 256 runs reach: to the beginning when there
// are fewer.
func (s *Store) reach(ctx context.Context, query string, args ...any) (int64, error) {
	var seq int64
	err := s.reader.row(ctx, query, args...).Scan(&seq)
	if isNoRows(err) {
		return 0, nil
	}
	return seq, err
}

// sinceMicros is the least key of runs created at t or later. A key is never less than its
// run's time of creation.
func sinceMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	us := t.UnixMicro()
	if t.After(time.UnixMicro(us)) {
		us++
	}
	return us
}

// formatCursor writes a key as a cursor: eight bytes and their checksum, so that a cursor
// that somebody made up is told from ours.
func formatCursor(seq int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(seq))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads a cursor; none means the newest run.
func parseCursor(c string) (int64, error) {
	if c == "" {
		return math.MaxInt64, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(c)
	if err != nil || len(b) != 12 || crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return 0, bench.Errorf(bench.Invalid, "bad_cursor", "the cursor %q is not one that this service gave; leave it out to begin with the newest run", clip(c))
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}
