package measure_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/measure"
)

// A law gives the server's delay at a quantile of its distribution, from 0 to 1.
type law func(q float64) time.Duration

func constant(d time.Duration) law { return func(float64) time.Duration { return d } }

func exponential(mean time.Duration) law {
	return func(q float64) time.Duration { return time.Duration(-math.Log(1-q) * float64(mean)) }
}

func bimodal(low, high time.Duration, share float64) law {
	return func(q float64) time.Duration {
		if q < 1-share {
			return low
		}
		return high
	}
}

// draws gives n delays whose distribution is the law as exactly as n values can be, in a
// random order: what is reported is then to be the law's own quantiles.
func (l law) draws(n int, seed uint64) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = l((float64(i) + 0.5) / float64(n))
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// A slow kernel's server, at the other end of a pipe, answers after delays that are known.
// Every so many answers it freezes.
type slow struct {
	delays []time.Duration
	freeze time.Duration
	every  int
}

func (k slow) Info() kernels.Info {
	return kernels.Info{Name: "known.truth", Unit: "call/s", Noun: "call", Rate: "rate", Params: []kernels.Param{{Name: "rate", Kind: kernels.Int, Default: "0"}}}
}

// delay is that of the n-th answer.
func (k slow) delay(n int) time.Duration {
	d := k.delays[n%len(k.delays)]
	if k.every > 0 && n%k.every == k.every-1 {
		d += k.freeze
	}
	return d
}

func (k slow) Open(context.Context, kernels.Params) (kernels.Trial, error) {
	here, there := net.Pipe()
	go func() {
		b := make([]byte, 1)
		for n := 0; ; n++ {
			if _, err := io.ReadFull(there, b); err != nil {
				return
			}
			time.Sleep(k.delay(n))
			if _, err := there.Write(b); err != nil {
				return
			}
		}
	}()
	return slowTrial{here}, nil
}

type slowTrial struct{ net.Conn }

func (t slowTrial) Do(_ context.Context, n int) error {
	b := []byte{1}
	for range n {
		if _, err := t.Write(b); err != nil {
			return err
		}
		if _, err := io.ReadFull(t, b); err != nil {
			return err
		}
	}
	return nil
}

// TestKnownTruth measures servers whose delays are known, in a time that stands still while
// anything is computed, so that every difference to the truth is the harness's own.
func TestKnownTruth(t *testing.T) {
	const ms = time.Millisecond
	rows := []struct {
		name string
		law  law
		rate int // 0: as fast as it goes
		slow slow
	}{
		{name: "constant", law: constant(2 * ms)},
		{name: "exponential", law: exponential(2 * ms)},
		{name: "bimodal", law: bimodal(1*ms, 20*ms, 0.05)},
		{name: "constant, frozen for 5 s every 10000 calls", law: constant(2 * ms), slow: slow{freeze: 5 * time.Second, every: 10000}},
		{name: "constant at a rate", law: constant(2 * ms), rate: 100},
		{name: "exponential at a rate", law: exponential(2 * ms), rate: 250},
		{name: "bimodal at a rate", law: bimodal(1*ms, 20*ms, 0.05), rate: 200},
		{name: "constant at a rate, frozen for 5 s every 6000 calls", law: constant(1 * ms), rate: 100, slow: slow{freeze: 5 * time.Second, every: 6000}},
		{name: "exponential at a rate, frozen for 5 s every 6000 calls", law: exponential(2 * ms), rate: 100, slow: slow{freeze: 5 * time.Second, every: 6000}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := row.slow
				k.delays = row.law.draws(10000, 7)
				rec, err := measure.Fork{
					Kernel: k, Params: kernels.Params{"rate": strconv.Itoa(row.rate)}, Meter: meter(t), Sleeper: virtual,
					Plan: bench.Plan{Forks: 1, Slices: 240, Slice: bench.Duration(time.Second)},
				}.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				service := decode(t, rec.Times.Latency)
				if row.rate > 0 {
					service = decode(t, *rec.Times.Service)
					latency := decode(t, rec.Times.Latency)
					compare(t, "from the scheduled start", latency, k.scheduled(int(latency.TotalCount()), row.rate))
				} else if rec.Times.Service != nil {
					t.Error("without a rate there is one kind of latency, not two")
				}
				compare(t, "from the own start", service, k.own(int(service.TotalCount())))
				if k.every == 0 {
					against(t, service, row.law)
				}
			})
		})
	}
}

// virtual makes sleepers for a time that only sleepers move.
func virtual() (measure.Sleeper, error) { return sleepers{}, nil }

type sleepers struct{}

func (sleepers) Sleep(_ context.Context, d time.Duration) error { time.Sleep(d); return nil }
func (sleepers) Close() error                                   { return nil }

// own gives the true delays of n answers after the first, which opens the connection.
func (k slow) own(n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = k.delay(i + 1)
	}
	return out
}

// scheduled gives the true time from each call's scheduled start to its end, by Lindley's
// recursion: a call waits for what is left of the one before when its time comes.
func (k slow) scheduled(n, rate int) []time.Duration {
	interval := time.Second / time.Duration(rate)
	out := make([]time.Duration, n)
	wait := time.Duration(0)
	for i := range out {
		out[i] = wait + k.delay(i+1)
		wait = max(0, out[i]-interval)
	}
	return out
}

func decode(t *testing.T, h measure.Histogram) *hdrhistogram.Histogram {
	t.Helper()
	d, err := hdrhistogram.Decode([]byte(h.HDR))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// compare holds the reported percentiles against those of the true values, of which the
// rank-th smallest is one that a share p of all does not exceed. Where few values are far
// apart, that one's neighbour is as good an answer.
func compare(t *testing.T, what string, h *hdrhistogram.Histogram, truth []time.Duration) {
	t.Helper()
	slices.Sort(truth)
	for _, p := range []float64{50, 90, 99, 99.9} {
		rank := int(math.Ceil(p / 100 * float64(len(truth))))
		got, want := time.Duration(h.ValueAtQuantile(p)), truth[rank-1]
		if low, high := truth[rank-2], truth[min(rank, len(truth)-1)]; got < want {
			want = max(low, min(want, got))
		} else {
			want = min(high, max(want, got))
		}
		near(t, fmt.Sprintf("p%v %s", p, what), got, want)
	}
	near(t, "maximum "+what, time.Duration(h.Max()), truth[len(truth)-1])
}

// against holds the reported percentiles against those of the law.
func against(t *testing.T, h *hdrhistogram.Histogram, l law) {
	t.Helper()
	for _, p := range []float64{50, 90, 99, 99.9} {
		near(t, fmt.Sprintf("p%v of the law", p), time.Duration(h.ValueAtQuantile(p)), l(p/100))
	}
}

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	off := math.Abs(float64(got-want)) / float64(want)
	t.Logf("%s: %s, truth %s, %.2f %% off", what, got, want, 100*off)
	if off > 0.01 {
		t.Errorf("%s is %s; the truth is %s, %.2f %% off", what, got, want, 100*off)
	}
}
