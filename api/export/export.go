// Package export writes a result as other tools read it. Each format is one file and one
// line in Formats; each says which description of the format it was written from.
//
// The formats differ in what they have room for. A score, its interval and the parameters
// are in all of them, and the same figure is the same in each. Raw samples are in json,
// benchfmt and jmh. Trials without a score are in json, csv, junit, openmetrics, markdown and
// article; the others have no way to say that something was not measured, and leave them
// out. What is not known is an empty cell or is absent; no format gets a NaN or an infinity,
// but for jmh, whose readers expect "NaN" where an error is not known.
package export

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// A Format is one way to write a result.
type Format struct {
	Name       string   // what a request and a command ask for: "benchfmt"
	Title      string   // one sentence: who reads it
	MediaType  string   // what an Accept header asks for: the first format of several that share one
	Parameters string   // what follows the media type in the header of an answer: "; charset=utf-8"
	Extension  string   // of a file, with its dot; several formats may share one
	Suites     []string // those whose results can be had in it; nil for all results
	// Write writes the result. An error is the writer's, or tells that the result cannot be
	// written in the format at all.
	Write func(w io.Writer, r bench.Result) error
}

// ContentType is the value of a Content-Type header for the format.
func (f Format) ContentType() string { return f.MediaType + f.Parameters }

// Fits tells whether a result can be had in the format.
func (f Format) Fits(r bench.Result) bool {
	return f.Suites == nil || slices.Contains(f.Suites, r.Spec.Suite)
}

// Formats returns every format, benchd's own first. Formats of JSON that have no registered
// type have one in the unregistered tree "x." (RFC 6838, section 3.4).
func Formats() []Format {
	const utf8 = "; charset=utf-8"
	return []Format{
		{"json", "The result itself, as the API gives it.", "application/json", "", ".json", nil, writeJSON},
		{"csv", "A table with a row for each trial, step of a ramp and composite, for spreadsheets and data frames.", "text/csv", utf8 + "; header=present", ".csv", nil, writeCSV},
		{"benchfmt", "The Go benchmark format with every sample, for benchstat.", "text/plain", utf8, ".txt", nil, writeBenchfmt},
		{"jmh", "The JSON of JMH, for its viewers.", "application/x.jmh+json", "", ".json", nil, writeJMH},
		{"bmf", "The Bencher Metric Format.", "application/x.bmf+json", "", ".json", nil, writeBMF},
		{"junit", "JUnit XML with a test case for each trial, for CI services.", "application/xml", utf8, ".xml", nil, writeJUnit},
		{"openmetrics", "OpenMetrics, for Prometheus and what reads its format.", "application/openmetrics-text", "; version=1.0.0" + utf8, ".prom", nil, writeOpenMetrics},
		{"markdown", "A table for the comment on a pull request.", "text/markdown", utf8, ".md", nil, writeMarkdown},
		{"article", "The table of the article whose rules the run's suite keeps, as text.", "text/plain", utf8, ".txt", articleSuites(), writeArticle},
	}
}

// ByName returns the format with the given name.
func ByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Names returns the names of all formats in order.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// finite returns the figure behind v, and false where there is none that can be written.
func finite(v *float64) (float64, bool) {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return 0, false
	}
	return *v, true
}

// number writes a figure with the fewest digits that read back to it.
func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// oneLine puts a text on one line, without control characters and with valid UTF-8 only.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}
