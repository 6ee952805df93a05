package export

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
)

// writeJMH writes the JSON of JMH, the Java Microbenchmark Harness, as its own writer does
// (org.openjdk.jmh.results.format.JSONResultFormat of JMH 1.37), for its viewers. Each trial
// with a score is one record; composites and trials without a score are left out.
//
// The score is that of the result, the median of the samples with its bootstrap interval, or
// with the plan's interval "pooled_t" the mean with the interval that JMH prints itself. The
// error is half the interval's width. rawData holds the samples, one list for each fork. The
// latency of operations is a secondary metric, whose percentiles are those of its histogram.
// Of a ramp there are the samples and the lanes of the step that its score is of. A viewer
// tells records apart by name and parameters, so where a result has several hosts or
// repetitions the parameters "host" and "repeat" are added.
func writeJMH(w io.Writer, r bench.Result) error {
	records := []jmhRecord{}
	several := len(hostNames(r)) > 1
	repeated := slices.ContainsFunc(r.Trials, func(t bench.TrialResult) bool { return t.Repeat > 1 })
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Score == nil {
			continue
		}
		record := newJMHRecord(r, t)
		if several {
			record.Params["host"] = t.Host
		}
		if repeated {
			record.Params["repeat"] = strconv.Itoa(t.Repeat)
		}
		records = append(records, record)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "    ")
	if err := enc.Encode(records); err != nil {
		return fmt.Errorf("write the result as JSON of JMH: %w", err)
	}
	return nil
}

// A jmhRecord is one benchmark with one set of parameters.
type jmhRecord struct {
	JMHVersion            string               `json:"jmhVersion"`
	Benchmark             string               `json:"benchmark"`
	Mode                  string               `json:"mode"`
	Threads               int                  `json:"threads"`
	Forks                 int                  `json:"forks"`
	JVM                   string               `json:"jvm"`
	JVMArgs               []string             `json:"jvmArgs"`
	JDKVersion            string               `json:"jdkVersion"`
	VMName                string               `json:"vmName"`
	VMVersion             string               `json:"vmVersion"`
	WarmupIterations      int                  `json:"warmupIterations"`
	WarmupTime            string               `json:"warmupTime"`
	WarmupBatchSize       int                  `json:"warmupBatchSize"`
	MeasurementIterations int                  `json:"measurementIterations"`
	MeasurementTime       string               `json:"measurementTime"`
	MeasurementBatchSize  int                  `json:"measurementBatchSize"`
	Params                map[string]string    `json:"params,omitempty"`
	PrimaryMetric         jmhMetric            `json:"primaryMetric"`
	SecondaryMetrics      map[string]jmhMetric `json:"secondaryMetrics"`
}

// A jmhMetric is a figure with its samples.
type jmhMetric struct {
	Score            jmhNumber            `json:"score"`
	ScoreError       jmhNumber            `json:"scoreError"`
	ScoreConfidence  [2]jmhNumber         `json:"scoreConfidence"`
	ScorePercentiles map[string]jmhNumber `json:"scorePercentiles"`
	ScoreUnit        string               `json:"scoreUnit"`
	RawData          [][]jmhNumber        `json:"rawData"`
}

// A jmhNumber is a number that JMH writes as a string when it is none.
type jmhNumber float64

// MarshalJSON writes "NaN", "+INF" and "-INF" as JMH does.
func (n jmhNumber) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"+INF"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-INF"`), nil
	default:
		return json.Marshal(f)
	}
}

// jmhOf makes a number of what may be unknown.
func jmhOf(v *float64) jmhNumber {
	if f, ok := finite(v); ok {
		return jmhNumber(f)
	}
	return jmhNumber(math.NaN())
}

func newJMHRecord(r bench.Result, t *bench.TrialResult) jmhRecord {
	facts, plan, forks := r.Hosts[t.Host].Facts, r.Spec.PlanOf(t.Case()), t.Samples()
	slice := jmhTime(plan.Slice.Std())
	record := jmhRecord{
		JMHVersion: "1.37", Benchmark: "benchd." + strings.ReplaceAll(oneLine(t.Kernel), " ", "_"), Mode: "thrpt",
		Threads: jmhThreads(t.Params), Forks: len(t.Forks),
		JVM: "benchd", JVMArgs: []string{}, JDKVersion: facts.Go, VMName: "Go", VMVersion: facts.Build,
		WarmupTime: slice, WarmupBatchSize: 1, MeasurementTime: slice, MeasurementBatchSize: 1,
		Params: shown(t.Params), PrimaryMetric: newJMHMetric(*t.Score), SecondaryMetrics: make(map[string]jmhMetric),
	}
	if t.Score.Better == "lower" {
		record.Mode = "avgt"
	}
	if plan.Operations > 0 {
		record.MeasurementTime = "single-shot" // as JMH calls an iteration that no time ends
	}
	if t.Series != nil {
		record.Threads = t.Series.Scored
	}
	if len(t.Forks) > 0 {
		record.WarmupIterations, record.MeasurementIterations = t.Forks[0].Warmup.Slices, len(forks[0])
	}
	var all []float64
	for _, f := range forks {
		samples := make([]jmhNumber, len(f))
		for i, s := range f {
			samples[i] = jmhNumber(s)
		}
		record.PrimaryMetric.RawData = append(record.PrimaryMetric.RawData, samples)
		all = append(all, f...)
	}
	record.PrimaryMetric.ScorePercentiles = jmhPercentiles(all)
	for _, m := range t.Metrics {
		if _, ok := finite(m.Value); ok {
			record.SecondaryMetrics[m.Metric] = jmhSecondary(m)
		}
	}
	if t.Latency != nil {
		record.SecondaryMetrics["latency"] = jmhLatency(t.Latency)
	}
	return record
}

func newJMHMetric(s bench.Score) jmhMetric {
	m := jmhMetric{
		Score: jmhOf(s.Value), ScoreError: jmhNumber(math.NaN()), ScoreConfidence: [2]jmhNumber{jmhOf(s.Low), jmhOf(s.High)},
		ScorePercentiles: jmhPercentiles(nil), ScoreUnit: s.Unit, RawData: [][]jmhNumber{},
	}
	m.ScoreError = (m.ScoreConfidence[1] - m.ScoreConfidence[0]) / 2 // NaN where a bound is
	return m
}

// jmhSecondary makes a metric that has no samples of its own: its one raw value is its score,
// since viewers draw the range of the raw values.
func jmhSecondary(s bench.Score) jmhMetric {
	m := newJMHMetric(s)
	m.RawData = [][]jmhNumber{{m.Score}}
	return m
}

// jmhRanks are the percentiles that JMH writes.
func jmhRanks() []float64 {
	return []float64{0, 50, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999, 100}
}

// jmhKey writes a percentile as Java writes a double: "50.0", "99.99".
func jmhKey(p float64) string {
	s := strconv.FormatFloat(p, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// jmhPercentiles works out the percentiles of samples as JMH does: the value at position
// p·(n+1)/100 of the sorted samples, counted from 1, with linear interpolation.
func jmhPercentiles(samples []float64) map[string]jmhNumber {
	sorted := slices.Clone(samples)
	slices.Sort(sorted)
	out := make(map[string]jmhNumber)
	for _, p := range jmhRanks() {
		out[jmhKey(p)] = jmhNumber(atPercent(sorted, p))
	}
	return out
}

func atPercent(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	pos := p * float64(n+1) / 100
	switch {
	case pos < 1:
		return sorted[0]
	case pos >= float64(n):
		return sorted[n-1]
	}
	i := int(pos)
	return sorted[i-1] + (pos-float64(i))*(sorted[i]-sorted[i-1])
}

// jmhLatency makes a metric of a histogram: its score is the mean.
func jmhLatency(l *bench.Latency) jmhMetric {
	m := jmhSecondary(bench.Score{Value: &l.Mean, Unit: l.Unit + "/op"})
	for _, p := range jmhRanks() {
		if v, ok := l.Percentiles[strconv.FormatFloat(p, 'f', -1, 64)]; ok {
			m.ScorePercentiles[jmhKey(p)] = jmhNumber(v)
		}
	}
	m.ScorePercentiles["0.0"], m.ScorePercentiles["100.0"] = jmhNumber(l.Min), jmhNumber(l.Max)
	return m
}

// jmhThreads is the number of lanes, by the names that kernels give it.
func jmhThreads(p kernels.Params) int {
	for _, name := range []string{"clients", "threads", "pairs", "concurrency"} {
		if n := p.Int(name); n > 0 {
			return n
		}
	}
	return 1
}

// jmhTime writes a time as JMH does, a whole number of one unit: "500 ms", "10 s".
func jmhTime(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}} {
		if d >= u.size && d%u.size == 0 {
			return fmt.Sprintf("%d %s", d/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d ns", d)
}
