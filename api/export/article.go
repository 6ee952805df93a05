package export

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"benchd/api/references"
	"benchd/worker/bench"
)

// ErrNoTable is of a result whose suite no article has a table for.
var ErrNoTable = errors.New("the run has no article's table")

// An article is a published comparison of which a suite keeps the rules, with its own table.
type article struct {
	suite string
	title string // a heading
	write func(*page)
	// What the article itself printed: a heading, and where it is. Some printed charts only, and
	// a comparison of ours is after none.
	printed string
	figures references.Query
	layout  func(*page, []bench.Reference) // of its table; nil for the usual one
}

// articles lists the suites that have a table of their own.
func articles() []article {
	return []article{
		{
			"soap-2004", "SOAP calls of four beans and an array of strings, 2.2 KB, one client, a new connection for each call", writeCalls,
			"gSOAP and Axis as client and as server",
			references.Query{Table: "soap-gsoap-axis"},
			nil,
		},
		{
			"soaprunner", "SOAP engines, one client, messages of one text of 1 KB", writeEngines,
			"Apache SOAP and Axis under SoapRunner",
			references.Query{Table: "engines", Kernel: "soap.echo"},
			nil,
		},
		{
			"soaprunner-attachments", "SOAP messages with an attachment, one client: messages per second", writeTrials,
			"Apache SOAP with attachments",
			references.Query{Table: "engines", Kernel: "soap.attachment"},
			nil,
		},
		{
			"cxf-http", "Scenario A: SOAP over HTTP, a shipment document there and back", writeScenario,
			"what CXF gained by the stream, small messages",
			references.Query{Table: "cxf", Text: "range"},
			nil,
		},
		{
			"cxf-max-load", "Special scenario: maximal load of the service, one client more at each step", writeLoad,
			"what CXF reached",
			references.Query{Table: "cxf", Text: "bound"},
			nil,
		},
		{
			"encon", "Erlang distribution, encon's comparison with jinterface", writeEcho,
			"encon and jinterface, each as client and as server",
			references.Query{Source: "erlang-jvm"},
			publishedEcho,
		},
		{
			"cxf-jms", "Scenario B: SOAP over a broker, a shipment document there and back as a tree", writeJMS,
			"",
			references.Query{},
			nil,
		},
		{
			"brokers", "Brokers: 1 KB there and back, fastest first", writeBrokers,
			"",
			references.Query{},
			nil,
		},
	}
}

// articleSuites lists the suites that have a table of their own.
func articleSuites() []string {
	var names []string
	for _, a := range articles() {
		names = append(names, a.suite)
	}
	return names
}

// writeArticle writes a result as the article that its suite keeps the rules of did: the same
// columns in the same order, of the trials that are the suite's. What was not measured is
// named below the table with the reason, and stands in it as no figure. The error is an
// ErrNoTable for the result of any other run.
func writeArticle(w io.Writer, r bench.Result) error {
	for _, a := range articles() {
		if a.suite != r.Spec.Suite {
			continue
		}
		p := newPage(r)
		fmt.Fprintf(&p.text, "%s\n\n", a.title)
		a.write(p)
		p.foot()
		if err := p.published(a); err != nil {
			return fmt.Errorf("write the article's own figures: %w", err)
		}
		if _, err := io.WriteString(w, p.text.String()); err != nil {
			return fmt.Errorf("write the result as its article's table: %w", err)
		}
		return nil
	}
	asked := fmt.Sprintf("its suite is %q", clip(r.Spec.Suite))
	if r.Spec.Suite == "" {
		asked = "it is of no suite"
	}
	return fmt.Errorf("%w: %s; those of %s have one", ErrNoTable, asked, strings.Join(articleSuites(), ", "))
}

// A page is an article's table in the making.
type page struct {
	text   strings.Builder
	result bench.Result
	suite  bench.Suite
	trials []bench.TrialResult // those of the suite
	notes  []string            // what stands below the table, each once
}

func newPage(r bench.Result) *page {
	p := &page{result: r}
	p.suite, _ = bench.SuiteNamed(r.Spec.Suite)
	for _, t := range r.Trials {
		if p.suite.Has(t.Case()) {
			p.trials = append(p.trials, t)
		}
	}
	return p
}

// note adds a line below the table.
func (p *page) note(format string, args ...any) {
	if text := oneLine(fmt.Sprintf(format, args...)); !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// foot writes the notes: what is missing, which figures are doubtful, and what of the plan is
// not the article's.
func (p *page) foot() {
	if len(p.trials) == 0 {
		p.note("The run has no trial of this suite.")
	}
	for _, t := range p.trials {
		if t.Score != nil && t.State == bench.Succeeded && !t.Validity.Valid {
			p.note("%s is doubtful: %s.", p.label(t), codes(t.Validity.Reasons))
		}
	}
	p.departures()
	if len(p.notes) > 0 {
		p.text.WriteString("\n" + strings.Join(p.notes, "\n") + "\n")
	}
}

// codes are the words before the sentences of doubts.
func codes(reasons []string) string {
	var out []string
	for _, r := range reasons {
		code, _, _ := strings.Cut(r, ":")
		if !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	if len(out) == 0 {
		return "no reason is given"
	}
	return strings.Join(out, ", ")
}

// label names a trial in a note, by what tells it from the others of the suite.
func (p *page) label(t bench.TrialResult) string {
	var words []string
	for _, name := range labelParams() {
		if v, ok := t.Params[name]; ok {
			words = append(words, name+"="+v)
		}
	}
	if len(hostNames(p.result)) > 1 {
		words = append(words, "on "+t.Host)
	}
	return strings.Join(words, " ")
}

// figure is a cell with a figure of a trial that succeeded; of one that did not it is the
// state. Where there is none, a note says why.
func (p *page) figure(t bench.TrialResult, s *bench.Score) string {
	if t.State != bench.Succeeded {
		reason := "no reason is given"
		if t.Error != nil {
			reason = t.Error.Message
		}
		p.note("%s %s: %s.", p.label(t), t.State, strings.TrimSuffix(reason, "."))
		return string(t.State)
	}
	if s == nil {
		return p.unknown(t, "there is no score")
	}
	if v, ok := finite(s.Value); ok {
		return fourDigits(v)
	}
	return p.unknown(t, s.Reason)
}

// unknown is the cell of a figure that is not known, with a note of the reason.
func (p *page) unknown(t bench.TrialResult, reason string) string {
	if reason == "" {
		reason = "no reason is given"
	}
	p.note("%s: %s.", p.label(t), strings.TrimSuffix(reason, "."))
	return "unknown"
}

// optional is a cell with a figure that may be missing from a trial that succeeded.
func (p *page) optional(t bench.TrialResult, v *float64, reason string, write func(float64) string) string {
	if t.State != bench.Succeeded {
		return ""
	}
	if f, ok := finite(v); ok {
		return write(f)
	}
	return p.unknown(t, reason)
}

// rows writes rows under a heading. A column whose heading begins with ">" stands to the right.
func (p *page) rows(heading []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	right := make([]bool, len(heading))
	width := make([]int, len(heading))
	for i, h := range heading {
		heading[i], right[i] = strings.CutPrefix(h, ">")
	}
	all := append([][]string{heading}, rows...)
	for _, row := range all {
		for i, cell := range row {
			row[i] = oneLine(cell)
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if right[i] {
				line.WriteString(pad + cell + "  ")
			} else {
				line.WriteString(cell + pad + "  ")
			}
		}
		p.text.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// published writes what the article itself printed, with what it was measured on.
func (p *page) published(a article) error {
	if a.printed == "" {
		return nil
	}
	set, err := references.Load()
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.text, "\nPublished: %s\n\n", a.printed)
	layout := a.layout
	if layout == nil {
		layout = publishedFigures
	}
	layout(p, set.List(a.figures).References)
	return nil
}

// publishedFigures writes figures with what they were measured on.
func publishedFigures(p *page, list []bench.Reference) {
	var rows [][]string
	for _, r := range list {
		if r.Value != nil {
			rows = append(rows, []string{number(*r.Value), r.Unit, r.System, r.Runtime, cmp.Or(r.Server, r.Runtime), r.CPU, r.Note})
		}
	}
	p.rows([]string{">figure", "unit", "operating system", "client", "server", "CPU", "note"}, rows)
}

// clip shortens a text of the request's for a message.
func clip(s string) string {
	if len(s) <= 64 {
		return s
	}
	return strings.ToValidUTF8(s[:64], "") + "…"
}
