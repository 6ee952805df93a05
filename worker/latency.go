package worker

import (
	"fmt"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchd/worker/bench"
	"benchd/worker/measure"
)

// latencies adds up the forks' latencies without loss: of the operations that count, and of
// all where some were kept apart as warm-up. There are none when operations were timed in
// batches.
func (a *assembly) latencies() {
	var counted, all []measure.Times
	for _, r := range a.records {
		if r.Times != nil {
			counted = append(counted, *r.Times)
			all = append(all, *r.Times)
		}
		if r.Warmup != nil {
			all = append(all, *r.Warmup)
		}
	}
	a.result.Latency, a.result.ServiceTime = a.summarise(counted)
	if w := a.result.WithWarmup; w != nil {
		w.Latency, w.ServiceTime = a.summarise(all)
	}
}

func (a *assembly) summarise(list []measure.Times) (latency, service *bench.Latency) {
	sum, err := measure.MergeTimes(list)
	if err == nil && sum != nil {
		latency, err = summary(sum.Latency)
	}
	if err == nil && sum != nil && sum.Service != nil {
		service, err = summary(*sum.Service)
	}
	if err != nil {
		a.doubt("latency_unreadable", "%v", err)
	}
	return latency, service
}

// told are the percentiles that a result shows.
func told() []float64 { return []float64{50, 75, 90, 95, 99, 99.9, 99.99} }

// summary reads a histogram's figures.
func summary(encoded measure.Histogram) (*bench.Latency, error) {
	h, err := hdrhistogram.Decode([]byte(encoded.HDR))
	if err != nil {
		return nil, fmt.Errorf("the histogram of the trial cannot be read: %w", err)
	}
	l := &bench.Latency{
		Unit: "ns", Count: h.TotalCount(), Min: h.Min(), Mean: h.Mean(), Max: h.Max(),
		Percentiles: make(map[string]int64), OutOfRange: encoded.Over, HDR: encoded.HDR,
	}
	for _, p := range told() {
		v := h.ValueAtQuantile(p)
		l.Percentiles[strconv.FormatFloat(p, 'f', -1, 64)] = min(max(v, l.Min), l.Max)
	}
	return l, nil
}
