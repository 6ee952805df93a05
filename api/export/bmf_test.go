package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// A bmfMetric is what the schema of the format allows, and nothing else.
type bmfMetric struct {
	Value      *float64 `json:"value"`
	LowerValue *float64 `json:"lower_value"`
	UpperValue *float64 `json:"upper_value"`
}

func readBMF(tb failer, text string) map[string]map[string]bmfMetric {
	tb.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var out map[string]map[string]bmfMetric
	if err := dec.Decode(&out); err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	for name, measures := range out {
		if name == "" || len(measures) == 0 {
			tb.Errorf("benchmark %q has %d measures", name, len(measures))
		}
		for measure, m := range measures {
			if measure == "" || m.Value == nil {
				tb.Errorf("%s: measure %q without a value", name, measure)
			}
		}
	}
	return out
}

func TestBMF(t *testing.T) {
	t.Parallel()
	three := func(v, low, high float64) bmfMetric { return bmfMetric{&v, &low, &high} }
	one := func(v float64) bmfMetric { return bmfMetric{Value: &v} }
	want := map[string]map[string]bmfMetric{
		"scimark.fft size=small threads=1 on blue":     {"throughput (Mflop/s)": three(1142.25, 1139.5, 1145)},
		"scimark.fft size=small threads=1 on blue (2)": {"throughput (Mflop/s)": three(1140, 1130, 1150)},
		"soap.echo clients=4 model=dom payload=beans size=2.2KB on blue": {
			"throughput": three(21034.5, 20990, 21080.25), "time_per_call (us)": three(47.5, 47.4, 47.6),
			"latency": one(47510), "latency_p99 (ns)": one(70100),
		},
		"scimark.sor size=small threads=1 on green":        {"throughput (Mflop/s)": one(900)},
		"scimark (composite) size=small threads=1 on blue": {"throughput (Mflop/s)": three(1142.25, 1139.5, 1145)},
	}
	if d := cmp.Diff(want, readBMF(t, write(t, "bmf", whole()))); d != "" {
		t.Error(d)
	}
}

// With one host its name stays out of the benchmarks': Bencher has its own word for it.
func TestBMFOfOneHost(t *testing.T) {
	t.Parallel()
	r := whole()
	r.Trials, r.Composites = r.Trials[:1], nil
	if _, ok := readBMF(t, write(t, "bmf", r))["scimark.fft size=small threads=1"]; !ok {
		t.Errorf("%s", write(t, "bmf", r))
	}
}

func TestBMFOfNothing(t *testing.T) {
	t.Parallel()
	if got := strings.TrimSpace(write(t, "bmf", bench.Result{})); got != "{}" {
		t.Errorf("%q", got)
	}
}
