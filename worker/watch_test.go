package worker_test

import (
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/scimark"
	"benchd/worker/bench"
	"benchd/worker/host"
	"benchd/worker/measure"
	"benchd/worker/stats"
)

// BenchmarkWatched measures a kernel with the watch on and off in turn, and reports the ratio
// of the two medians with the half-width of each one's interval, all in percent of the
// score. The watch moves no score when the ratio differs from 100 by less than those.
func BenchmarkWatched(b *testing.B) {
	kernel := scimark.Family().Kernels[0]
	params := kernel.Info().Defaults()
	plan := bench.Plan{Forks: 1, Slices: 10, Slice: bench.Duration(100 * time.Millisecond), Warmup: bench.WarmupTime(100 * time.Millisecond)}
	var with, without [][]float64
	for b.Loop() {
		with = append(with, forkSamples(b, kernel, params, plan, true))
		without = append(without, forkSamples(b, kernel, params, plan, false))
	}
	on, off := stats.Median(with, 0.95), stats.Median(without, 0.95)
	b.ReportMetric(100**on.Value / *off.Value, "%-of-unwatched")
	if on.Low != nil && off.Low != nil {
		b.ReportMetric(50*(*on.High-*on.Low) / *on.Value, "%-half-width-on")
		b.ReportMetric(50*(*off.High-*off.Low) / *off.Value, "%-half-width-off")
	}
}

func forkSamples(b *testing.B, k kernels.Kernel, p kernels.Params, plan bench.Plan, watched bool) []float64 {
	b.Helper()
	meter, err := host.NewMeter(0, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = meter.Close() }()
	if watched {
		w := host.NewWatch(host.WatchOptions{})
		w.Start(b.Context(), func() []int { return nil })
		defer w.Stop()
	}
	rec, err := measure.Fork{Kernel: k, Params: p, Plan: plan, Meter: meter}.Run(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return rec.Fork.Samples
}
