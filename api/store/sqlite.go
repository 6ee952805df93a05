package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"benchd/worker/bench"
)

// All that is peculiar to SQLite is in this file and in schema; the other files speak SQL
// that a server database understands as well.

//go:embed schema/sqlite_*.sql
var schemas embed.FS

// Marks of our files, and sizes.
const (
	// applicationID marks our files in their header (SQLite file format, section 1.3.11).
	applicationID = 0x62656e64 // "bend"
	// schemaVersion is the version of the tables that this code reads and writes. Each has
	// a file in schema that makes it out of the one before.
	schemaVersion = 3
	// readers is the number of connections for reading.
	readers = 4
)

// sqlitePath takes the file's path out of a url. It shows no more of a refused url than its
// scheme, for there may be a password in the rest.
func sqlitePath(u string) (string, error) {
	if u == "" {
		return "", bench.Errorf(bench.Invalid, "bad_database_url", "the database has no address; give the path of a file, or sqlite:///path")
	}
	scheme, rest, found := strings.Cut(u, "://")
	if !found {
		return u, nil
	}
	if scheme != "sqlite" || rest == "" {
		return "", bench.Errorf(bench.Invalid, "bad_database_url", "the database address %s://… cannot be used; give the path of a file, or sqlite:///path", clip(scheme))
	}
	return filepath.FromSlash(rest), nil
}

// sqliteDSN is the driver's address of a file with the settings of each connection.
func sqliteDSN(path string, settings url.Values) string {
	slashed := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		slashed = "/" + slashed // file:///C:/… (SQLite, "Uniform Resource Identifiers", section 3.1)
	}
	return "file:" + (&url.URL{Path: slashed}).EscapedPath() + "?" + settings.Encode()
}

// openSQLite makes sure of a file before it changes anything in it, opens it for writing and
// for reading, and brings its tables up to date.
func openSQLite(ctx context.Context, s *Store, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("find sqlite file %s: %w", path, err)
	}
	if err := makeFile(path); err != nil {
		return err
	}
	for begun := time.Now(); ; {
		err := openFile(ctx, s, path)
		if !busy(err) || time.Since(begun) > openPatience {
			return err
		}
		select {
		case <-time.After(openPause):
		case <-ctx.Done():
			return err
		}
	}
}

// Opening a file is tried again while another process opens it too: SQLite does not wait by
// itself where one of them turns the write-ahead log on.
const (
	openPatience = 10 * time.Second
	openPause    = 20 * time.Millisecond
)

// busy tells whether an error says that another process holds a file's lock.
func busy(err error) bool {
	e := bench.AsError(err)
	return e != nil && e.Code == "database_locked"
}

// openFile opens a file that is there.
func openFile(ctx context.Context, s *Store, path string) error {
	if err := probe(ctx, path); err != nil {
		return err
	}
	// FULL makes a commit survive a loss of power: it syncs the log before it returns.
	writer, err := openPool(path, 1, url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16384)", "journal_size_limit(67108864)"},
	})
	if err != nil {
		return err
	}
	reader, err := openPool(path, readers, url.Values{
		"_pragma": {"busy_timeout(10000)", "query_only(1)", "cache_size(-8192)"},
	})
	if err != nil {
		return errors.Join(err, writer.close())
	}
	s.writer, s.reader = writer, reader
	s.closing = func(ctx context.Context) error {
		_, err := writer.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	}
	if err := s.write(ctx, "bring tables up to date", migrate); err != nil {
		return errors.Join(refused(path, err), reader.close(), writer.close())
	}
	return nil
}

// openPool makes a pool for a file. Nothing is opened before the first query.
func openPool(path string, connections int, settings url.Values) (*pool, error) {
	db, err := sql.Open("sqlite", sqliteDSN(path, settings))
	if err != nil {
		return nil, fmt.Errorf("open sqlite file %s: %w", path, err)
	}
	return newPool(db, connections), nil
}

// makeFile makes an empty file, for its owner only, if there is none. A file that is there
// is not opened here: closing it would drop the locks that this process may hold on it
// through SQLite (SQLite, "How To Corrupt An SQLite Database File", section 2.2).
func makeFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return bench.Errorf(bench.Unavailable, "bad_database", "the database file %s is a folder; give the path of a file", path)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return refused(path, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return bench.Errorf(bench.Unavailable, "bad_database", "the folder of the database file %s is not there; make it first", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return refused(path, err)
	}
	return f.Close()
}

// probe looks at a file without writing to it: whether it is a database, ours, and of a
// version that we know.
func probe(ctx context.Context, path string) error {
	p, err := openPool(path, 1, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(10000)"}})
	if err != nil {
		return err
	}
	err = p.inspect(ctx, path)
	return errors.Join(err, p.close())
}

// inspect reads the header's marks, all of one moment: another process may be making the
// tables. A file without any mark and without tables is new, be it empty or a database that
// nobody has used.
func (p *pool) inspect(ctx context.Context, path string) error {
	moment, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return refused(path, err)
	}
	defer moment.Rollback() //nolint:errcheck // it has only read
	var app, version, tables int
	for query, dest := range map[string]*int{
		"PRAGMA application_id": &app, "PRAGMA user_version": &version, "SELECT count(*) FROM sqlite_master": &tables,
	} {
		if err := moment.QueryRowContext(ctx, query).Scan(dest); err != nil {
			return refused(path, err)
		}
	}
	switch {
	case app == applicationID && version > schemaVersion:
		return bench.Errorf(bench.Unavailable, "bad_database",
			"the database file %s is of a newer benchd (its tables are of version %d, this benchd knows %d); use that one, or another file", path, version, schemaVersion)
	case app != applicationID && (app != 0 || version != 0 || tables != 0):
		return bench.Errorf(bench.Unavailable, "bad_database", "the database file %s belongs to another program; give another path", path)
	}
	return nil
}

// migrate makes the tables, or brings those of an older benchd up to date, all or nothing.
// The transaction holds the writer's lock, so that two processes cannot do it at once.
func migrate(t *tx) error {
	var version int
	if err := t.tx.QueryRowContext(t.ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("read user_version: %w", err)
	}
	for v := version + 1; v <= schemaVersion; v++ {
		text, err := schemas.ReadFile(fmt.Sprintf("schema/sqlite_%d.sql", v))
		if err != nil {
			return fmt.Errorf("read schema %d: %w", v, err)
		}
		script := fmt.Sprintf("%s\nPRAGMA user_version = %d; PRAGMA application_id = %d;", text, v, applicationID)
		if _, err := t.tx.ExecContext(t.ctx, script); err != nil {
			return fmt.Errorf("make tables of version %d: %w", v, err)
		}
	}
	if version == 1 {
		return t.fillScores()
	}
	return nil
}

// refused turns a failure to open a file into a sentence.
func refused(path string, err error) error {
	if e := bench.AsError(err); e != nil && e.Code == "bad_database" {
		return err
	}
	const locked = "the database file %s cannot be opened: another program keeps it locked"
	if e := bench.AsError(err); e != nil && e.Code == "store_locked" {
		return bench.Errorf(bench.Unavailable, "database_locked", locked, path)
	}
	why := err.Error()
	if code := sqliteCode(err); code != 0 {
		switch code & 0xff {
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			return bench.Errorf(bench.Unavailable, "bad_database", "the file %s is not a database of benchd, or it is damaged; give another path", path)
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			why = "it and its folder must be readable and writable for this user"
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			return bench.Errorf(bench.Unavailable, "database_locked", locked, path)
		}
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		why = pathError.Err.Error()
	}
	return bench.Errorf(bench.Unavailable, "bad_database", "the database file %s cannot be opened: %s", path, why)
}

// sqliteCode is the result code in an error of SQLite, or 0.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// unavailable gives the sentence for a failure that lies in the database's surroundings and
// may pass, or nil for one that is a fault of ours.
func unavailable(err error) error {
	const code = "store_unavailable"
	if errors.Is(err, sql.ErrConnDone) || strings.Contains(err.Error(), "database is closed") {
		return bench.Errorf(bench.Unavailable, code, "the store is closed, the service is about to end; try again later")
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		return bench.Errorf(bench.Unavailable, code, "the store's disk is full, nothing was changed; free some space and try again")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return bench.Errorf(bench.Unavailable, "store_locked", "the store is locked by another program, nothing was changed; try again")
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM:
		return bench.Errorf(bench.Unavailable, code, "the store's file cannot be read or written, nothing was changed; see the service's log")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return bench.Errorf(bench.Unavailable, code, "the store's file is damaged, nothing was changed; see the service's log")
	}
	return nil
}
