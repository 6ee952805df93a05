package measure_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/kernels/messaging"
	"benchd/worker/host"
	"benchd/worker/measure"
)

// inBatches is a kernel whose operations are timed in batches or one by one, whatever the
// kernel itself says.
type inBatches struct {
	kernels.Kernel
	batched bool
}

func (k inBatches) Info() kernels.Info {
	i := k.Kernel.Info()
	i.Batched = k.batched
	return i
}

// BenchmarkRecording tells what it costs a round trip that its time is read and recorded: the
// floor of messages, measured in turn with a reading and a histogram for each operation, and with
// neither. The metric recorded/not is the median of the pairs' ratios; 0.98 is 2 % of cost. Both
// ends are in this process, so that the figures themselves are no floor.
func BenchmarkRecording(b *testing.B) {
	kernel, p := floor(b)
	m, err := host.NewMeter(0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	rate := func(batched bool) float64 {
		f := measure.Fork{Kernel: inBatches{kernel, batched}, Params: p, Plan: plan(1, 200*time.Millisecond, 20*time.Millisecond), Meter: m}
		rec, err := f.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return rec.Fork.Samples[0]
	}
	const pairs = 9
	var ratios []float64
	for b.Loop() {
		for range pairs {
			ratios = append(ratios, rate(false)/rate(true))
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "recorded/not")
	b.ReportMetric(0, "ns/op") // it is that of all the pairs
}

// floor serves the floor of messages until the benchmark ends. Both ends wait in the system
// call, and the runtime wants a processor more than those.
func floor(b *testing.B) (kernels.Kernel, kernels.Params) {
	b.Helper()
	const processors = 3
	old := runtime.GOMAXPROCS(max(processors, runtime.GOMAXPROCS(0)))
	b.Cleanup(func() { runtime.GOMAXPROCS(old) })
	family := messaging.Family().Kernels
	kernel := family[slices.IndexFunc(family, func(k kernels.Kernel) bool { return k.Info().Name == "messaging.roundtrip" })]
	p := kernel.Info().Defaults().With("broker", "tcp").With("content", "raw")
	ctx, cancel := context.WithCancel(context.Background())
	ended, addr := make(chan error, 1), make(chan string, 1)
	go func() { ended <- kernel.(kernels.Server).Serve(ctx, p, func(a string) { addr <- a }) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Errorf("the service ended with %v", err)
		}
	})
	select {
	case a := <-addr:
		return kernel, p.With(kernels.Addr, a)
	case err := <-ended:
		ended <- err
		b.Fatalf("the service ended with %v before it was ready", err)
	}
	return nil, nil
}
