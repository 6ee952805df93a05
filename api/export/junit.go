package export

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"benchd/worker/bench"
)

// The elements of a report. JUnit has no standard of its own; the report is valid for the two
// schemas in use, that of Jenkins' xUnit plug-in (junit-10.xsd) and that of Ant's reports
// (JUnit.xsd of windyroad), which is the stricter one: it knows no attributes of testsuites,
// no output of a single testcase and no time zone.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string        `xml:"name,attr"`
		Package    string        `xml:"package,attr"`
		ID         int           `xml:"id,attr"`
		Hostname   string        `xml:"hostname,attr"`
		Timestamp  string        `xml:"timestamp,attr"`
		Tests      int           `xml:"tests,attr"`
		Failures   int           `xml:"failures,attr"`
		Errors     int           `xml:"errors,attr"`
		Skipped    int           `xml:"skipped,attr"`
		Time       string        `xml:"time,attr"`
		Properties junitProps    `xml:"properties"`
		Cases      []junitCase   `xml:"testcase"`
		Out        junitText     `xml:"system-out"`
		Err        junitText     `xml:"system-err"`
		host       string        // the key of the suite, with its family
		family     string        //
		began      time.Time     // of its first trial
		took       time.Duration // of all trials
	}
	junitProps struct {
		Properties []junitProp `xml:"property"`
	}
	junitProp struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string      `xml:"name,attr"`
		Classname string      `xml:"classname,attr"`
		Time      string      `xml:"time,attr"`
		Failure   *junitFault `xml:"failure"`
		Error     *junitFault `xml:"error"`
		Skipped   *junitFault `xml:"skipped"`
	}
	junitFault struct {
		Type    string `xml:"type,attr,omitempty"` // not of what is skipped
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junitText is a text of several lines; as a plain string its line ends were written as
// character references.
type junitText string

// MarshalXML writes the text.
func (t junitText) MarshalXML(e *xml.Encoder, start xml.StartElement) error {
	return errors.Join(e.EncodeToken(start), e.EncodeToken(xml.CharData(t)), e.EncodeToken(start.End()))
}

// writeJUnit writes a report with a suite for each host and family and a test case for each
// trial. A trial that failed is a failure, one that was lost an error, one that was canceled
// is skipped. The output of a suite tells each score, and below it the reasons to doubt it.
func writeJUnit(w io.Writer, r bench.Result) error {
	report := junitSuites{Suites: []junitSuite{}}
	for _, o := range rows(r) {
		report.suite(r, o).add(o)
	}
	for i := range report.Suites {
		report.Suites[i].finish(r)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write the result as JUnit XML: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(report); err != nil {
		return fmt.Errorf("write the result as JUnit XML: %w", err)
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return fmt.Errorf("write the result as JUnit XML: %w", err)
	}
	return nil
}

// suite finds or makes the suite of a row's host and family.
func (report *junitSuites) suite(r bench.Result, o row) *junitSuite {
	family, _, _ := strings.Cut(o.kernel, ".")
	for i := range report.Suites {
		if s := &report.Suites[i]; s.host == o.host && s.family == family {
			return s
		}
	}
	host := oneLine(o.host)
	if host == "" {
		host = "localhost"
	}
	report.Suites = append(report.Suites, junitSuite{
		Name: host + "/" + oneLine(family), Package: "benchd." + oneLine(family), ID: len(report.Suites), Hostname: host,
		Properties: junitProps{junitProperties(r, o.host)}, host: o.host, family: family,
	})
	return &report.Suites[len(report.Suites)-1]
}

// add adds a trial as a test case, or a composite as a line of the output.
func (s *junitSuite) add(o row) {
	s.Out += junitText("\n" + o.name + ": " + junitScore(o))
	if o.composite() {
		return
	}
	t := o.trial
	for _, reason := range t.Validity.Reasons {
		s.Out += junitText("\n  doubt: " + oneLine(reason))
	}
	c := junitCase{Name: o.name, Classname: s.Package, Time: junitSeconds(0)}
	if t.Started != nil {
		if s.began.IsZero() || t.Started.Before(s.began) {
			s.began = *t.Started
		}
		if t.Finished != nil && t.Finished.After(*t.Started) {
			took := t.Finished.Sub(*t.Started)
			s.took += took
			c.Time = junitSeconds(took)
		}
	}
	s.judge(&c, t)
	s.Tests++
	s.Cases = append(s.Cases, c)
}

// judge says how a trial ended. A state that is not final has no place in a result and is an
// error, rather than a success.
func (s *junitSuite) judge(c *junitCase, t *bench.TrialResult) {
	if t.State == bench.Succeeded {
		return
	}
	fault := &junitFault{Type: "state_" + string(t.State), Message: "the trial ended as " + string(t.State)}
	if t.Error != nil {
		fault.Message, fault.Text = oneLine(t.Error.Message), oneLine(why(t))
		if code := oneLine(t.Error.Code); code != "" {
			fault.Type = code
		}
	}
	switch t.State {
	case bench.Failed:
		s.Failures++
		c.Failure = fault
	case bench.Canceled:
		s.Skipped++
		fault.Type = ""
		c.Skipped = fault
	default:
		s.Errors++
		c.Error = fault
	}
}

// finish fills in what is known once all trials are added.
func (s *junitSuite) finish(r bench.Result) {
	if s.began.IsZero() {
		s.began = r.Created
	}
	s.Timestamp = s.began.UTC().Format("2006-01-02T15:04:05")
	s.Time = junitSeconds(s.took)
	s.Out += "\n"
}

// junitScore tells a score in a sentence's part: "21034.2 call/s (20990.1 to 21080 at 95 %, n = 60)".
func junitScore(o row) string {
	if o.score == nil {
		return "no score"
	}
	s := *o.score
	v, ok := finite(s.Value)
	if !ok {
		return oneLine("no value: " + s.Reason)
	}
	text := number(v) + " " + s.Unit
	low, okLow := finite(s.Low)
	high, okHigh := finite(s.High)
	if okLow && okHigh {
		text += fmt.Sprintf(" (%s to %s at %s %%, n = %d)", number(low), number(high), percent(s.Confidence), s.N)
	} else {
		text += fmt.Sprintf(" (n = %d; %s)", s.N, s.Reason)
	}
	return oneLine(text)
}

// percent writes a share as a percentage: 0.95 as "95", 0.999 as "99.9".
func percent(f float64) string { return strconv.FormatFloat(100*f, 'g', 6, 64) }

// junitProperties tells what was measured on, and the labels of the run.
func junitProperties(r bench.Result, host string) []junitProp {
	h := r.Hosts[host]
	props := []junitProp{
		{"benchd.run", r.ID},
		{"benchd.state", string(r.State)},
		{"benchd.schema", strconv.Itoa(r.Schema)},
		{"benchd.fingerprint", h.Fingerprint},
		{"benchd.cpu_model", h.Facts.CPUModel},
		{"benchd.os", h.Facts.OS},
		{"benchd.arch", h.Facts.Arch},
		{"benchd.go", h.Facts.Go},
		{"benchd.build", h.Facts.Build},
	}
	for _, name := range sortedKeys(r.Spec.Labels) {
		props = append(props, junitProp{"label." + name, r.Spec.Labels[name]})
	}
	for i := range props {
		props[i].Name, props[i].Value = oneLine(props[i].Name), oneLine(props[i].Value)
	}
	return props
}

// junitSeconds writes a time in seconds as a plain decimal.
func junitSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
