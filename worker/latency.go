package worker

import (
	"fmt"
	"strconv"
	"time"

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
	r := &a.result
	r.Latency, r.ServiceTime, r.StartLateness = a.summarise(counted)
	if w := r.WithWarmup; w != nil {
		w.Latency, w.ServiceTime, _ = a.summarise(all)
	}
}

func (a *assembly) summarise(list []measure.Times) (latency, service, late *bench.Latency) {
	sum, err := measure.MergeTimes(list)
	if err == nil && sum != nil {
		latency, err = summary(&sum.Latency)
	}
	if err == nil && sum != nil {
		service, err = summary(sum.Service)
	}
	if err == nil && sum != nil {
		late, err = summary(sum.Late)
	}
	if err != nil {
		a.doubt("latency_unreadable", "%v", err)
	}
	return latency, service, late
}

// What an operation at a rate must keep to.
const (
	rateMissed = 0.99 // of the rate asked for: below it the backlog grows without end
	lateShare  = 0.25 // of the median latency
)

// judgePace tells when the latencies at a rate are not those of what is measured: the rate
// was beyond it, so that they are those of a growing backlog, or the generator itself began
// late.
func (a *assembly) judgePace() {
	s, l, late := a.result.Score, a.result.Latency, a.result.StartLateness
	if !a.paced() || s.Value == nil || l == nil {
		return
	}
	if rate := float64(a.order.Case.Params.Int(a.info.Rate)); *s.Value < rateMissed*rate {
		a.doubt("rate_missed", "%.0f of %.0f operations a second were done: the latency is that of the backlog, and as long as one measures", *s.Value, rate)
		return
	}
	if late != nil && float64(late.Percentiles["50"]) > lateShare*float64(l.Percentiles["50"]) {
		a.doubt("late_starts", "the generator began half of its operations %s late or later, while half of the latencies are below %s: service_time is without that",
			time.Duration(late.Percentiles["50"]).Round(time.Microsecond), time.Duration(l.Percentiles["50"]).Round(time.Microsecond))
	}
}

// told are the percentiles that a result shows.
func told() []float64 { return []float64{50, 75, 90, 95, 99, 99.9, 99.99} }

// summary reads a histogram's figures; none of none.
func summary(encoded *measure.Histogram) (*bench.Latency, error) {
	if encoded == nil {
		return nil, nil
	}
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
