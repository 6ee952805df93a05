package worker

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"benchd/worker/bench"
	"benchd/worker/measure"
	"benchd/worker/stats"
)

// ramp puts the steps of the forks of a ramp together, and finds where its throughput stops
// rising. The steps of all forks are the same, since the plan and the case make them.
func (a *assembly) ramp() {
	if a.order.Plan.Ramp == 0 {
		return
	}
	s := &bench.Series{Kind: bench.Ramp, Steps: []bench.Step{}}
	for i := range a.records[0].Steps {
		s.Steps = append(s.Steps, a.step(i))
	}
	stats.StopsRising(s)
	a.result.Series = s
}

// step puts one step of all forks together.
func (a *assembly) step(i int) bench.Step {
	lanes := a.records[0].Steps[i].Lanes
	out := bench.Step{Lanes: lanes}
	var samples [][]float64
	var times []measure.Times
	var parts []measure.Step
	for _, r := range a.records {
		step := r.Steps[i]
		samples = append(samples, r.Fork.SamplesAt(lanes))
		parts = append(parts, step)
		out.Failures += step.Failures
		if step.Times != nil {
			times = append(times, *step.Times)
		}
	}
	out.Throughput = *a.asScore("throughput", a.info.Unit, "higher", samples)
	out.CPU = meanCPU(parts)
	out.Latency = a.stepLatency(times)
	return out
}

// stepLatency sums up the latencies of a step, or gives none of none.
func (a *assembly) stepLatency(list []measure.Times) *bench.StepLatency {
	sum, err := measure.MergeTimes(list)
	if err == nil && sum == nil {
		return nil
	}
	var h *hdrhistogram.Histogram
	if err == nil {
		h, err = hdrhistogram.Decode([]byte(sum.Latency.HDR))
	}
	if err != nil {
		a.doubt("latency_unreadable", "%v", err)
		return nil
	}
	within := func(p float64) int64 { return min(max(h.ValueAtQuantile(p), h.Min()), h.Max()) }
	return &bench.StepLatency{Count: h.TotalCount(), P50: within(50), P99: within(99), Max: h.Max()}
}

// meanCPU is how busy the processors were in a step of several forks, each counted by the time
// that it took. A figure that one fork has not is null.
func meanCPU(parts []measure.Step) bench.CPU {
	var out bench.CPU
	for _, p := range parts {
		if out.Reason == "" {
			out.Reason = p.CPU.Reason
		}
	}
	out.Client = meanShare(parts, func(c bench.CPU) *float64 { return c.Client })
	out.Server = meanShare(parts, func(c bench.CPU) *float64 { return c.Server })
	out.System = meanShare(parts, func(c bench.CPU) *float64 { return c.System })
	return out
}

// meanShare is the mean of one figure of the CPU, or null.
func meanShare(parts []measure.Step, of func(bench.CPU) *float64) *float64 {
	var sum, elapsed float64
	for _, p := range parts {
		v := of(p.CPU)
		if v == nil {
			return nil
		}
		sum += *v * p.Elapsed.Seconds()
		elapsed += p.Elapsed.Seconds()
	}
	if elapsed == 0 {
		return nil
	}
	return new(sum / elapsed)
}

// scored is the number of lanes of the step of a ramp that the score is of; 0 without a ramp.
func (a *assembly) scored() int {
	if a.result.Series == nil {
		return 0
	}
	return a.result.Series.Scored
}

// judgeRamp tells when noise alone may have ended a ramp's rise.
func (a *assembly) judgeRamp() {
	s := a.result.Series
	if s == nil {
		return
	}
	if lanes, more := stats.Unproven(*s); lanes > 0 {
		a.doubt("rise_unproven", "with %d lanes the throughput was %.0f %% higher than with the %d where it is said to stop rising, and the samples do not prove it; measure more slices or forks",
			lanes, 100*more, *s.Stops)
	}
}
