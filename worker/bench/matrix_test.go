package bench_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// TestMatrixAsJSON: a matrix is shown as it may be asked for, one value plainly and several
// as a list, and reads back the same.
func TestMatrixAsJSON(t *testing.T) {
	t.Parallel()
	for text, m := range map[string]bench.Matrix{
		`{}`: {},
		`{"clients":4,"keepalive":true,"model":"dom","size":"10KB"}`: {"size": {"10KB"}, "model": {"dom"}, "clients": {"4"}, "keepalive": {"true"}},
		`{"clients":[1,4],"model":["dom","stream"]}`:                 {"model": {"dom", "stream"}, "clients": {"1", "4"}},
		`{"a\"b":"\u003cx\u003e","n":["007",7]}`:                     {"a\"b": {"<x>"}, "n": {"007", "7"}},
	} {
		got, err := json.Marshal(m)
		if err != nil || string(got) != text {
			t.Errorf("%v is %s, not %s; error %v", m, got, text, err)
		}
		var back bench.Matrix
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m, back); d != "" {
			t.Errorf("%s read back:\n%s", text, d)
		}
	}
}
