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
// as it is shown and asks for the same. The store and Redis work beside it, which the fuzzer
// takes for coverage: run it with -fuzzminimizetime 1x.
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
	f.Fuzz(func(t *testing.T, body []byte) {
		before := s.queued(t)
		w := s.postDirectly(body)
		if w.Code != http.StatusAccepted {
			refused(t, w)
			if n := s.queued(t); n != before {
				t.Fatalf("refused with %s and stored", w.Body)
			}
			return
		}
		first := taken(t, body, w)
		again, err := json.Marshal(first.Spec)
		if err != nil {
			t.Fatal(err)
		}
		second := taken(t, again, s.postDirectly(again))
		if d := cmp.Diff(first.Spec, second.Spec); d != "" || len(first.Trials) != len(second.Trials) {
			t.Fatalf("%s posted again, %d and %d trials:\n%s", again, len(first.Trials), len(second.Trials), d)
		}
	})
}

// FuzzFigures asks for comparisons, histories, boards and published figures with arbitrary
// queries: the answer is JSON or a problem of the client's making.
func FuzzFigures(f *testing.F) {
	for _, q := range []string{
		"", "kernel=scimark&host=blue&param.size=small&limit=1", "label.a=b&label=a%3Db&since=2026-01-02T03:04:05Z", "param.size=1KB&param.%00=%ff",
		"base=a&head=b&min_effect=2%25&q=5%25&confidence=.99&across=host", "table=scimark-small&text=a+b", "min_effect=1e-400", "param.=&.=", "a;b", "%",
	} {
		for path := range figurePaths() {
			f.Add(path, q)
		}
	}
	s := start(f)
	f.Fuzz(func(t *testing.T, path int, q string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, figurePaths()[uint(path)%uint(len(figurePaths()))], nil)
		r.URL.RawQuery = q
		s.server.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			refused(t, w)
		} else if !json.Valid(w.Body.Bytes()) {
			t.Fatalf("no JSON: %s", w.Body)
		}
	})
}

func figurePaths() []string {
	return []string{"/v1/compare", "/v1/history", "/v1/leaderboard", "/v1/references"}
}

// postDirectly posts without a connection between, since fuzzing posts a lot.
func (s *service) postDirectly(body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/v1/runs", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	s.server.ServeHTTP(w, r)
	return w
}

// queued counts the runs that wait.
func (s *service) queued(t *testing.T) int64 {
	t.Helper()
	counts, _, err := s.store.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counts[bench.Queued]
}

// refused checks a problem of the client's making.
func refused(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	var p bench.Problem
	err := json.Unmarshal(w.Body.Bytes(), &p)
	if w.Code < 400 || w.Code >= 500 || err != nil || p.Code == "" || p.Detail == "" {
		t.Fatalf("status %d, error %v: %s", w.Code, err, w.Body)
	}
}

// taken checks a run that was taken and gives it.
func taken(t *testing.T, body []byte, w *httptest.ResponseRecorder) bench.Run {
	t.Helper()
	var run bench.Run
	if w.Code != http.StatusAccepted {
		t.Fatalf("%s: status %d: %s", body, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &run); err != nil || len(run.Trials) == 0 || len(run.Trials) > bench.MaxTrials {
		t.Fatalf("%s: %d trials, error %v", body, len(run.Trials), err)
	}
	return run
}
