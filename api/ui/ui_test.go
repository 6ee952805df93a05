package ui_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/api/ui"
	"benchd/worker/bench"
)

// get asks a page for a path.
func get(t *testing.T, h http.Handler, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// shell gives the HTML of the page.
func shell(t *testing.T, h http.Handler) string {
	t.Helper()
	r := get(t, h, http.MethodGet, "/", nil)
	if r.Code != http.StatusOK {
		t.Fatalf("status %d", r.Code)
	}
	return r.Body.String()
}

var reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// references gives the addresses of the static files that the shell refers to.
func references(t *testing.T, h http.Handler) []string {
	t.Helper()
	var out []string
	for _, m := range reference.FindAllStringSubmatch(shell(t, h), -1) {
		if strings.HasPrefix(m[1], "ui/") {
			out = append(out, "/"+m[1])
		}
	}
	if len(out) < 4 {
		t.Fatalf("the shell refers to %v only", out)
	}
	return out
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	page := ui.New("v1.2.3")
	file := references(t, page)[0]
	for _, tt := range []struct {
		name, path string
		status     int
		media      string
		cache      string
	}{
		{"the shell", "/", http.StatusOK, "text/html; charset=utf-8", "no-cache"},
		{"a file", file, http.StatusOK, "image/svg+xml", "public, max-age=31536000, immutable"},
		{"a file of another version", "/ui/0000000000000000/app.js", http.StatusNotFound, "application/problem+json", "no-store"},
		{"a file without its version", "/ui/app.js", http.StatusNotFound, "application/problem+json", "no-store"},
		{"the folder", "/ui/", http.StatusNotFound, "application/problem+json", "no-store"},
		{"a name that there is not", file + "x", http.StatusNotFound, "application/problem+json", "no-store"},
		{"a way out of the folder", strings.TrimSuffix(file, "icon.svg") + "../../shell.html", http.StatusNotFound, "application/problem+json", "no-store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				r := get(t, page, method, tt.path, nil)
				if r.Code != tt.status || r.Header().Get("Content-Type") != tt.media || r.Header().Get("Cache-Control") != tt.cache {
					t.Errorf("%s: %d, %s, %s; want %d, %s, %s", method, r.Code, r.Header().Get("Content-Type"), r.Header().Get("Cache-Control"), tt.status, tt.media, tt.cache)
				}
			}
		})
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	r := get(t, ui.New(""), http.MethodGet, "/", nil)
	got := make(map[string]string)
	for part := range strings.SplitSeq(r.Header().Get("Content-Security-Policy"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), " ")
		got[name] = value
	}
	want := map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:",
		"base-uri": "'none'", "form-action": "'self'", "frame-ancestors": "'none'",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestMissingIsAProblem: as everywhere in the service, what is no success is a problem that
// names the request.
func TestMissingIsAProblem(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "abc") // as the API's middleware does
	ui.New("").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/nothing", nil))
	var p bench.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != http.StatusNotFound || p.Code != "unknown_path" || p.RequestID != "abc" || p.Detail == "" {
		t.Errorf("%+v", p)
	}
}

// TestAskedAgain: who has a file learns in a few bytes that it is the same, and that of
// another version is not.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	page := ui.New("one")
	for _, path := range append(references(t, page), "/") {
		first := get(t, page, http.MethodGet, path, nil)
		etag := first.Header().Get("Etag")
		if etag == "" {
			t.Fatalf("%s has no ETag", path)
		}
		again := get(t, page, http.MethodGet, path, http.Header{"If-None-Match": {etag}})
		if again.Code != http.StatusNotModified || again.Body.String() != "" {
			t.Errorf("%s asked again: %d", path, again.Code)
		}
	}
	etag := get(t, page, http.MethodGet, "/", nil).Header().Get("Etag")
	if r := get(t, ui.New("two"), http.MethodGet, "/", http.Header{"If-None-Match": {etag}}); r.Code != http.StatusOK {
		t.Errorf("the shell of another version counts as the same: %d", r.Code)
	}
}

// TestVersionIsText: whatever the version is, it is shown and never read as markup.
func TestVersionIsText(t *testing.T) {
	t.Parallel()
	html := shell(t, ui.New("<script>alert(1)</script>"))
	if strings.Contains(html, "<script>") || !strings.Contains(html, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the version was not escaped")
	}
}

// TestStates: the page learns the states from the shell, so it never knows others than the
// service.
func TestStates(t *testing.T) {
	t.Parallel()
	html := shell(t, ui.New(""))
	for _, want := range []string{
		`data-states="queued running canceling succeeded failed canceled lost"`,
		`data-final="succeeded failed canceled lost"`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the shell lacks %s", want)
		}
	}
}
