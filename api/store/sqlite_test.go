package store_test

import (
	"log/slog"
	"path/filepath"
	"testing"

	"benchd/api/store"
	"benchd/api/store/storetest"
)

// open opens a store in a folder of the test's own.
func open(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "benchd.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}
