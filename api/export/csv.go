package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A row of the table: a trial, or a composite, which has no state, latency or validity.
type row struct {
	result    *bench.Result
	host      string
	kernel    string
	params    kernels.Params
	score     *bench.Score
	trial     *bench.TrialResult // nil for a composite
	composite bool
}

// A column of the table. The parameters and the labels of the run make columns of their own.
type column struct {
	name string
	cell func(row) string
}

// writeCSV writes one row for each trial and composite (RFC 4180, with a header line and
// lines that end in CR LF). Every parameter of any kernel has a column "param.<name>", every
// label of the run one "label.<name>"; a cell is empty where there is nothing to tell. Texts
// are put on one line.
func writeCSV(w io.Writer, r bench.Result) error {
	columns := csvColumns(r)
	cw := csv.NewWriter(w)
	cw.UseCRLF = true
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	_ = cw.Write(cells) // an error stays and is told at the end
	for _, row := range csvRows(r) {
		for i, c := range columns {
			cells[i] = oneLine(c.cell(row))
		}
		_ = cw.Write(cells)
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("write the result as CSV: %w", err)
	}
	return nil
}

func csvRows(r bench.Result) []row {
	var rows []row
	for i := range r.Trials {
		t := &r.Trials[i]
		rows = append(rows, row{result: &r, host: t.Host, kernel: t.Kernel, params: t.Params, score: t.Score, trial: t})
	}
	for i := range r.Composites {
		c := &r.Composites[i]
		rows = append(rows, row{result: &r, host: c.Host, kernel: c.Name, params: c.Params, score: &c.Score, composite: true})
	}
	return rows
}

// csvColumns lays out the table: what was measured, on what, the score, what lies behind it.
func csvColumns(r bench.Result) []column {
	columns := []column{
		{"run", func(r row) string { return r.result.ID }},
		{"kind", func(r row) string {
			if r.composite {
				return "composite"
			}
			return "trial"
		}},
		{"host", func(r row) string { return r.host }},
		{"fingerprint", func(r row) string { return r.result.Hosts[r.host].Fingerprint }},
		{"kernel", func(r row) string { return r.kernel }},
	}
	for _, name := range paramNames(r) {
		columns = append(columns, column{"param." + oneLine(name), func(r row) string { return r.params[name] }})
	}
	columns = append(columns, ofTrial("repeat", func(t *bench.TrialResult) string { return strconv.Itoa(t.Repeat) }),
		ofTrial("state", func(t *bench.TrialResult) string { return string(t.State) }))
	columns = append(columns, scoreColumns()...)
	columns = append(columns, trialColumns()...)
	for _, name := range sortedKeys(r.Spec.Labels) {
		columns = append(columns, column{"label." + oneLine(name), func(r row) string { return r.result.Spec.Labels[name] }})
	}
	return columns
}

func scoreColumns() []column {
	return []column{
		ofScore("metric", func(s *bench.Score) string { return s.Metric }),
		ofScore("value", func(s *bench.Score) string { return cell(s.Value) }),
		ofScore("low", func(s *bench.Score) string { return cell(s.Low) }),
		ofScore("high", func(s *bench.Score) string { return cell(s.High) }),
		ofScore("unit", func(s *bench.Score) string { return s.Unit }),
		ofScore("better", func(s *bench.Score) string { return s.Better }),
		ofScore("confidence", func(s *bench.Score) string { return number(s.Confidence) }),
		ofScore("n", func(s *bench.Score) string { return strconv.Itoa(s.N) }),
		ofScore("score_reason", func(s *bench.Score) string { return s.Reason }),
	}
}

func trialColumns() []column {
	columns := []column{
		ofTrial("forks", func(t *bench.TrialResult) string { return strconv.Itoa(len(t.Forks)) }),
		ofTrial("steady", func(t *bench.TrialResult) string {
			if t.Steady.Class == nil {
				return ""
			}
			return string(*t.Steady.Class)
		}),
		ofTrial("failed_operations", func(t *bench.TrialResult) string {
			if t.Failures == nil {
				return "0"
			}
			return strconv.FormatInt(t.Failures.Count, 10)
		}),
	}
	for _, p := range []string{"50", "90", "99", "99.9"} {
		columns = append(columns, ofTrial("latency_p"+p+"_ns", func(t *bench.TrialResult) string { return percentile(t.Latency, p) }))
	}
	return append(columns,
		ofTrial("latency_max_ns", func(t *bench.TrialResult) string {
			if t.Latency == nil {
				return ""
			}
			return strconv.FormatInt(t.Latency.Max, 10)
		}),
		ofTrial("valid", func(t *bench.TrialResult) string { return strconv.FormatBool(t.Validity.Valid) }),
		ofTrial("reasons", func(t *bench.TrialResult) string { return strings.Join(t.Validity.Reasons, "; ") }),
		ofTrial("error", func(t *bench.TrialResult) string {
			if t.Error == nil {
				return ""
			}
			return t.Error.Code + ": " + t.Error.Message
		}),
	)
}

// ofScore makes a column that is empty without a score.
func ofScore(name string, f func(*bench.Score) string) column {
	return column{name, func(r row) string {
		if r.score == nil {
			return ""
		}
		return f(r.score)
	}}
}

// ofTrial makes a column that is empty in the row of a composite.
func ofTrial(name string, f func(*bench.TrialResult) string) column {
	return column{name, func(r row) string {
		if r.trial == nil {
			return ""
		}
		return f(r.trial)
	}}
}

func cell(v *float64) string {
	f, ok := finite(v)
	if !ok {
		return ""
	}
	return number(f)
}

func percentile(l *bench.Latency, p string) string {
	if l == nil {
		return ""
	}
	v, ok := l.Percentiles[p]
	if !ok {
		return ""
	}
	return strconv.FormatInt(v, 10)
}

// paramNames lists the parameters of all trials and composites, sorted.
func paramNames(r bench.Result) []string {
	seen := make(map[string]bool)
	for _, row := range csvRows(r) {
		for name := range row.params {
			seen[name] = true
		}
	}
	return sortedKeys(seen)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
