package export_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// readCSV reads a table as rows of cells by the names of their columns.
func readCSV(tb failer, text string) []map[string]string {
	tb.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := make(map[string]string)
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		out = append(out, row)
	}
	return out
}

func TestCSV(t *testing.T) {
	t.Parallel()
	text := write(t, "csv", whole())
	if strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		t.Error("a line does not end in CR LF (RFC 4180, section 2)")
	}
	rows := readCSV(t, text)
	if len(rows) != 8 {
		t.Fatalf("%d rows, want one for each of 7 trials and 1 composite", len(rows))
	}
	for _, tt := range []struct {
		name string
		row  int
		want map[string]string
	}{
		{"a trial", 2, map[string]string{
			"run": whole().ID, "kind": "trial", "host": "blue", "fingerprint": "5f0c9a4e1b7d2c38", "kernel": "soap.echo",
			"param.payload": "beans", "param.size": "2.2KB", "param.clients": "4", "param.threads": "", "repeat": "1", "state": "succeeded",
			"metric": "throughput", "value": "21034.5", "low": "20990", "high": "21080.25", "unit": "call/s", "better": "higher",
			"confidence": "0.95", "n": "6", "forks": "2", "steady": "warmup", "failed_operations": "3",
			"latency_p50_ns": "46900", "latency_p99.9_ns": "180000", "latency_max_ns": "905000", "valid": "false",
			"reasons": "failures: 3 operations failed; host_busy: other processes used 38 % of a core | or so", "error": "",
			"label.commit": "abc123", "label.Branch": "feature/x y",
		}},
		{"one repeated", 1, map[string]string{"kernel": "scimark.fft", "repeat": "2", "value": "1140"}},
		{"one without bounds", 3, map[string]string{"value": "900", "low": "", "high": "", "score_reason": "an interval needs 6 samples, there are 3"}},
		{"one that failed", 4, map[string]string{
			"state": "failed", "value": "", "metric": "", "n": "", "latency_p50_ns": "",
			"error": "open_failed: open soap.echo: dial tcp: lookup mq.example: no such host",
		}},
		{"a composite", 7, map[string]string{"kind": "composite", "kernel": "scimark", "value": "1142.25", "state": "", "valid": "", "repeat": "", "param.size": "small"}},
	} {
		for column, want := range tt.want {
			if got, ok := rows[tt.row][column]; !ok || got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, column, got, want)
			}
		}
	}
	if _, ok := rows[0]["param._addr"]; ok {
		t.Error("a parameter of the harness has a column")
	}
}

// At a rate there are both times, and without one no service time.
func TestCSVOfRate(t *testing.T) {
	t.Parallel()
	rows := readCSV(t, write(t, "csv", paced()))
	for column, want := range map[string]string{
		"latency_p50_ns": "46900", "latency_max_ns": "905000",
		"service_time_p50_ns": "31000", "service_time_p99_ns": "42000", "service_time_p99.9_ns": "", "service_time_max_ns": "77000",
	} {
		if got, ok := rows[2][column]; !ok || got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	for _, row := range []map[string]string{rows[0], rows[7], readCSV(t, write(t, "csv", whole()))[2]} {
		if got, ok := row["service_time_p50_ns"]; !ok || got != "" {
			t.Errorf("%s: without a rate service_time_p50_ns is %q", row["kernel"], got)
		}
	}
}

// An empty result is a header, so that files of several runs can be joined.
func TestCSVOfNothing(t *testing.T) {
	t.Parallel()
	if text := write(t, "csv", bench.Result{}); !strings.HasPrefix(text, "run,kind,host,") || strings.Count(text, "\n") != 1 {
		t.Errorf("%q", text)
	}
}

func TestCSVKeepsTexts(t *testing.T) {
	t.Parallel()
	r := odd()
	want := r.Trials[0].Params["size"]
	rows := readCSV(t, write(t, "csv", r))
	if d := cmp.Diff(oneLine(want), rows[0]["param.size"]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(oneLine(want), rows[0]["label.commit"]); d != "" {
		t.Error(d)
	}
}
