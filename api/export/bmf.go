package export

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"benchd/worker/bench"
)

// A bmfMetric is a figure of the Bencher Metric Format; a bound that is not known is absent.
type bmfMetric struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// writeBMF writes the Bencher Metric Format
// (https://bencher.dev/docs/reference/bencher-metric-format): for each trial and composite
// its measures, and for each measure the value and the bounds of its interval. What has no
// value is left out, since the format has no null.
//
// Bencher has two measures of its own, throughput in operations per second and latency in
// nanoseconds. Figures in these units take these names; any other measure has its unit in
// its name, since Bencher labels all figures of a measure with one unit.
func writeBMF(w io.Writer, r bench.Result) error {
	out := make(map[string]map[string]bmfMetric)
	for _, o := range rows(r) {
		if measures := bmfMeasures(o); len(measures) > 0 {
			out[o.name] = measures
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write the result in the Bencher Metric Format: %w", err)
	}
	return nil
}

// bmfMeasures are the score, the further figures, and of the latency what an alert is set on.
func bmfMeasures(o row) map[string]bmfMetric {
	measures := make(map[string]bmfMetric)
	add := func(s bench.Score) {
		if v, ok := finite(s.Value); ok {
			measures[bmfMeasure(s)] = bmfMetric{v, bmfBound(s.Low), bmfBound(s.High)}
		}
	}
	if o.score != nil {
		add(*o.score)
	}
	if o.composite() || o.score == nil {
		return measures
	}
	for _, m := range o.trial.Metrics {
		add(m)
	}
	if l := o.trial.Latency; l != nil {
		add(bench.Score{Metric: "latency", Unit: "ns", Value: &l.Mean})
		if p, ok := l.Percentiles["99"]; ok {
			v := float64(p)
			add(bench.Score{Metric: "latency_p99", Unit: "ns", Value: &v})
		}
	}
	return measures
}

// operations is a unit that counts operations by their name: "call/s", but not "Mflop/s".
var operations = regexp.MustCompile(`^[a-z]+/s$`)

// bmfMeasure names the measure of a figure.
func bmfMeasure(s bench.Score) string {
	known := s.Metric == "throughput" && operations.MatchString(s.Unit) || s.Metric == "latency" && s.Unit == "ns"
	if known {
		return s.Metric
	}
	return oneLine(s.Metric + " (" + s.Unit + ")")
}

// bmfBound is a bound, or nil where it is not known.
func bmfBound(v *float64) *float64 {
	if f, ok := finite(v); ok {
		return &f
	}
	return nil
}
