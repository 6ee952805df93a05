package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// A column of the table. The parameters and the labels of the run make columns of their own.
type column struct {
	name string
	cell func(row) string
}

// writeCSV writes one row for each trial and composite, and below a trial in a ramp one for each
// step (RFC 4180, with a header line and lines that end in CR LF). Every parameter of any kernel has a column "param.<name>", every
// label of the run one "label.<name>"; a cell is empty where there is nothing to tell. Texts
// are put on one line.
func writeCSV(w io.Writer, r bench.Result) error {
	columns := csvColumns(r)
	cw := csv.NewWriter(w) // it quotes what needs quotes, and keeps the first error
	cw.UseCRLF = true
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = oneLine(c.name)
	}
	_ = cw.Write(cells)
	for _, o := range rows(r) {
		for _, row := range append([]row{o}, o.steps()...) {
			for i, c := range columns {
				cells[i] = oneLine(c.cell(row))
			}
			_ = cw.Write(cells)
		}
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("write the result as CSV: %w", err)
	}
	return nil
}

// csvColumns lays out the table: what was measured, on what, the score, what lies behind it.
func csvColumns(r bench.Result) []column {
	columns := []column{
		{"run", func(row) string { return r.ID }},
		{"kind", func(o row) string {
			switch {
			case o.composite():
				return "composite"
			case o.step != nil:
				return "step"
			default:
				return "trial"
			}
		}},
		{"host", func(o row) string { return o.host }},
		{"fingerprint", func(o row) string { return r.Hosts[o.host].Fingerprint }},
		{"kernel", func(o row) string { return o.kernel }},
	}
	for _, name := range paramNames(r) {
		columns = append(columns, column{"param." + name, func(o row) string { return o.params[name] }})
	}
	columns = append(columns,
		ofTrial("repeat", func(t *bench.TrialResult) string { return strconv.Itoa(t.Repeat) }),
		ofTrial("state", func(t *bench.TrialResult) string { return string(t.State) }))
	columns = append(columns, stepColumns(r)...)
	columns = append(columns, scoreColumns()...)
	columns = append(columns, trialColumns()...)
	for _, name := range sortedKeys(r.Spec.Labels) {
		columns = append(columns, column{"label." + name, func(row) string { return r.Spec.Labels[name] }})
	}
	return columns
}

// scoreColumns are those of the headline figure. The bounds are cells of their own rather than
// a distance from the value, since an interval need not be symmetric.
func scoreColumns() []column {
	return []column{
		ofScore("metric", func(s *bench.Score) string { return s.Metric }),
		ofScore("value", func(s *bench.Score) string { return known(s.Value) }),
		ofScore("low", func(s *bench.Score) string { return known(s.Low) }),
		ofScore("high", func(s *bench.Score) string { return known(s.High) }),
		ofScore("unit", func(s *bench.Score) string { return s.Unit }),
		ofScore("better", func(s *bench.Score) string { return s.Better }),
		ofScore("confidence", func(s *bench.Score) string { return known(&s.Confidence) }),
		ofScore("n", func(s *bench.Score) string { return strconv.Itoa(s.N) }),
		ofScore("score_reason", func(s *bench.Score) string { return s.Reason }),
	}
}

// trialColumns are what lies behind the figure, and whether to believe it.
func trialColumns() []column {
	columns := []column{
		ofWhole("forks", func(t *bench.TrialResult) string { return strconv.Itoa(len(t.Forks)) }),
		ofWhole("steady", steady),
		ofTrial("failed_operations", func(t *bench.TrialResult) string { return strconv.FormatInt(failed(t), 10) }),
	}
	columns = append(columns, timeColumns("latency", func(t *bench.TrialResult) *bench.Latency { return t.Latency })...)
	columns = append(columns, timeColumns("service_time", func(t *bench.TrialResult) *bench.Latency { return t.ServiceTime })...)
	return append(columns,
		ofWhole("of_floor", func(t *bench.TrialResult) string {
			if t.OfFloor == nil {
				return ""
			}
			return known(t.OfFloor.Value)
		}),
		ofWhole("valid", func(t *bench.TrialResult) string { return strconv.FormatBool(t.Validity.Valid) }),
		ofWhole("reasons", func(t *bench.TrialResult) string { return strings.Join(t.Validity.Reasons, "; ") }),
		ofWhole("error", why),
	)
}

// timeColumns are those of the times of single operations. At a rate there are two of them: the
// latency from the scheduled start and the service time, which is empty without a rate.
func timeColumns(name string, of func(*bench.TrialResult) *bench.Latency) []column {
	var columns []column
	for _, p := range []string{"50", "90", "99", "99.9"} {
		columns = append(columns, ofTrial(name+"_p"+p+"_ns", func(t *bench.TrialResult) string {
			l := of(t)
			if l == nil {
				return ""
			}
			v, ok := l.Percentiles[p]
			if !ok {
				return ""
			}
			return strconv.FormatInt(v, 10)
		}))
	}
	return append(columns, ofTrial(name+"_max_ns", func(t *bench.TrialResult) string {
		if l := of(t); l != nil {
			return strconv.FormatInt(l.Max, 10)
		}
		return ""
	}))
}

// ofScore makes a column that is empty without a score.
func ofScore(name string, f func(*bench.Score) string) column {
	return column{name, func(o row) string {
		if o.score == nil {
			return ""
		}
		return f(o.score)
	}}
}

// ofTrial makes a column that is empty in the row of a composite.
func ofTrial(name string, f func(*bench.TrialResult) string) column {
	return column{name, func(o row) string {
		if o.composite() {
			return ""
		}
		return f(o.trial)
	}}
}

// ofWhole makes a column of a whole trial, which is empty in the row of a step too.
func ofWhole(name string, f func(*bench.TrialResult) string) column {
	c := ofTrial(name, f)
	return column{name, func(o row) string {
		if o.step != nil {
			return ""
		}
		return c.cell(o)
	}}
}

// known writes a figure, or nothing where there is none.
func known(v *float64) string {
	f, ok := finite(v)
	if !ok {
		return ""
	}
	return number(f)
}

// steady names the class of a trial's series, or is empty.
func steady(t *bench.TrialResult) string {
	if t.Steady.Class == nil {
		return ""
	}
	return string(*t.Steady.Class)
}

// failed counts the operations of a trial that failed.
func failed(t *bench.TrialResult) int64 {
	if t.Failures == nil {
		return 0
	}
	return t.Failures.Count
}

// why is the error of a trial with its code, or empty.
func why(t *bench.TrialResult) string {
	if t.Error == nil {
		return ""
	}
	return t.Error.Code + ": " + t.Error.Message
}

// paramNames lists the parameters of all rows, sorted.
func paramNames(r bench.Result) []string {
	seen := make(map[string]bool)
	for _, o := range rows(r) {
		for name := range o.params {
			seen[name] = true
		}
	}
	return sortedKeys(seen)
}
