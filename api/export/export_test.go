package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"benchd/api/export"
	"benchd/worker/bench"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

func TestFormats(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff([]string{"json", "csv", "benchfmt", "jmh", "bmf", "junit", "openmetrics", "markdown", "article"}, export.Names()); d != "" {
		t.Error(d)
	}
	media := make(map[string]string)
	for _, f := range export.Formats() {
		if other, ok := media[f.MediaType]; ok && f.Name != "article" { // which is asked for by its name
			t.Errorf("%s and %s are both %s", f.Name, other, f.MediaType)
		}
		media[f.MediaType] = f.Name
		kind, params, err := mime.ParseMediaType(f.ContentType())
		if err != nil || kind != f.MediaType {
			t.Errorf("%s: content type %q: %s, %v, %v", f.Name, f.ContentType(), kind, params, err)
		}
		if !strings.HasPrefix(f.Extension, ".") || !strings.HasSuffix(f.Title, ".") || f.Write == nil {
			t.Errorf("%+v lacks something", f)
		}
		if g, ok := export.ByName(f.Name); !ok || g.Name != f.Name {
			t.Errorf("%s is not found by its name", f.Name)
		}
	}
	if _, ok := export.ByName("pdf"); ok {
		t.Error("there is a format pdf")
	}
}

// general lists the formats that are not for the results of some suites only.
func general() []export.Format {
	return slices.DeleteFunc(export.Formats(), func(f export.Format) bool { return f.Suites != nil })
}

// Every general format takes every result but those that JSON itself cannot hold.
func TestEveryResult(t *testing.T) {
	t.Parallel()
	for name, r := range results() {
		for _, f := range general() {
			if name == "odd texts" && f.Name == "json" {
				continue // NaN has no place in JSON; see TestNoFigure
			}
			t.Run(name+" as "+f.Name, func(t *testing.T) {
				t.Parallel()
				text := write(t, f.Name, r)
				if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") && text != "" {
					t.Errorf("not text: %q", text)
				}
				if again := write(t, f.Name, r); again != text {
					t.Error("the same result is written differently")
				}
			})
		}
	}
}

// A figure that is none never reaches a reader; only JMH has a word for it.
func TestNoFigure(t *testing.T) {
	t.Parallel()
	r := odd()
	r.Spec.Labels = nil
	for _, f := range general() {
		text := new(bytes.Buffer)
		err := f.Write(text, r)
		switch {
		case f.Name == "json":
			if err == nil {
				t.Error("json: a result with NaN was written")
			}
		case err != nil:
			t.Errorf("%s: %v", f.Name, err)
		case f.Name != "jmh" && (strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "Inf")):
			t.Errorf("%s holds a figure that is none:\n%s", f.Name, text)
		}
	}
}

// full is a disk with no room after some bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return 0, io.ErrShortWrite
	}
	f.room -= len(b)
	return len(b), nil
}

func TestWriterThatFails(t *testing.T) {
	t.Parallel()
	for _, f := range general() {
		for _, room := range []int{0, 60, len(write(t, f.Name, whole())) - 1} {
			if err := f.Write(&full{room}, whole()); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s with room for %d bytes: %v", f.Name, room, err)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	want := whole()
	var got bench.Result
	if err := json.Unmarshal([]byte(write(t, "json", want)), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestGolden shows what each format looks like. With -update the files are written anew.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, f := range general()[1:] { // json is the result as it is
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			golden(t, f.Name+f.Extension, write(t, f.Name, whole()))
		})
	}
}

// golden compares a text with a file, or writes the file anew with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("run with -update if this is meant:\n%s", d)
	}
}
