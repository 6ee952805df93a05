package ui_test

import (
	"net/http"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"benchd/api/ui"
	"benchd/worker/bench"
)

// sources gives the files under static as they are in the tree.
func sources(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("static")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, e := range entries {
		b, err := os.ReadFile("static/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}

// TestFilesAreServed: every file that the shell refers to is embedded as it is in the tree,
// with its media type, and every file in the tree is referred to.
func TestFilesAreServed(t *testing.T) {
	t.Parallel()
	page := ui.New("")
	media := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
	left := sources(t)
	for _, address := range references(t, page) {
		name := path.Base(address)
		want, there := left[name]
		if !there {
			t.Errorf("%s is not in the tree, or is referred to twice", name)
			continue
		}
		delete(left, name)
		r := get(t, page, http.MethodGet, address, nil)
		if r.Code != http.StatusOK || r.Header().Get("Content-Type") != media[path.Ext(name)] {
			t.Errorf("%s: %d %s", address, r.Code, r.Header().Get("Content-Type"))
		}
		if r.Body.String() != want {
			t.Errorf("%s is not what stands in the tree", address)
		}
	}
	for name := range left {
		t.Errorf("nothing refers to %s", name)
	}
}

var imported = regexp.MustCompile(`(?m)^import \{([^}]*)\} from "([^"]*)";$`)

// TestImports: each module imports modules that there are, and names that they export; a
// name that is missing would leave the page empty.
func TestImports(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for name, source := range all {
		if path.Ext(name) != ".js" {
			continue
		}
		found := imported.FindAllStringSubmatch(source, -1)
		if n := strings.Count(source, "\nimport ") + strings.Count(source, "import("); n > len(found) {
			t.Errorf("%s imports in a way that this test does not read", name)
		}
		for _, m := range found {
			other, ok := all[strings.TrimPrefix(m[2], "./")]
			if !ok || !strings.HasPrefix(m[2], "./") {
				t.Errorf("%s imports %s, which there is not", name, m[2])
				continue
			}
			for what := range strings.SplitSeq(m[1], ",") {
				what, _, _ = strings.Cut(strings.TrimSpace(what), " as ")
				export := regexp.MustCompile(`(?m)^export (?:async )?(?:function|class|const) ` + what + `\b`)
				if !export.MatchString(other) {
					t.Errorf("%s imports %s from %s, which does not export it", name, what, m[2])
				}
			}
		}
	}
}

// TestNothingInline: the content security policy would refuse it, and what comes from the
// service must never be read as markup or as a program.
func TestNothingInline(t *testing.T) {
	t.Parallel()
	html := shell(t, ui.New(""))
	for _, tt := range []struct{ what, pattern string }{
		{"a script without an address", `<script(?:\s+type="module")?\s*>`},
		{"a script with text", `<script[^>]*>[^<]`},
		{"a style", `<style`},
		{"a style attribute", `\sstyle\s*=`},
		{"a handler", `\son[a-z]+\s*=`},
		{"a script as an address", `javascript:`},
	} {
		if m := regexp.MustCompile(`(?i)` + tt.pattern).FindString(html); m != "" {
			t.Errorf("the shell has %s: %s", tt.what, m)
		}
	}
	unsafe := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|setHTMLUnsafe|DOMParser|srcdoc|\beval\b|new Function|style:|\.style\b|cssText|javascript:|localStorage`)
	for name, source := range sources(t) {
		if m := unsafe.FindString(source); m != "" && path.Ext(name) == ".js" {
			t.Errorf("%s uses %s", name, m)
		}
	}
}

// TestNothingFromOutside: the page works without a network, and tells nobody that it is read.
func TestNothingFromOutside(t *testing.T) {
	t.Parallel()
	const namespace = "http://www.w3.org/2000/svg" // a name, never fetched
	all := sources(t)
	all["shell.html"] = shell(t, ui.New(""))
	outside := regexp.MustCompile(`[A-Za-z]+://[^"'\s]*|"//[^"]*|\burl\(|@import`)
	for name, source := range all {
		if m := outside.FindString(strings.ReplaceAll(source, namespace, "")); m != "" {
			t.Errorf("%s refers to %s", name, m)
		}
	}
}

// TestSmall: the page is read over slow lines too.
func TestSmall(t *testing.T) {
	t.Parallel()
	total := len(shell(t, ui.New("")))
	for name, source := range sources(t) {
		total += len(source)
		if lines := strings.Count(source, "\n"); lines > 400 {
			t.Errorf("%s has %d lines; part it", name, lines)
		}
	}
	if total > 128<<10 {
		t.Errorf("the page has %d bytes", total)
	}
}

// TestEveryStateHasALook: a badge without a rule of its own would look like any other.
func TestEveryStateHasALook(t *testing.T) {
	t.Parallel()
	css := sources(t)["app.css"]
	plain := []bench.State{bench.Canceled} // the badge's own look
	for _, s := range bench.States() {
		if !strings.Contains(css, ".badge."+string(s)) && !slices.Contains(plain, s) {
			t.Errorf("no rule for .badge.%s", s)
		}
	}
}

// TestEveryVerdictHasAPlace: the comparison sorts by verdict, and one that it does not know
// would stand above what calls for action.
func TestEveryVerdictHasAPlace(t *testing.T) {
	t.Parallel()
	all := sources(t)
	order := regexp.MustCompile(`(?m)^const order = (\[[^\]]*\]);$`).FindStringSubmatch(all["compare.js"])
	if order == nil {
		t.Fatal("compare.js has no order of verdicts that this test can read")
	}
	plain := []bench.Verdict{bench.Same} // the badge's own look
	for _, v := range bench.Verdicts() {
		if !strings.Contains(order[1], `"`+string(v)+`"`) {
			t.Errorf("%s is not in %s", v, order[1])
		}
		if !strings.Contains(all["app.css"], ".badge."+string(v)) && !slices.Contains(plain, v) {
			t.Errorf("no rule for .badge.%s", v)
		}
	}
}

// TestNamesOfFields: what the modules read of a comparison and of a trial is what the service
// writes; a name that is not would be shown as unknown for ever.
func TestNamesOfFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, read string // the name of the value in the module
		value      any
	}{
		{"compare.js", "c", bench.CaseChange{}},
		{"figures.js", "n", bench.Noise{}},
		{"figures.js", "p", bench.Precision{}},
		{"compare.js", "rules", bench.CompareSettings{}},
		{"figures.js", "o", bench.OfFloor{}},
		{"ramp.js", "series", bench.Series{}},
		{"ramp.js", "step", bench.Step{}},
		{"ramp.js", "cpu", bench.CPU{}},
	} {
		t.Run(tt.file+" "+tt.read, func(t *testing.T) {
			t.Parallel()
			known := namesOf(tt.value)
			if tt.read == "c" {
				known = append(known, namesOf(bench.Comparison{})...)
			}
			if tt.read == "p" {
				known = append(known, namesOf(bench.Placement{})...)
			}
			found := regexp.MustCompile(`\b`+tt.read+`\.([a-z_]+)\b`).FindAllStringSubmatch(sources(t)[tt.file], -1)
			if len(found) == 0 {
				t.Fatalf("%s reads nothing of %s", tt.file, tt.read)
			}
			for _, m := range found {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s reads %s, which there is not", tt.file, m[0])
				}
			}
		})
	}
}

// namesOf gives the names in JSON of a struct's fields.
func namesOf(v any) []string {
	var out []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}
