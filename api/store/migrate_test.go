package store_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

// version1 makes a file as the first version of the tables had it: a run of three trials that
// ended (measured, failed, measured but for a part that cannot be read) and one that waits.
func version1(t *testing.T, path string) {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join("schema", "sqlite_1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	spec := `{"cases":[{"kernel":"scimark.fft"}],"hosts":{},"plan":{"forks":2,"warmup":"0s","slices":3,"slice":"1s","confidence":0.95,"limit":"5m"},"labels":{"commit":"abc"},"timeout":"2h"}`
	value, low := 100.5, 99.5
	packed := func(r bench.TrialResult) string {
		text, err := json.Marshal(map[string]any{"result": r, "snapshot": bench.HostSnapshot{Fingerprint: "f"}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("x'%x'", e.EncodeAll(text, nil))
	}
	good := packed(bench.TrialResult{
		State: bench.Succeeded, Validity: bench.Validity{Valid: true}, Forks: []bench.Fork{{Samples: []float64{1, 3, 2}}},
		Score: &bench.Score{Metric: "throughput", Unit: "Mflop/s", Better: "higher", Value: &value, Low: &low, Confidence: 0.95, N: 6},
	})
	execute(t, path, strings.Join([]string{
		string(schema),
		`INSERT INTO runs VALUES (1000, 'ended', 'failed', '', '` + spec + `', 1, '["blue"]', '{}', 0, 1000, 2000, 3000, NULL, '', 3, 3, 9, NULL, NULL)`,
		`INSERT INTO runs VALUES (2000, 'waits', 'queued', '', '` + spec + `', 1, '["blue"]', '{}', 0, 2000, NULL, NULL, NULL, '', 0, 1, 1, NULL, NULL)`,
		`INSERT INTO tags VALUES ('label commit', 'abc', 1000), ('label commit', 'abc', 2000)`,
		`INSERT INTO trials VALUES (1000, 0, 't0', 'blue', 'scimark.fft', '{"size":"small"}', 'succeeded', 1, 1, 'i', 1, 2000, 2500, NULL)`,
		`INSERT INTO trials VALUES (1000, 1, 't1', 'blue', 'scimark.lu', '{"size":"small"}', 'failed', 1, 1, 'i', 1, 2000, 2600, NULL)`,
		`INSERT INTO trials VALUES (1000, 2, 't2', 'blue', 'scimark.sor', '{"size":"small"}', 'succeeded', 1, 1, 'i', 1, 2000, 2700, NULL)`,
		`INSERT INTO trials VALUES (2000, 0, 't3', 'blue', 'scimark.fft', '{"size":"small"}', 'queued', 0, 1, '', NULL, NULL, NULL, NULL)`,
		`INSERT INTO results VALUES (1000, 0, ` + good + `), (1000, 1, ` + packed(bench.TrialResult{State: bench.Failed}) + `), (1000, 2, x'00')`,
		`PRAGMA user_version = 1`,
		fmt.Sprintf("PRAGMA application_id = %d", 0x62656e64),
	}, ";\n"))
}

// TestMigrate opens a file of the first version: what was stored is there, the scores of its
// results are where a history finds them, and a second opening changes nothing.
func TestMigrate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "benchd.db")
	version1(t, path)
	for range 2 {
		s, err := store.Open(t.Context(), path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		history, more, err := s.History(t.Context(), store.SeriesFilter{Limit: 9})
		if err != nil || more {
			t.Fatal(more, err)
		}
		low := 99.5
		want := []bench.HistorySeries{{
			Host: "blue", Kernel: "scimark.fft", Params: kernels.Params{"size": "small"}, Pin: "free", Metric: "throughput", Unit: "Mflop/s", Better: "higher", Total: 1,
			Points: []bench.Point{{Run: "ended", Repeat: 1, Finished: time.UnixMicro(2500).UTC(), Value: 100.5, Low: &low, Confidence: 0.95, N: 6, Valid: true, Fingerprint: "f", Slice: bench.Duration(time.Second), Commit: "abc"}},
		}}
		if diff := cmp.Diff(want, history); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		old, err := s.Run(t.Context(), "ended")
		if err != nil || len(old.Trials) != 3 || old.Trials[0].Repeat != 1 || old.Spec.Repeat != 1 || old.Spec.Plan.Pin != bench.PinFree {
			t.Errorf("%+v, error %v", old, err)
		}
		orders, err := s.Undispatched(t.Context(), "blue", 9)
		if err != nil || len(orders) != 1 || orders[0].Repeat != 1 || orders[0].Plan.Interval != bench.Bootstrap {
			t.Errorf("orders %+v, error %v", orders, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMigrateSeries opens a file of the second version: a series that it has goes on with the
// next score of its case.
func TestMigrateSeries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "benchd.db")
	version1(t, path)
	second, err := os.ReadFile(filepath.Join("schema", "sqlite_2.sql"))
	if err != nil {
		t.Fatal(err)
	}
	execute(t, path, string(second)+`;
		INSERT INTO series VALUES (7, 'blue', 'scimark.fft', 'scimark.fft size=small', '{"size":"small"}', 'free', 0, 'throughput', 'Mflop/s', 'higher', 2500);
		INSERT INTO scores VALUES (1000, 0, 7, 1, 1, 100.5, NULL, NULL, 0.95, 6, 1, 'f', 1000000, 0, 2500, '[2]');
		PRAGMA user_version = 2`)
	s, err := store.Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	value := 101.5
	ok, err := s.RecordFinished(t.Context(), bench.Report{
		Kind: bench.Finished, Run: "waits", Trial: "t3", Host: "blue", Instance: "i", Attempt: 1, At: time.UnixMicro(5000),
		Result: &bench.TrialResult{State: bench.Succeeded, Attempt: 1, Score: &bench.Score{Metric: "throughput", Unit: "Mflop/s", Better: "higher", Value: &value, N: 6}},
	})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	history, _, err := s.History(t.Context(), store.SeriesFilter{Limit: 9})
	if err != nil || len(history) != 1 || len(history[0].Points) != 2 || history[0].Operations != 0 || history[0].Ramp != 0 {
		t.Errorf("history %+v, error %v", history, err)
	}
}
