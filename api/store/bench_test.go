package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"benchd/api/store"
	"benchd/kernels"
	"benchd/worker/bench"
)

// The size of the store that the benchmarks work on.
const (
	seedRuns   = 100_000
	seedTrials = 20
)

// A seeded is a store full of runs that have ended.
type seeded struct {
	*store.Store
	ids []string
}

// benched is the full store once it is made, for TestMain to close.
var benched *store.Store

// seedOnce makes the full store for all benchmarks; TestMain removes it.
var seedOnce = sync.OnceValues(func() (*seeded, error) {
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(benchFolder, "full.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	benched = s
	began := time.Now()
	first := began.Add(-2 * seedRuns * time.Second)
	ids, err := s.Seed(ctx, first, newRun("blue", 1).Spec, seedRuns, seedTrials)
	fmt.Printf("# seeded %d runs of %d trials in %s\n", seedRuns, seedTrials, time.Since(began).Round(time.Second))
	return &seeded{s, ids}, err
})

// newRun makes a run to post, with its trials on the host given.
func newRun(host string, trials int) bench.Run {
	run := bench.Run{ID: uuid.Must(uuid.NewV7()).String(), Created: time.Now(), Spec: bench.Spec{
		Cases:   []bench.CaseSpec{{Kernel: "soap.echo", Params: bench.Matrix{"model": {"stream", "dom"}, "clients": {"1", "4"}}}},
		Hosts:   bench.HostSelector{Names: []string{host}},
		Plan:    bench.DefaultPlan(),
		Labels:  map[string]string{"branch": "main", "commit": "abc123"},
		Timeout: bench.DefaultTimeout,
	}}
	names := []string{"scimark.fft", "soap.echo", "messaging.roundtrip"}
	for i := range trials {
		run.Trials = append(run.Trials, bench.Trial{
			ID: uuid.Must(uuid.NewV7()).String(), Host: host, Kernel: names[i%len(names)],
			Params: kernels.Params{"model": "stream", "size": "10KB", "clients": fmt.Sprint(1 + i)},
		})
	}
	return run
}

func full(b *testing.B) *seeded {
	b.Helper()
	s, err := seedOnce()
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkCreateRun(b *testing.B) {
	s := full(b)
	b.ResetTimer()
	for range b.N {
		n := store.NewRun{Run: newRun("blue", seedTrials), IdempotencyKey: uuid.NewString()}
		if _, _, err := s.CreateRun(b.Context(), n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkRun(b *testing.B) {
	s := full(b)
	b.ResetTimer()
	b.SetParallelism(1)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			run, err := s.Run(context.Background(), s.ids[rand.IntN(len(s.ids))])
			if err != nil || len(run.Trials) != seedTrials {
				b.Errorf("%d trials, error %v", len(run.Trials), err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkVersion(b *testing.B) {
	s := full(b)
	b.ResetTimer()
	for range b.N {
		if _, err := s.Version(b.Context(), s.ids[rand.IntN(len(s.ids))]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	s := full(b)
	var reports []bench.Report
	for range (b.N + seedTrials - 1) / seedTrials {
		run := newRun("blue", seedTrials)
		if _, _, err := s.CreateRun(b.Context(), store.NewRun{Run: run}); err != nil {
			b.Fatal(err)
		}
		for _, tr := range run.Trials {
			reports = append(reports, bench.Report{Kind: bench.Started, Run: run.ID, Trial: tr.ID, Attempt: 1, Host: "blue", Instance: "w", At: time.Now()})
		}
	}
	b.ResetTimer()
	for i := range b.N {
		r := reports[i]
		if err := s.RecordStarted(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		value := 100 + float64(i%7)
		r.Result = &bench.TrialResult{
			State: bench.Succeeded, Validity: bench.Validity{Valid: true}, Forks: []bench.Fork{{Samples: []float64{100, 101, 102}}},
			Score: &bench.Score{Metric: "throughput", Unit: "op/s", Better: "higher", Value: &value},
		}
		if ok, err := s.RecordFinished(b.Context(), r); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}

// listed are the filters whose first and last pages are compared.
var listed = []struct {
	name   string
	filter store.Filter
}{
	{"all", store.Filter{}},
	{"host", store.Filter{Host: "blue"}},
	{"rarehost", store.Filter{Host: "rare"}},
	{"kernel", store.Filter{Kernel: "soap.echo"}},
	{"label", store.Filter{Labels: map[string]string{"branch": "main"}}},
	{"rarelabel", store.Filter{Labels: map[string]string{"release": "yes"}}},
	{"state", store.Filter{States: []bench.State{bench.Failed}}},
	{"states", store.Filter{States: []bench.State{bench.Succeeded, bench.Failed}}},
	{"host+state", store.Filter{Host: "green", States: []bench.State{bench.Failed}}},
	{"host+kernel+label", store.Filter{Host: "blue", Kernel: "soap", Labels: map[string]string{"branch": "main"}}},
	{"label+rarelabel", store.Filter{Labels: map[string]string{"branch": "main", "release": "yes"}}},
}

// BenchmarkList times the first and the last page in turns and reports their ratio.
func BenchmarkList(b *testing.B) {
	s := full(b)
	for _, l := range listed {
		b.Run(l.name, func(b *testing.B) {
			last := l.filter
			for f := l.filter; ; {
				f.Limit = 1000
				_, next, err := s.Runs(b.Context(), f)
				if err != nil {
					b.Fatal(err)
				}
				if next == "" {
					break
				}
				f.Cursor = next
				last.Cursor = next
			}
			last.Cursor = lastPage(b, s, last)
			var times [2]time.Duration
			b.ResetTimer()
			for range b.N {
				for i, f := range []store.Filter{l.filter, last} {
					f.Limit = 50
					began := time.Now()
					if _, _, err := s.Runs(b.Context(), f); err != nil {
						b.Fatal(err)
					}
					times[i] += time.Since(began)
				}
			}
			b.ReportMetric(float64(times[0].Microseconds())/float64(b.N), "first_us")
			b.ReportMetric(float64(times[1].Microseconds())/float64(b.N), "last_us")
			b.ReportMetric(float64(times[1])/float64(times[0]), "last/first")
		})
	}
}

// lastPage turns pages of 50 from f's cursor and gives the cursor of the last full one.
func lastPage(b *testing.B, s *seeded, f store.Filter) string {
	b.Helper()
	full := f.Cursor
	for {
		f.Limit = 50
		runs, next, err := s.Runs(b.Context(), f)
		if err != nil {
			b.Fatal(err)
		}
		if len(runs) == 50 {
			full = f.Cursor
		}
		if next == "" {
			return full
		}
		f.Cursor = next
	}
}

// BenchmarkPast looks for scores among some ten thousand of each case: a history, the best of
// each case, and what the noise of one case is told by.
func BenchmarkPast(b *testing.B) {
	s := full(b)
	small := bench.Case{Kernel: "scimark.fft", Params: kernels.Params{"size": "small"}}
	for _, row := range []struct {
		name string
		ask  func(context.Context) (int, error)
	}{
		{"history", func(ctx context.Context) (int, error) {
			list, _, err := s.History(ctx, store.SeriesFilter{Kernel: "scimark.fft", Host: "blue", Params: small.Params, Limit: 50})
			return len(list), err
		}},
		{"history of a rare label", func(ctx context.Context) (int, error) {
			list, _, err := s.History(ctx, store.SeriesFilter{Host: "green", Labels: map[string]string{"release": "yes"}, Limit: 50})
			return len(list), err
		}},
		{"leaders", func(ctx context.Context) (int, error) {
			list, _, err := s.Leaders(ctx, store.SeriesFilter{Kernel: "scimark.fft", Limit: 50})
			return len(list), err
		}},
		{"noise", func(ctx context.Context) (int, error) {
			list, _, err := s.Past(ctx, store.PastKey{Host: "blue", Case: small, Metric: "throughput", Unit: "Mflop/s", Better: "higher", Fingerprint: "f", Slice: bench.DefaultPlan().Slice, Warmup: bench.DefaultPlan().Warmup})
			return len(list), err
		}},
	} {
		b.Run(row.name, func(b *testing.B) {
			for range b.N {
				if n, err := row.ask(b.Context()); err != nil || n == 0 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
