package ui_test

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/api/export"
	"benchd/api/ui"
	"benchd/worker/bench"
)

// A planField is a field of the form as the shell has it.
type planField struct {
	pointer, kind, standard string
	shown                   string // in the empty field
	options                 []string
}

var (
	control     = regexp.MustCompile(`(?s)<(?:input|select) id="plan-([a-z_]+)" name="([a-z_]+)"[^>]* data-pointer="([^"]*)" data-kind="([^"]*)" data-default="([^"]*)"(?: placeholder="([^"]*)")?[^>]*>(.*?)</div>`)
	firstOption = regexp.MustCompile(`<option value="">default: ([^<]*)</option>`)
	option      = regexp.MustCompile(`<option>([^<]*)</option>`)
)

// planFields gives the fields of the form by name.
func planFields(t *testing.T) map[string]planField {
	t.Helper()
	out := make(map[string]planField)
	for _, m := range control.FindAllStringSubmatch(shell(t, ui.New("")), -1) {
		if m[1] != m[2] {
			t.Errorf("the field %s has the id of %s", m[2], m[1])
		}
		f := planField{pointer: m[3], kind: m[4], standard: m[5], shown: m[6]}
		if first := firstOption.FindStringSubmatch(m[7]); first != nil {
			f.shown = first[1]
		}
		for _, o := range option.FindAllStringSubmatch(m[7], -1) {
			f.options = append(f.options, o[1])
		}
		out[m[1]] = f
	}
	return out
}

// TestPlanFields: the form offers every field of a plan, the repeats and the timeout, with
// the default that the service fills in.
func TestPlanFields(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(bench.DefaultPlan())
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := json.Unmarshal(b, &values); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"timeout": bench.DefaultTimeout.String(), "repeat": "1"}
	for name, v := range values {
		if want[name] = fmt.Sprint(v); v == nil {
			want[name] = "none"
		}
	}
	got := make(map[string]string)
	for name, f := range planFields(t) {
		got[name] = f.standard
		if f.standard != f.shown {
			t.Errorf("%s shows %s as its default, which is %s", name, f.shown, f.standard)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// written is the JSON that the page makes of a text in a field of a kind.
func written(t *testing.T, kind, text string) string {
	t.Helper()
	switch {
	case kind == "share" && text == "none":
		return "null"
	case kind == "number", kind == "share", kind == "bool":
		return text
	case kind == "text":
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	default:
		t.Fatalf("the page knows no kind %q", kind)
		return ""
	}
}

// TestPlanKinds: of each value that a field offers, the page makes JSON that the service
// takes, in the place where it looks for it.
func TestPlanKinds(t *testing.T) {
	t.Parallel()
	for name, f := range planFields(t) {
		for _, text := range append(f.options, f.standard) {
			request := written(t, f.kind, text)
			names := strings.Split(strings.TrimPrefix(f.pointer, "/"), "/")
			for i := range names {
				request = fmt.Sprintf("{%q: %s}", names[len(names)-1-i], request)
			}
			_, present, err := bench.ParseSpec([]byte(request))
			if err != nil || !present[f.pointer] {
				t.Errorf("%s: %s: %v, present %v", name, request, err, present)
			}
		}
	}
}

// TestKindsInTheModule: the module that reads the fields knows the kinds that the shell uses.
func TestKindsInTheModule(t *testing.T) {
	t.Parallel()
	source := sources(t)["field.js"]
	for name, f := range planFields(t) {
		if !strings.Contains(source, fmt.Sprintf("kind === %q", f.kind)) && f.kind != "number" { // a number is what is left
			t.Errorf("%s is of the kind %s, which field.js does not know", name, f.kind)
		}
	}
}

var formatLink = regexp.MustCompile(`<a data-format="([^"]*)" title="([^"]*)"(?: data-suites="([^"]*)")?>([^<]*)</a>`)

// TestFormats: the page links every format that a result can be had in, and knows of which
// suites it must be.
func TestFormats(t *testing.T) {
	t.Parallel()
	var got [][4]string
	for _, m := range formatLink.FindAllStringSubmatch(shell(t, ui.New("")), -1) {
		got = append(got, [4]string{m[1], html.UnescapeString(m[2]), strings.TrimSpace(m[3]), m[4]})
	}
	var want [][4]string
	for _, f := range export.Formats() {
		want = append(want, [4]string{f.Name, f.Title, strings.Join(f.Suites, " "), f.Name})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
