package api_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"benchd/api"
	"benchd/api/store"
	"benchd/worker/bench"
)

// stored is how many runs the benchmarks' store holds before they begin. Storing 100,000
// takes minutes: go test -run - -bench . ./api -stored 100000.
var stored = flag.Int("stored", 2000, "runs in the store before the benchmarks begin")

// twenty is a request that expands to twenty trials.
const twenty = `{"cases":[{"kernel":"soap.echo","params":{"model":["stream","dom"],"size":["1KB","10KB"],"clients":[1,2,4,8,16]}}],"labels":{"commit":"abc123"}}`

// full starts a service whose store holds many runs of twenty trials, and gives their ids.
func full(b *testing.B) (*service, []string) {
	b.Helper()
	s := start(b, func(c *api.Config) { c.Logger = slog.New(slog.DiscardHandler) })
	run := s.post(twenty)
	ids := make([]string, *stored)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < len(ids); i += 4 {
				ids[i] = s.copyOf(run)
			}
		})
	}
	wg.Wait()
	return s, ids
}

// copyOf stores a run like another and gives its id.
func (s *service) copyOf(run bench.Run) string {
	run.ID, run.Created = uuid.Must(uuid.NewV7()).String(), time.Now()
	run.Trials = append([]bench.Trial(nil), run.Trials...)
	for i := range run.Trials {
		run.Trials[i].ID = uuid.Must(uuid.NewV7()).String()
	}
	if _, _, err := s.store.CreateRun(context.Background(), store.NewRun{Run: run}); err != nil {
		s.t.Error(err)
	}
	return run.ID
}

// load sends requests from eight clients for as long as the benchmark asks and reports how
// many were answered in a second. Client and server share the processors.
func load(b *testing.B, s *service, status int, request func() (method, path, body string)) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	defer client.CloseIdleConnections()
	b.SetParallelism(4)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var buf bytes.Buffer
		for pb.Next() {
			method, path, body := request()
			req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			res, err := client.Do(req)
			if err != nil {
				b.Error(err)
				return
			}
			buf.Reset()
			_, err = io.Copy(&buf, res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != status {
				b.Errorf("status %d, error %v: %s", res.StatusCode, err, buf.Bytes())
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func BenchmarkHTTP(b *testing.B) {
	s, ids := full(b)
	pick := func() string { return ids[rand.IntN(len(ids))] }
	for _, row := range []struct {
		name    string
		status  int
		request func() (method, path, body string)
	}{
		{"post", http.StatusAccepted, func() (string, string, string) { return http.MethodPost, "/v1/runs", twenty }},
		{"get", http.StatusOK, func() (string, string, string) { return http.MethodGet, "/v1/runs/" + pick(), "" }},
		{"health", http.StatusOK, func() (string, string, string) { return http.MethodGet, "/healthz", "" }},
		{"list", http.StatusOK, func() (string, string, string) { return http.MethodGet, "/v1/runs?limit=20", "" }},
	} {
		b.Run(fmt.Sprintf("%s/stored=%d", row.name, *stored), func(b *testing.B) { load(b, s, row.status, row.request) })
	}
}

// BenchmarkFigures asks a service that measured ten runs of a thousand cases each: more than
// enough for the noise of each, without a calibration.
func BenchmarkFigures(b *testing.B) {
	s := start(b, func(c *api.Config) { c.Logger = slog.New(slog.DiscardHandler) })
	s.saveHost("blue", true, bench.DefaultLimits(4), nil)
	var runs []bench.Run
	for i := range 10 {
		runs = append(runs, s.score(strings.TrimSuffix(many(1000), "}")+`,"hosts":{"names":["blue"]}}`, 100+float64(i%3)))
	}
	for _, row := range []struct{ name, path string }{
		{"compare", "/v1/compare?base=" + runs[0].ID + "&head=" + runs[1].ID},
		{"history", "/v1/history?kernel=soap"},
		{"leaderboard", "/v1/leaderboard"},
		{"markdown", "/v1/runs/" + runs[0].ID + "/results?format=markdown"},
	} {
		b.Run(row.name, func(b *testing.B) {
			load(b, s, http.StatusOK, func() (string, string, string) { return http.MethodGet, row.path, "" })
		})
	}
}
