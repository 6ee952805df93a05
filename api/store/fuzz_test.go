package store_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

// FuzzParams writes parameters for the tables and reads them back.
func FuzzParams(f *testing.F) {
	for _, pair := range [][2]string{{"clients", "4"}, {"", ""}, {`a"b`, `c\d`}, {"a:b", `","`}, {"ü", "\x00\xff"}, {"}", "{"}} {
		f.Add(pair[0], pair[1], pair[1], pair[0])
	}
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		want := kernels.Params{a: b, c: d}
		text, err := store.ParamsText(want)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("not JSON: %s", text)
		}
		got, err := store.ParseParams(text)
		if err != nil {
			t.Fatal(err)
		}
		var slow map[string]string
		if err := json.Unmarshal([]byte(text), &slow); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kernels.Params(slow), got); diff != "" {
			t.Errorf("%s: the quick reader differs from encoding/json (-json +quick):\n%s", text, diff)
		}
	})
}

// FuzzParseParams reads any text: what the quick reader takes, encoding/json takes alike.
func FuzzParseParams(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":"b"}`, `{"a":"b",}`, `{,"a":"b"}`, `{"a":"b""c":"d"}`, `{"a":1}`, `{"a":"b"`, `["a"]`, `""`, `{"a":"\u0041"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := store.ParseParams(text)
		var want map[string]string
		if e := json.Unmarshal([]byte(text), &want); (err == nil) != (e == nil) {
			t.Fatalf("%q: error %v, encoding/json %v", text, err, e)
		}
		if err == nil && !cmp.Equal(kernels.Params(want), got) {
			t.Errorf("%q: %v, encoding/json %v", text, got, want)
		}
	})
}

// FuzzCursor reads any cursor: it is ours, or it is refused with a code.
func FuzzCursor(f *testing.F) {
	f.Add(store.FormatCursor(1764500000000000))
	f.Add("x")
	f.Add("AAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		seq, err := store.ParseCursor(text)
		if e := bench.AsError(err); err != nil && (e == nil || e.Code != "bad_cursor") {
			t.Fatal(err)
		}
		if err == nil && text != "" && store.FormatCursor(seq) != text {
			t.Errorf("%q was taken as %d, whose cursor is %q", text, seq, store.FormatCursor(seq))
		}
	})
}
