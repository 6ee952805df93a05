package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchd/api/store"
	"benchd/api/store/storetest"
	"benchd/worker/bench"
)

// TestOpenRefuses checks what cannot be opened: each gives a sentence, and what was there
// stays as it was.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		make  func(t *testing.T, path string)
		url   string // instead of the path
		words string // in the sentence
	}{
		{"not a database", func(t *testing.T, path string) { write(t, path, strings.Repeat("not a database ", 1000)) }, "", "not a database of benchd"},
		{"a short text", func(t *testing.T, path string) { write(t, path, "hello") }, "", "not a database of benchd"},
		{"another program's tables", func(t *testing.T, path string) { execute(t, path, "CREATE TABLE orders (id)") }, "", "another program"},
		{"another program's mark", func(t *testing.T, path string) { execute(t, path, "PRAGMA application_id = 7") }, "", "another program"},
		{"another program's version", func(t *testing.T, path string) { execute(t, path, "PRAGMA user_version = 3") }, "", "another program"},
		{"a newer benchd's", func(t *testing.T, path string) {
			if s, err := store.Open(t.Context(), path, slog.New(slog.DiscardHandler)); err != nil || s.Close() != nil {
				t.Fatal(err)
			}
			execute(t, path, "PRAGMA user_version = 999")
		}, "", "newer benchd"},
		{"a folder", func(t *testing.T, path string) { mkdir(t, path) }, "", "is a folder"},
		{"a folder that is not there", func(*testing.T, string) {}, "DIR/none/benchd.db", "make it first"},
		{"a file as folder", func(t *testing.T, path string) { write(t, path, "x") }, "DIR/benchd.db/x.db", "cannot be opened"},
		{"no address", func(*testing.T, string) {}, "EMPTY", "no address"},
		{"another database", func(*testing.T, string) {}, "postgres://me:secret@db/benchd", "postgres://…"},
		{"sqlite without a path", func(*testing.T, string) {}, "sqlite://", "sqlite:///path"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "benchd.db")
			row.make(t, path)
			before, _ := os.ReadFile(path)
			url := path
			if row.url != "" {
				url = strings.Replace(strings.Replace(row.url, "EMPTY", "", 1), "DIR", dir, 1)
			}
			s, err := store.Open(t.Context(), url, slog.New(slog.DiscardHandler))
			if err == nil {
				t.Fatal("opened", s.Close())
			}
			e := bench.AsError(err)
			if e == nil || !strings.Contains(e.Message, row.words) {
				t.Fatalf("error %v, want a sentence with %q", err, row.words)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the password is in the error: %v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestOpenUnwritable opens a file in a folder that does not take one.
func TestOpenUnwritable(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("the superuser may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := store.Open(t.Context(), filepath.Join(dir, "benchd.db"), slog.New(slog.DiscardHandler))
	if e := bench.AsError(err); e == nil || !strings.Contains(e.Message, "permission denied") {
		t.Errorf("error %v", err)
	}
}

// TestOpenAgain opens stores by path and by URL, under odd names, and finds again what was
// stored.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"benchd.db", "with space.db", "per%20cent.db", "que?ry.db", "ha#sh.db", "ünï.db"} {
		for _, scheme := range []string{"", "sqlite://"} {
			t.Run(scheme+name, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), name)
				run := storetest.NewRun("blue", 2)
				for i := range 3 {
					s, err := store.Open(t.Context(), scheme+path, slog.New(slog.DiscardHandler))
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 {
						if _, _, err := s.CreateRun(t.Context(), store.NewRun{Run: run}); err != nil {
							t.Fatal(err)
						}
					}
					if got, err := s.Run(t.Context(), run.ID); err != nil || len(got.Trials) != 2 {
						t.Errorf("run %+v, error %v", got, err)
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				entries, err := os.ReadDir(filepath.Dir(path))
				if err != nil || len(entries) != 1 {
					t.Errorf("files left %v, error %v: want the database alone, its log written back", entries, err)
				}
			})
		}
	}
}

// TestOpenTogether opens a new file from many places at once, as several processes would.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "benchd.db")
	stores := make(chan *store.Store, 4)
	for range cap(stores) {
		go func() {
			s, err := store.Open(context.Background(), path, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Error(err)
			}
			stores <- s
		}()
	}
	var all []*store.Store
	for range cap(stores) {
		if s := <-stores; s != nil {
			all = append(all, s)
		}
	}
	for i, s := range all {
		run := storetest.NewRun("blue", 2)
		if _, _, err := s.CreateRun(t.Context(), store.NewRun{Run: run}); err != nil {
			t.Fatal(err)
		}
		other := all[(i+1)%len(all)]
		before, err := other.Version(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RecordStarted(t.Context(), bench.Report{Run: run.ID, Trial: run.Trials[0].ID, Attempt: 1}); err != nil {
			t.Fatal(err)
		}
		if after, err := other.Version(t.Context(), run.ID); err != nil || after <= before {
			t.Errorf("version %d after %d, error %v: another store's change does not show", after, before, err)
		}
	}
	for _, s := range all {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestClosed uses a store after its end.
func TestClosed(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "benchd.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(t.Context(), "x")
	wantUnavailable(t, err)
	_, _, err = s.CreateRun(t.Context(), store.NewRun{Run: storetest.NewRun("blue", 1)})
	wantUnavailable(t, err)
	wantUnavailable(t, s.Ping(t.Context()))
}

// TestDiskFull fills the store until it takes no more: what is refused leaves nothing
// behind, and what was stored stays readable.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := open(t)
	if err := s.LimitPages(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	var stored []string
	for {
		run := storetest.NewRun("blue", 20)
		_, _, err := s.CreateRun(t.Context(), store.NewRun{Run: run})
		if err != nil {
			wantUnavailable(t, err)
			if !strings.Contains(bench.AsError(err).Message, "disk is full") {
				t.Errorf("error %v", err)
			}
			if _, err := s.Run(t.Context(), run.ID); bench.AsError(err) == nil || bench.AsError(err).Code != "unknown_run" {
				t.Errorf("the refused run: error %v", err)
			}
			break
		}
		if stored = append(stored, run.ID); len(stored) > 1000 {
			t.Fatal("the disk never fills")
		}
	}
	runs, _, err := s.Runs(t.Context(), store.Filter{Limit: 1000})
	if err != nil || len(runs) != len(stored) || len(stored) == 0 {
		t.Errorf("%d runs listed of %d stored, error %v", len(runs), len(stored), err)
	}
}

// TestCanceledContext gives up while another write has its turn.
func TestCanceledContext(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run := storetest.NewRun("blue", 1)
	if _, _, err := s.CreateRun(ctx, store.NewRun{Run: run}); err == nil {
		t.Error("a run was stored for nobody")
	}
	if _, err := s.Run(ctx, run.ID); err == nil {
		t.Error("a run was read for nobody")
	}
	if _, err := s.Run(t.Context(), run.ID); bench.AsError(err) == nil {
		t.Errorf("error %v, want unknown_run", err)
	}
}

func wantUnavailable(t *testing.T, err error) {
	t.Helper()
	if e := bench.AsError(err); e == nil || e.Kind != bench.Unavailable || e.Code != "store_unavailable" {
		t.Errorf("error %v, want store_unavailable", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// execute runs SQL on a file, as another program would.
func execute(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}
