// Package ui is the page at "/": the list of runs, a form to ask for one, a run while it is
// measured and its result, two runs compared, and the hosts.
//
// The page has no interface of its own: it is a shell, a style sheet and a few modules of
// plain JavaScript, all embedded, that talk to the JSON API under /v1. The server renders
// the shell once and knows nothing of what the page shows. There is no build step: the files
// under static are what the browser gets.
package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"benchd/api/export"
	"benchd/worker/bench"
)

//go:embed shell.html static
var files embed.FS

// Policy is the content security policy of the page: scripts, styles and requests are of
// this service only, nothing stands inline, and no other site may frame it.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// forever is for files whose address holds the hash of their content: a new content has a
// new address, so a browser need never ask again.
const forever = "public, max-age=31536000, immutable"

// A Page answers "/" with the shell and serves what the shell refers to under "/ui/". It
// never changes after New, so any number of requests may use it at once.
type Page struct {
	hash  string          // of all the files; part of their address
	shell file            // rendered
	files map[string]file // by name
}

// A file is an answer that was made before the question.
type file struct {
	media string
	body  []byte
	etag  string
}

// New renders the page. The version is the binary's, shown at the foot.
//
// It panics when the embedded files cannot be rendered, which the tests of the package rule
// out.
func New(version string) *Page {
	p := &Page{files: make(map[string]file)}
	if err := p.load(); err != nil {
		panic(err)
	}
	if err := p.render(version); err != nil {
		panic(err)
	}
	return p
}

// load reads the static files and makes one hash of them all: the modules import each other
// by relative names, so they must share one folder and change it together.
func (p *Page) load() error {
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		return fmt.Errorf("list the page's files: %w", err)
	}
	all := sha256.New()
	for _, e := range entries {
		b, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			return fmt.Errorf("read the page's files: %w", err)
		}
		// The length keeps one file's end from being read as the next one's beginning.
		_, _ = fmt.Fprintf(all, "%s %d\n", e.Name(), len(b))
		_, _ = all.Write(b)
		p.files[e.Name()] = newFile(mediaOf(e.Name()), b)
	}
	p.hash = hex.EncodeToString(all.Sum(nil))[:16]
	return nil
}

// newFile makes a file whose ETag is the hash of its content.
func newFile(media string, body []byte) file {
	sum := sha256.Sum256(body)
	return file{media: media, body: body, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
}

// mediaOf gives the media type by the name: the machine's own table may lack or differ in one.
func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return "application/octet-stream"
	}
}

// render fills in the shell.
func (p *Page) render(version string) error {
	t, err := template.ParseFS(files, "shell.html")
	if err != nil {
		return fmt.Errorf("parse the page's shell: %w", err)
	}
	plan, err := planFields()
	if err != nil {
		return fmt.Errorf("describe the plan: %w", err)
	}
	// Rendered once: nothing in the shell depends on who asks, so it has one ETag for all.
	var b bytes.Buffer
	err = t.Execute(&b, shell{
		Base: "ui/" + p.hash, Modules: p.modules(), Version: version, Plan: plan, Formats: export.Formats(),
		States: states(bench.State.Valid), Final: states(bench.State.Final),
	})
	if err != nil {
		return fmt.Errorf("render the page's shell: %w", err)
	}
	p.shell = newFile("text/html; charset=utf-8", b.Bytes())
	return nil
}

// modules names the modules that app.js imports, so that the browser can ask for them all
// at once and not one after another as it finds them.
func (p *Page) modules() []string {
	var out []string
	for name := range p.files {
		if path.Ext(name) == ".js" && name != "app.js" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// states lists the states for which is holds, parted by spaces.
func states(is func(bench.State) bool) string {
	var out []string
	for _, s := range bench.States() {
		if is(s) {
			out = append(out, string(s))
		}
	}
	return strings.Join(out, " ")
}

// ServeHTTP answers a GET or HEAD of "/" and of the files under "/ui/", and anything else
// with a problem of status 404.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		w.Header().Set("Content-Security-Policy", Policy)
		serve(w, r, p.shell, "no-cache")
		return
	}
	// Names are looked up and never opened, so no path leads out of the folder.
	name, here := strings.CutPrefix(r.URL.Path, "/ui/"+p.hash+"/")
	if f, ok := p.files[name]; here && ok {
		serve(w, r, f, forever)
		return
	}
	unknown(w)
}

// serve writes a file, or 304 when the client has it.
func serve(w http.ResponseWriter, r *http.Request, f file, cache string) {
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", cache)
	h.Set("Etag", f.etag)
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

// unknown answers as the rest of the service does: with a problem (RFC 9457). The header
// that names the request was set by the API's middleware.
func unknown(w http.ResponseWriter) {
	h := w.Header()
	body, err := json.Marshal(bench.Problem{
		Type: "about:blank", Title: http.StatusText(http.StatusNotFound), Status: http.StatusNotFound,
		Detail: "the page has no such file; it may be of another version: load the page again",
		Code:   "unknown_path", RequestID: h.Get("X-Request-Id"),
	})
	if err != nil { // a Problem holds nothing that JSON cannot
		body = nil
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
