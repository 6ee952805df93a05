package worker

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/measure"
	"benchd/worker/stats"
)

// score works out the headline figure and the time of one operation. Both are medians over
// all slices of all forks.
func (a *assembly) score() {
	var rates, times [][]float64
	for _, r := range a.records {
		rates = append(rates, r.Fork.Samples)
		times = append(times, a.operationTimes(r.Fork))
	}
	confidence := a.order.Plan.Confidence
	a.result.Score = figure("throughput", a.info.Unit, "higher", confidence, stats.Median(rates, confidence))
	a.result.Metrics = append(a.result.Metrics,
		*figure("time_per_"+a.info.Noun, "us", "lower", confidence, stats.Median(times, confidence)))
}

// operationTimes gives the mean time of one operation of each slice in microseconds: with n
// lanes, n operations are under way at once. A slice in which nothing succeeded has none.
func (a *assembly) operationTimes(f bench.Fork) []float64 {
	lanes := float64(lanesOf(a.info, a.order.Case.Params))
	var out []float64
	for _, s := range f.Slices {
		if s.Operations > 0 {
			out = append(out, lanes*float64(s.Elapsed)/float64(s.Operations)/float64(time.Microsecond))
		}
	}
	return out
}

// lanesOf is the number of lanes that a case runs.
func lanesOf(info kernels.Info, p kernels.Params) int {
	if info.Lanes == "" {
		return 1
	}
	return max(1, p.Int(info.Lanes))
}

// figure writes a figure as a score. What is not a finite number is null.
func figure(metric, unit, better string, confidence float64, f stats.Figure) *bench.Score {
	s := &bench.Score{
		Metric: metric, Unit: unit, Better: better, Confidence: confidence, N: f.N, Reason: f.Reason,
		Value: f.Value, Low: f.Low, High: f.High,
	}
	for _, v := range []**float64{&s.Value, &s.Low, &s.High} {
		if *v != nil && (math.IsNaN(**v) || math.IsInf(**v, 0)) {
			*v, s.Reason = nil, "it is not a finite number"
		}
	}
	return s
}

// told are the percentiles that a result shows.
func told() []float64 { return []float64{50, 75, 90, 95, 99, 99.9, 99.99} }

// mergeLatency adds up the forks' histograms, without loss. It returns nil when operations
// were timed in batches.
func mergeLatency(records []measure.Record) (*bench.Latency, error) {
	var all *hdrhistogram.Histogram
	var over int64
	for _, r := range records {
		if r.Latency == "" {
			return nil, nil
		}
		h, err := hdrhistogram.Decode([]byte(r.Latency))
		if err != nil {
			return nil, fmt.Errorf("the histogram of a fork cannot be read: %w", err)
		}
		over += r.Over
		if all == nil {
			all = h
		} else {
			all.Merge(h)
		}
	}
	text, err := all.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("the histogram of the trial cannot be written: %w", err)
	}
	l := &bench.Latency{
		Unit: "ns", Count: all.TotalCount(), Min: all.Min(), Mean: all.Mean(), Max: all.Max(),
		Percentiles: make(map[string]int64), OutOfRange: over, HDR: string(text),
	}
	for _, p := range told() {
		v := all.ValueAtQuantile(p)
		l.Percentiles[strconv.FormatFloat(p, 'f', -1, 64)] = min(max(v, l.Min), l.Max)
	}
	return l, nil
}

// The plateau of a message written in pieces with Nagle's algorithm on: the second piece
// waits for the delayed acknowledgement of the first, 40 ms on Linux.
const (
	plateauLow  = int64(38 * time.Millisecond)
	plateauHigh = int64(46 * time.Millisecond)
	saturated   = 0.95 // of a core, for each lane
)

// judge adds the doubts about the figures and says whether they can be believed.
func (a *assembly) judge() {
	if f := a.result.Failures; f != nil {
		a.doubt("operations_failed", "%d operations failed (%s); the first: %s", f.Count, classes(f), f.Sample)
	}
	if l := a.result.Latency; l != nil && l.Percentiles["50"] >= plateauLow && l.Percentiles["50"] <= plateauHigh {
		a.doubt("plateau_40ms", "half of the operations took %.1f ms or more, the plateau of delayed acknowledgement: the other side writes its messages in pieces without TCP_NODELAY",
			float64(l.Percentiles["50"])/1e6)
	}
	a.judgeGenerator()
	a.result.Validity.Valid = len(a.result.Validity.Reasons) == 0 && a.result.State == bench.Succeeded
}

// judgeGenerator tells when the client was what limited a kernel with a server: each of its
// lanes, or all cores, were busy all the time.
func (a *assembly) judgeGenerator() {
	lanes := lanesOf(a.info, a.order.Case.Params)
	for i, f := range a.result.Forks {
		if f.Server == nil || f.CPU.Client == nil {
			continue
		}
		if used := *f.CPU.Client; used >= saturated*float64(min(lanes, a.cores)) {
			a.doubt("generator_saturated", "in fork %d the client used %.2f cores with %d lanes: it was the limit, not the server", i+1, used, lanes)
			return
		}
	}
}

// classes writes the counts by class: "refused 2, timeout 1".
func classes(f *bench.Failures) string {
	var list []string
	for _, class := range slices.Sorted(maps.Keys(f.Classes)) {
		list = append(list, fmt.Sprintf("%s %d", class, f.Classes[class]))
	}
	return strings.Join(list, ", ")
}
