package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// FuzzPostRun posts arbitrary bodies. Whatever they are, the answer is 202 or a problem of
// the client's making; what is refused is not stored; and what is taken can be posted again
// as it is shown and asks for the same.
func FuzzPostRun(f *testing.F) {
	for _, row := range badRequests {
		if len(row.body) < 10_000 {
			f.Add([]byte(row.body))
		}
	}
	for _, body := range []string{
		simple, `{"suite":"quick"}`, `{"cases":[{"kernel":"scimark","params":{"size":["small","large"],"threads":[1,2]}}],"plan":{"warmup":0,"slice":"1s","confidence":0.99}}`,
		`{"cases":[{"kernel":"soap","params":{"size":"2.2KB","keepalive":[true,false]}}],"labels":{"ü":"\u0000"},"hosts":{"labels":{"zone":"a"}},"timeout":60000000000}`,
	} {
		f.Add([]byte(body))
	}
	s := start(f)
	post := func(body []byte) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/runs", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		s.server.ServeHTTP(w, r)
		return w
	}
	count := func(t *testing.T) int64 {
		t.Helper()
		counts, _, err := s.store.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return counts[bench.Queued]
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := count(t)
		w := post(body)
		if w.Code != http.StatusAccepted {
			var p bench.Problem
			if w.Code < 400 || w.Code >= 500 || json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Code == "" || p.Detail == "" {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if n := count(t); n != before {
				t.Fatalf("refused with %s and stored", p.Code)
			}
			return
		}
		var first, second bench.Run
		if err := json.Unmarshal(w.Body.Bytes(), &first); err != nil || len(first.Trials) == 0 || len(first.Trials) > bench.MaxTrials {
			t.Fatalf("%d trials, error %v", len(first.Trials), err)
		}
		again, err := json.Marshal(first.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if w = post(again); w.Code != http.StatusAccepted {
			t.Fatalf("%s was taken and shown as %s, which is refused: %s", body, again, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &second); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(first.Spec, second.Spec); d != "" || len(first.Trials) != len(second.Trials) {
			t.Fatalf("posted again, %d and %d trials:\n%s", len(first.Trials), len(second.Trials), d)
		}
	})
}
