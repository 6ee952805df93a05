package export_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"benchd/kernels"
	"benchd/worker/bench"
)

// FuzzTexts: whatever texts and figures a result has, every format can be read by its own
// reader, and a parameter comes out of it as it went in.
func FuzzTexts(f *testing.F) {
	f.Add("size", "2.2KB", "commit", "abc", "host_busy: a | b", 1.5)
	f.Add("a\"b", "c\nd", "e|f", "g\\h", "<i>&amp;`@j", math.Inf(1))
	f.Add("x", "y-4", "é", "\u2028\u0085", "]]>", math.NaN())
	f.Add("\xff\x00", "", "Host", "\ufffe\uffff", "www.example.org http://x", math.Copysign(0, -1))
	f.Add("_p", "%2D", "", " ", "\r\n", 5e-324)
	f.Fuzz(func(t *testing.T, param, value, name, text, reason string, figure float64) {
		everyReader(t, strange(param, value, name, text, reason, figure))
	})
}

// TestTexts tries texts made of the characters that have a meaning in one format or another.
func TestTexts(t *testing.T) {
	t.Parallel()
	special := []rune("aB1 \"'|\\,;:#@`*_[]()<>&%={}~!?$^+-./\n\r\t\x00\x7f\u0085\u2028\ufeff\ufffe\ufffdéÅ世🙂")
	texts := rapid.StringOfN(rapid.SampledFrom(special), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return texts.Draw(t, name) }
		everyReader(t, strange(draw("param"), draw("value"), draw("name"), draw("text"), draw("reason"), rapid.Float64().Draw(t, "figure")))
	})
}

// strange is whole with the texts and the figure given in every place that a client or an
// error can fill.
func strange(param, value, name, text, reason string, figure float64) bench.Result {
	r := whole()
	r.Spec.Labels = map[string]string{name: text, text: name}
	for i := range r.Trials {
		tr := &r.Trials[i]
		tr.Params = kernels.Params{"size": "small", param: value}
		tr.Validity.Reasons = []string{reason, value}
		if tr.Error != nil {
			tr.Error.Code, tr.Error.Message = text, reason
		}
		if tr.Score != nil {
			tr.Score.Value, tr.Score.High = &figure, &figure
			tr.Score.Reason = text
			tr.Forks[0].Samples[0] = figure
		}
	}
	r.Composites[0].Params = r.Trials[0].Params
	return r
}

// A failer is a test, or one try of a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// everyReader reads all formats of a result.
func everyReader(tb failer, r bench.Result) {
	tb.Helper()
	rows := readCSV(tb, write(tb, "csv", r))
	lines, _ := readBenchfmt(tb, write(tb, "benchfmt", r))
	readJMH(tb, write(tb, "jmh", r))
	readBMF(tb, write(tb, "bmf", r))
	readJUnit(tb, write(tb, "junit", r))
	readOpenMetrics(tb, write(tb, "openmetrics", r))
	cells := readMarkdown(tb, write(tb, "markdown", r))
	if len(rows) != len(r.Trials)+len(r.Composites) || len(cells) != len(rows) {
		tb.Errorf("%d rows of CSV and %d of Markdown, want %d", len(rows), len(cells), len(r.Trials)+len(r.Composites))
	}
	samples := 0
	for _, t := range r.Trials {
		for _, f := range t.Forks {
			for _, s := range f.Samples {
				if !math.IsNaN(s) && !math.IsInf(s, 0) {
					samples++
				}
			}
		}
	}
	if len(lines) != samples {
		tb.Errorf("%d lines of benchfmt of %d samples", len(lines), samples)
	}
}
