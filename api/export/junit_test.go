package export_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// An element of XML, whatever it is.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

func (e *element) all(name string) []*element {
	var out []*element
	for _, c := range e.children {
		if c.name == name {
			out = append(out, c)
		}
	}
	return out
}

func (e *element) names() string {
	var names []string
	for _, c := range e.children {
		if len(names) == 0 || names[len(names)-1] != c.name {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, " ")
}

// parse reads XML into elements.
func parse(tb failer, text string) *element {
	tb.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	root := &element{}
	stack := []*element{root}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatalf("%v\n%s", err, text)
		}
		top := stack[len(stack)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			e := &element{name: tok.Name.Local, attrs: make(map[string]string)}
			for _, a := range tok.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, e)
			stack = append(stack, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(bytes.Clone(tok))
		}
	}
	if root.names() != "testsuites" {
		tb.Fatalf("the root is %s", root.names())
	}
	return root.children[0]
}

// What the two schemas ask of attributes, by element; the stricter one decides.
var junitAttrs = map[string]map[string]*regexp.Regexp{
	"testsuites": {},
	"testsuite": {
		"name": regexp.MustCompile(`^\S.*$`), "package": regexp.MustCompile(`^\S.*$`), "hostname": regexp.MustCompile(`^\S.*$`),
		"id": regexp.MustCompile(`^\d+$`), "timestamp": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`),
		"tests": regexp.MustCompile(`^\d+$`), "failures": regexp.MustCompile(`^\d+$`), "errors": regexp.MustCompile(`^\d+$`),
		"skipped": regexp.MustCompile(`^\d+$`), "time": regexp.MustCompile(`^\d+\.\d+$`),
	},
	"testcase": {"name": regexp.MustCompile(`^\S.*$`), "classname": regexp.MustCompile(`^\S.*$`), "time": regexp.MustCompile(`^\d+\.\d+$`)},
	"property": {"name": regexp.MustCompile(`^\S.*$`), "value": regexp.MustCompile(`^.*$`)},
	"failure":  {"type": regexp.MustCompile(`^.+$`), "message": regexp.MustCompile(`^.*$`)},
	"error":    {"type": regexp.MustCompile(`^.+$`), "message": regexp.MustCompile(`^.*$`)},
	"skipped":  {"message": regexp.MustCompile(`^.*$`)},
}

// readJUnit reads a report and checks it by the rules of both schemas, junit-10.xsd and
// JUnit.xsd: elements and their order, attributes and their forms; and that the counts are
// those of the cases.
func readJUnit(tb failer, text string) *element {
	tb.Helper()
	report := parse(tb, text)
	checkAttrs(tb, report)
	for id, suite := range report.children {
		checkAttrs(tb, suite)
		order := strings.ReplaceAll(suite.names(), " testcase", "")
		if suite.name != "testsuite" || order != "properties system-out system-err" {
			tb.Fatalf("%s has %s", suite.name, suite.names())
		}
		if suite.attrs["id"] != strconv.Itoa(id) {
			tb.Errorf("suite %d has id %s", id, suite.attrs["id"])
		}
		for _, p := range suite.children[0].children {
			checkAttrs(tb, p)
		}
		count := map[string]int{}
		names := make(map[string]bool)
		for _, c := range suite.all("testcase") {
			checkAttrs(tb, c)
			count["testcase"]++
			if len(c.children) > 1 || len(c.children) == 1 && !slices.Contains([]string{"failure", "error", "skipped"}, c.children[0].name) {
				tb.Errorf("a case has %s", c.names())
			}
			for _, e := range c.children {
				checkAttrs(tb, e)
				count[e.name]++
			}
			if names[c.attrs["name"]] {
				tb.Errorf("two cases are called %s", c.attrs["name"])
			}
			names[c.attrs["name"]] = true
		}
		for attr, name := range map[string]string{"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"} {
			if suite.attrs[attr] != strconv.Itoa(count[name]) {
				tb.Errorf("%s: %s is %s, there are %d", suite.attrs["name"], attr, suite.attrs[attr], count[name])
			}
		}
	}
	return report
}

func checkAttrs(tb failer, e *element) {
	tb.Helper()
	rules, ok := junitAttrs[e.name]
	if !ok {
		tb.Errorf("there is no element %s", e.name)
	}
	for name, v := range e.attrs {
		if rule, ok := rules[name]; !ok || !rule.MatchString(v) {
			tb.Errorf("%s %s=%q breaks %v", e.name, name, v, rule)
		}
	}
	for name := range rules {
		if _, ok := e.attrs[name]; !ok {
			tb.Errorf("%s lacks %s", e.name, name)
		}
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	report := readJUnit(t, write(t, "junit", whole()))
	var got []string
	for _, suite := range report.children {
		for _, c := range suite.all("testcase") {
			line := suite.attrs["name"] + ": " + c.attrs["name"] + " " + c.attrs["time"]
			for _, e := range c.children {
				line += " " + e.name + " " + e.attrs["type"] + "|" + e.attrs["message"]
			}
			got = append(got, line)
		}
	}
	want := []string{
		"blue/scimark: scimark.fft size=small threads=1 on blue 2.000",
		"blue/scimark: scimark.fft size=small threads=1 on blue (2) 2.000",
		"blue/soap: soap.echo clients=4 model=dom payload=beans size=2.2KB on blue 2.000",
		"green/scimark: scimark.sor size=small threads=1 on green 2.000",
		"green/scimark: scimark.fft size=small threads=1 on green 0.000 error worker_gone|the worker sent no heartbeat for 60s",
		"green/soap: soap.echo clients=4 model=dom payload=beans size=2.2KB on green 0.000 failure open_failed|open soap.echo: dial tcp: lookup mq.example: no such host",
		"green/messaging: messaging.mailbox pairs=1 size=16B on green 0.000 skipped |the run was canceled",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	soap := report.children[1]
	wantOut := `
soap.echo clients=4 model=dom payload=beans size=2.2KB on blue: 21034.5 call/s (20990 to 21080.25 at 95 %, n = 6)
  doubt: failures: 3 operations failed
  doubt: host_busy: other processes used 38 % of a core | or so
`
	if d := cmp.Diff(wantOut, soap.all("system-out")[0].text); d != "" {
		t.Error(d)
	}
	if soap.attrs["timestamp"] != "2026-11-30T16:19:35" || soap.attrs["time"] != "2.000" {
		t.Errorf("%v", soap.attrs)
	}
	props := make(map[string]string)
	for _, p := range soap.children[0].children {
		props[p.attrs["name"]] = p.attrs["value"]
	}
	if props["benchd.cpu_model"] != "AMD EPYC" || props["label.commit"] != "abc123" || props["benchd.run"] != whole().ID {
		t.Errorf("%v", props)
	}
}

func TestJUnitOfOddTexts(t *testing.T) {
	t.Parallel()
	readJUnit(t, write(t, "junit", odd()))
	if report := readJUnit(t, write(t, "junit", bench.Result{})); len(report.children) != 0 {
		t.Errorf("%d suites of nothing", len(report.children))
	}
}
