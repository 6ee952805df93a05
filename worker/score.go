package worker

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"benchd/worker/bench"
	"benchd/worker/host"
	"benchd/worker/measure"
	"benchd/worker/stats"
)

// score works out the headline figure and the time of one operation, over the slices that
// count and, where some were kept apart as warm-up, over all.
func (a *assembly) score() {
	a.result.Score = a.asScore("throughput", a.info.Unit, "higher", a.rates(false))
	// At a rate the time from one operation to the next says nothing of the operation.
	if !a.paced() {
		var times [][]float64
		for _, r := range a.records {
			times = append(times, a.operationTimes(r.Fork))
		}
		a.result.Metrics = append(a.result.Metrics, *a.asScore("time_per_"+a.info.Noun, "us", "lower", times))
	}
	if rates := a.bandwidths(); rates != nil {
		a.result.Metrics = append(a.result.Metrics, *a.asScore("bandwidth", "MB/s", "higher", rates))
	}
	for _, r := range a.records {
		if r.Fork.Warmup.Slices > 0 && a.scored() == 0 {
			a.result.WithWarmup = &bench.WithWarmup{Score: *a.asScore("throughput", a.info.Unit, "higher", a.rates(true))}
			return
		}
	}
}

// rates are the samples of each fork that the score is of, with those of its warm-up before
// them if asked.
func (a *assembly) rates(warmup bool) [][]float64 {
	out := make([][]float64, len(a.records))
	for i, r := range a.records {
		if warmup {
			out[i] = slices.Concat(r.Fork.Warmup.Samples, r.Fork.Samples)
		} else {
			out[i] = r.Fork.SamplesAt(a.scored())
		}
	}
	return out
}

// bandwidths are the samples of each fork as the payload that was carried, 1 MB being 2^20
// bytes, or nil if the kernel does not count its bytes.
func (a *assembly) bandwidths() [][]float64 {
	rates := a.rates(false)
	for i, r := range a.records {
		if r.Work.Bytes <= 0 {
			return nil
		}
		carried := make([]float64, len(rates[i]))
		for j, v := range rates[i] {
			carried[j] = v * r.Work.Bytes / (1 << 20)
		}
		rates[i] = carried
	}
	return rates
}

// figure makes value and interval of samples as the plan asks.
func (a *assembly) figure(forks [][]float64) stats.Figure {
	return stats.Of(a.order.Plan.Interval, forks, a.order.Plan.Confidence)
}

// asScore writes the figure of samples as a score. What is not a finite number is null.
func (a *assembly) asScore(metric, unit, better string, forks [][]float64) *bench.Score {
	f := a.figure(forks)
	s := &bench.Score{
		Metric: metric, Unit: unit, Better: better, Confidence: a.order.Plan.Confidence, N: f.N, Reason: f.Reason, Note: f.Note,
		Value: f.Value, Low: f.Low, High: f.High,
	}
	for _, v := range []**float64{&s.Value, &s.Low, &s.High} {
		if *v != nil && (math.IsNaN(**v) || math.IsInf(**v, 0)) {
			*v, s.Reason = nil, "it is not a finite number"
		}
	}
	return s
}

// operationTimes gives the mean time of one operation of each slice in microseconds: with n
// lanes, n operations are under way at once. A slice in which nothing succeeded has none.
func (a *assembly) operationTimes(f bench.Fork) []float64 {
	var out []float64
	for _, s := range f.Slices {
		if s.Operations > 0 && (a.scored() == 0 || s.Lanes == a.scored()) {
			out = append(out, float64(s.Lanes)*float64(s.Elapsed)/float64(s.Operations)/float64(time.Microsecond))
		}
	}
	return out
}

// paced tells whether operations begin by a schedule.
func (a *assembly) paced() bool {
	return a.info.Rate != "" && a.order.Case.Params.Int(a.info.Rate) > 0
}

// saturated is how much of a core each lane of a client uses that is the limit itself.
const saturated = 0.95

// judge adds the doubts about the figures and says whether they can be believed.
func (a *assembly) judge() {
	if f := a.result.Failures; f != nil {
		a.doubt("operations_failed", "%d operations failed (%s); the first: %s", f.Count, classes(f), f.Sample)
	}
	a.judgePlateau()
	a.judgeService()
	a.judgeGenerator()
	a.judgePace()
	a.judgeRamp()
	a.judgeSteadiness()
	if s := a.result.Score; s.Value != nil && s.Low == nil && s.N >= stats.MinSamples {
		a.doubt("imprecise", "%s", s.Reason)
	} else if p := a.result.Precision; p != nil && !p.Met {
		a.doubt("imprecise", "the target error of %.3g %% was %s", 100*p.Target, p.Reason)
	}
	reasons := &a.result.Validity.Reasons
	if !a.paced() { // then slices differ by whole operations, and are alike by the schedule
		*reasons = append(*reasons, stats.Doubts(a.order.Plan.Interval, a.rates(false))...)
	}
	*reasons = append(*reasons, a.noiseDoubts()...)
	a.result.Validity.Valid = !slices.ContainsFunc(*reasons, a.harms) && a.result.State == bench.Succeeded
}

// harms tells whether a reason makes the figures doubtful. That neighbouring slices are alike
// is worth knowing, but an interval that counts forks takes no slice for independent. Nor does
// it harm that a server outside is where it is: the case names it.
func (a *assembly) harms(reason string) bool {
	if strings.HasPrefix(reason, "not_placed: ") {
		return false
	}
	independent := a.order.Plan.Interval == bench.PooledT || len(a.records) == 1
	return independent || !strings.HasPrefix(reason, "autocorrelated: ")
}

// noiseDoubts tells what else the host did, at its worst over the forks.
func (a *assembly) noiseDoubts() []string {
	var seen []bench.Noise
	count := make(map[string]int)
	for _, f := range a.result.Forks {
		if f.Noise == nil {
			continue
		}
		seen = append(seen, *f.Noise)
		for _, d := range host.Doubts(*f.Noise, a.cores) {
			code, _, _ := strings.Cut(d, ": ")
			count[code]++
		}
	}
	out := host.Doubts(host.Worst(seen), a.cores)
	for i, d := range out {
		code, text, _ := strings.Cut(d, ": ")
		if len(seen) > 1 {
			text = fmt.Sprintf("in %d of %d forks; at worst %s", max(1, count[code]), len(seen), text)
		}
		out[i] = code + ": " + text
	}
	return out
}

// judgeGenerator tells when the client was what limited a kernel with a server: each of its
// lanes, or all cores, were busy all the time; in a ramp, at the step that the score is of.
func (a *assembly) judgeGenerator() {
	lanes := bench.LanesOf(a.info, a.order.Case.Params)
	for i, f := range a.result.Forks {
		used := f.CPU.Client
		if series := a.result.Series; series != nil {
			at := slices.IndexFunc(a.records[i].Steps, func(s measure.Step) bool { return s.Lanes == series.Scored })
			if at < 0 {
				return
			}
			lanes, used = series.Scored, a.records[i].Steps[at].CPU.Client
		}
		if f.Server == nil || used == nil {
			continue
		}
		if *used >= saturated*float64(min(lanes, a.cores)) {
			a.doubt("generator_saturated", "in fork %d the client used %.2f cores with %d lanes: it was the limit, not the server", i+1, *used, lanes)
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
