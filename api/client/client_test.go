package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchd/api/client"
	"benchd/worker/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a service of one handler and gives a client of it.
func serve(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.Client().CloseIdleConnections()
		s.Close()
	})
	return client.New(s.URL+"/", s.Client())
}

func problem(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Request-Id", "req-1")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// TestRequests: what each call sends.
func TestRequests(t *testing.T) {
	var sent string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent = r.Method + " " + r.URL.RequestURI()
		_, _ = w.Write([]byte(`{}`))
	})
	ctx := t.Context()
	for _, row := range []struct {
		want string
		call func() error
	}{
		{"POST /v1/runs", func() error { _, err := c.Submit(ctx, []byte(`{}`), ""); return err }},
		{"GET /v1/runs/a%2Fb", func() error { _, err := c.Run(ctx, "a/b"); return err }},
		{"DELETE /v1/runs/a", func() error { _, err := c.Cancel(ctx, "a"); return err }},
		{"GET /v1/runs/a/results", func() error { _, err := c.Result(ctx, "a"); return err }},
		{"GET /v1/runs/a/results?format=csv", func() error { _, err := c.ResultBody(ctx, "a", "csv"); return err }},
		{"GET /v1/runs", func() error { _, err := c.Runs(ctx, client.Filter{}); return err }},
		{"GET /v1/runs?cursor=c&host=blue&kernel=soap.echo&label=a%3Db&limit=5&since=2026-01-02T03%3A04%3A05Z&state=queued&state=lost&suite=quick", func() error {
			_, err := c.Runs(ctx, client.Filter{
				States: []bench.State{bench.Queued, bench.Lost}, Host: "blue", Kernel: "soap.echo", Suite: "quick", Labels: map[string]string{"a": "b"},
				Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Limit: 5, Cursor: "c",
			})
			return err
		}},
		{"GET /v1/compare?base=a&head=b", func() error { _, err := c.Compare(ctx, client.Question{Base: "a", Head: "b"}); return err }},
		{"GET /v1/compare?across=host&across=go&base=a&confidence=0.99&head=b&min_effect=0&q=0.1", func() error {
			_, err := c.Compare(ctx, client.Question{Base: "a", Head: "b", MinEffect: new(float64), Q: 0.1, Confidence: 0.99, Across: []string{"host", "go"}})
			return err
		}},
		{"GET /v1/history?host=blue&kernel=scimark&label.a=b+c&limit=5&param.size=1KB&since=2026-01-02T03%3A04%3A05Z", func() error {
			_, err := c.History(ctx, client.SeriesFilter{
				Kernel: "scimark", Host: "blue", Params: map[string]string{"size": "1KB"}, Labels: map[string]string{"a": "b c"},
				Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Limit: 5,
			})
			return err
		}},
		{"GET /v1/leaderboard", func() error {
			_, err := c.Leaderboard(ctx, client.SeriesFilter{Labels: map[string]string{"a": "b"}})
			return err
		}},
		{"GET /v1/references?kernel=scimark", func() error { _, err := c.References(ctx, "scimark"); return err }},
		{"GET /v1/kernels", func() error { _, err := c.Kernels(ctx); return err }},
		{"GET /v1/suites", func() error { _, err := c.Suites(ctx); return err }},
		{"GET /v1/hosts", func() error { _, err := c.Hosts(ctx); return err }},
		{"GET /v1/hosts/a%20b", func() error { _, err := c.Host(ctx, "a b"); return err }},
	} {
		if err := row.call(); err != nil || sent != row.want {
			t.Errorf("sent %q, not %q; error %v", sent, row.want, err)
		}
	}
}

// TestProblems: a problem comes back as the error that the service made.
func TestProblems(t *testing.T) {
	for _, row := range []struct {
		status int
		kind   bench.Kind
	}{
		{400, bench.Malformed},
		{404, bench.NotFound},
		{409, bench.Conflict},
		{413, bench.TooLarge},
		{422, bench.Invalid},
		{403, bench.Invalid},
		{406, bench.Invalid},
		{415, bench.Invalid},
		{500, bench.InternalKind},
		{418, bench.Invalid},
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			problem(w, row.status, `{"code":"a_code","detail":"a sentence","errors":[{"pointer":"/x","code":"c","message":"m","allowed":["y"]}]}`)
		})
		_, err := c.Run(t.Context(), "a")
		var f *client.Failure
		e := bench.AsError(err)
		if !errors.As(err, &f) || f.RequestID != "req-1" || client.Status(err) != row.status || e == nil {
			t.Fatalf("status %d: %#v", row.status, err)
		}
		if e.Kind != row.kind || e.Code != "a_code" || err.Error() != "a sentence" || len(e.Fields) != 1 || e.Fields[0].Pointer != "/x" {
			t.Errorf("status %d: %+v", row.status, e)
		}
	}
}

// TestNoProblem: an answer that is not the service's own, such as a proxy's.
func TestNoProblem(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusForbidden) })
	if _, err := c.Run(t.Context(), "a"); err == nil || client.Status(err) != 403 || !strings.Contains(err.Error(), "403 Forbidden") {
		t.Errorf("%v", err)
	}
	c = serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	if _, err := c.Run(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "/v1/runs/a") {
		t.Errorf("%v", err)
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := client.New(s.URL, nil).Kernels(t.Context())
	if e := bench.AsError(err); e == nil || e.Kind != bench.Unavailable || !strings.Contains(e.Message, s.URL) || client.Status(err) != 0 {
		t.Errorf("%#v", err)
	}
	if _, err := client.New("::no", nil).Kernels(t.Context()); bench.AsError(err) == nil {
		t.Errorf("%#v", err)
	}
}

// TestSubmitAgain: with a key a connection that breaks is tried again, without one it is not.
func TestSubmitAgain(t *testing.T) {
	var calls atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = fmt.Fprintf(w, `{"id":%q}`, r.Header.Get("Idempotency-Key"))
	})
	if _, err := c.Submit(t.Context(), []byte(`{}`), ""); err == nil || calls.Load() != 1 {
		t.Errorf("without a key: %d calls, error %v", calls.Load(), err)
	}
	calls.Store(0)
	if run, err := c.Submit(t.Context(), []byte(`{}`), "k"); err != nil || run.ID != "k" || calls.Load() != 2 {
		t.Errorf("with a key: run %q, %d calls, error %v", run.ID, calls.Load(), err)
	}
}

// TestWait: a service that goes away in the middle is asked again, each answer is shown, and
// the first one is asked for without waiting.
func TestWait(t *testing.T) {
	steps := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"state":"queued"}`)) },
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { problem(w, 503, `{"code":"store_unavailable","detail":"away"}`) },
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"state":"running"}`)) },
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"state":"succeeded"}`)) },
	}
	var waits []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		waits = append(waits, r.URL.Query().Get("wait"))
		steps[len(waits)-1](w)
	})
	var seen []bench.State
	run, err := c.Wait(t.Context(), "a", time.Second, func(r bench.Run) { seen = append(seen, r.State) })
	if err != nil || run.State != bench.Succeeded {
		t.Fatalf("state %s, error %v", run.State, err)
	}
	if want := []bench.State{bench.Queued, bench.Running, bench.Succeeded}; !slices.Equal(seen, want) {
		t.Errorf("saw %v", seen)
	}
	if want := []string{"", "1s", "1s", "1s", "1s"}; !slices.Equal(waits, want) {
		t.Errorf("waited %q", waits)
	}
}

func TestWaitStops(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { problem(w, 404, `{"code":"unknown_run","detail":"no"}`) })
	if _, err := c.Wait(t.Context(), "a", 0, nil); client.Status(err) != 404 {
		t.Errorf("a run that is not there: %v", err)
	}
	c = serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.Wait(ctx, "a", 0, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: %v", err)
	}
}
