// Package store keeps runs, their trials and what was measured in SQL. It is the truth of
// the service: a run exists once CreateRun has returned, whatever happens to the queue, to
// the workers or to this process afterwards.
//
// Trials move along the states of bench.State only forward; the state, the times and the
// progress of their run are written in the same transaction. Reports of workers may come
// late, twice or out of order: each carries the number of its attempt, and what does not
// fit is refused without harm.
//
// Errors for users are *bench.Error: unknown_run, unknown_trial, unknown_host,
// idempotency_conflict, final_state, already_assigned, not_finished, bad_cursor,
// store_unavailable, and those of Open.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"benchd/worker/bench"
)

// A Store is an opened database. It is safe for concurrent use, also by several processes
// on the same database.
type Store struct {
	writer  *pool // one connection: SQLite has one writer, and a queue in Go is fairer than its lock
	reader  *pool
	watch   watchers
	codec   codec
	logger  *slog.Logger
	now     func() time.Time
	closing func(context.Context) error
}

// Open opens the database at url, makes it if it is not there, and brings its tables up to
// date. The url is a path or sqlite:///path; the folder has to exist.
//
// A file that is no database, another program's, of a newer benchd, or that cannot be
// written is an *bench.Error that says so; the file is left as it was.
func Open(ctx context.Context, url string, logger *slog.Logger) (*Store, error) {
	path, err := sqlitePath(url)
	if err != nil {
		return nil, err
	}
	s := &Store{logger: logger, now: time.Now}
	if s.codec, err = newCodec(); err != nil {
		return nil, err
	}
	if err := openSQLite(ctx, s, path); err != nil {
		return nil, err
	}
	return s, nil
}

// Close writes what is pending into the database file and closes it. Calls that are under
// way finish first or fail with store_unavailable.
func (s *Store) Close() error {
	s.codec.close()
	err := s.reader.close()
	if s.closing != nil {
		// A checkpoint that fails costs nothing: the log beside the file is replayed.
		if e := s.closing(context.Background()); e != nil {
			s.logger.Warn("store: checkpoint at close", "error", e)
		}
	}
	return errors.Join(err, s.writer.close())
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var n int
	if err := s.reader.row(ctx, "SELECT count(*) FROM meta").Scan(&n); err != nil {
		return fail("ping store", err)
	}
	return nil
}

// Version gives a number that grows with each change of a run or of its trials, by whatever
// process. It is cheap enough to poll.
func (s *Store) Version(ctx context.Context, runID string) (int64, error) {
	var v int64
	err := s.reader.row(ctx, "SELECT version FROM runs WHERE id = ?", runID).Scan(&v)
	if isNoRows(err) {
		return 0, unknownRun(runID)
	}
	return v, fail("read version", err)
}

// Counts gives the number of runs and of trials in each state.
func (s *Store) Counts(ctx context.Context) (runs, trials map[bench.State]int64, err error) {
	runs, trials = make(map[bench.State]int64), make(map[bench.State]int64)
	for _, state := range bench.States() {
		runs[state], trials[state] = 0, 0
	}
	err = s.reader.each(ctx, "SELECT what, state, n FROM tally", nil, func(r *sql.Rows) error {
		var what string
		var state bench.State
		var n int64
		if err := r.Scan(&what, &state, &n); err != nil {
			return err
		}
		if what == tallyRun {
			runs[state] = n
		} else {
			trials[state] = n
		}
		return nil
	})
	return runs, trials, fail("count states", err)
}

// Epoch gives the mark of the Redis that the queues were last seen in, or "".
func (s *Store) Epoch(ctx context.Context) (string, error) {
	var v string
	err := s.reader.row(ctx, "SELECT value FROM meta WHERE name = 'epoch'").Scan(&v)
	if isNoRows(err) {
		return "", nil
	}
	return v, fail("read epoch", err)
}

// SetEpoch keeps the mark of the Redis that the queues are in.
func (s *Store) SetEpoch(ctx context.Context, epoch string) error {
	return s.write(ctx, "set epoch", func(t *tx) error {
		_, err := t.exec("INSERT INTO meta (name, value) VALUES ('epoch', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", epoch)
		return err
	})
}

func unknownRun(id string) error {
	return bench.Errorf(bench.NotFound, "unknown_run", "there is no run %q", clip(id))
}

func unknownTrial(id string) error {
	return bench.Errorf(bench.NotFound, "unknown_trial", "there is no trial %q", clip(id))
}

// clip shortens what a stranger sent before it goes into a sentence.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// micros is a time as the tables keep it.
func micros(t time.Time) int64 { return t.UnixMicro() }

// timeOf reads a time from the tables.
func timeOf(us int64) time.Time { return time.UnixMicro(us).UTC() }

// timeOrNil reads a time that may be missing.
func timeOrNil(us sql.NullInt64) *time.Time {
	if !us.Valid {
		return nil
	}
	t := timeOf(us.Int64)
	return &t
}

// fail adds the operation to an error; a failure of the database becomes an Unavailable
// error that keeps its cause for the log.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if bench.AsError(err) != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", op, err)
	}
	if e := unavailable(err); e != nil {
		return fmt.Errorf("%s: %w (%w)", op, e, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}
