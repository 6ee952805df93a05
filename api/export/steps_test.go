package export_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/worker/bench"
)

// ramp is a result of one trial of two forks in a ramp of two lanes at a time, whose score is
// of the second of three steps, with a trial beside it that has none.
func ramp() bench.Result {
	series := &bench.Series{Kind: bench.Ramp, Stops: ptr(4), Scored: 4}
	var forks [2]bench.Fork
	for i, lanes := range []int{2, 4, 6} {
		value := []float64{10000, 19000, 19100}[i]
		step := bench.Step{
			Lanes: lanes, Throughput: *score("call/s", value, value-90, value+110),
			CPU:     bench.CPU{Client: ptr(0.5 * float64(i+1)), System: ptr(0.25 * float64(i+1)), Reason: "there is no server child"},
			Latency: &bench.StepLatency{Count: 1000, P50: 40000 * int64(i+1), P99: 900000, Max: 2000000},
		}
		series.Steps = append(series.Steps, step)
		for k := range forks {
			for j := range 3 {
				forks[k].Samples = append(forks[k].Samples, value+float64(100*j-50*k))
				forks[k].Slices = append(forks[k].Slices, bench.Slice{Lanes: lanes, Operations: int64(500 * (i + 1)), Elapsed: 5e7})
			}
		}
	}
	series.Steps[2].Failures, series.Steps[0].Latency = 7, nil
	t := trial("blue", "soap.echo", kernels.Params{"clients": "6", "model": "stream"}, score("call/s", 19000, 18910, 19110), forks[:]...)
	t.Series = series
	r := whole()
	r.Spec.Plan.Ramp, r.Spec.Plan.Operations = 2, 500
	r.Trials = []bench.TrialResult{t, r.Trials[0]}
	r.Composites = nil
	return r
}

// TestRampGolden shows what the steps of a ramp look like in the formats that have them.
func TestRampGolden(t *testing.T) {
	t.Parallel()
	for format, name := range map[string]string{"csv": "ramp.csv", "markdown": "ramp.md", "openmetrics": "ramp.prom"} {
		got := write(t, format, ramp())
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got); d != "" {
			t.Errorf("%s: run with -update if this is meant:\n%s", format, d)
		}
	}
}

// TestRampCSV: each step has a row below its trial's, with columns of its own that a result
// without a ramp has not.
func TestRampCSV(t *testing.T) {
	t.Parallel()
	table, err := csv.NewReader(strings.NewReader(write(t, "csv", ramp()))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(row int, name string) string {
		for i, title := range table[0] {
			if title == name {
				return table[row][i]
			}
		}
		t.Fatalf("there is no column %s", name)
		return ""
	}
	var got []string
	for row := range table[1:] {
		got = append(got, fmt.Sprint(at(row+1, "kind"), at(row+1, "lanes"), " ", at(row+1, "value"), " ", at(row+1, "failed_operations"), " ", at(row+1, "latency_p50_ns"), at(row+1, "valid")))
	}
	want := []string{"trial 19000 0 true", "step2 10000 0 ", "step4 19000 0 80000", "step6 19100 7 120000", "trial 1142.25 0 true"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if text := write(t, "csv", whole()); strings.Contains(text, "lanes") {
		t.Error("a result without a ramp has columns of one")
	}
}

// TestRampSamples: where a format has samples, they are those that the score is made of.
func TestRampSamples(t *testing.T) {
	t.Parallel()
	if n := strings.Count(write(t, "benchfmt", ramp()), "BenchmarkSoap.echo/clients=6/model=stream 1000 "); n != 6 {
		t.Errorf("benchfmt has %d samples of the step, want 6", n)
	}
	var records []struct {
		Threads               int    `json:"threads"`
		MeasurementTime       string `json:"measurementTime"`
		MeasurementIterations int    `json:"measurementIterations"`
		PrimaryMetric         struct {
			RawData [][]float64 `json:"rawData"`
		} `json:"primaryMetric"`
	}
	if err := json.Unmarshal([]byte(write(t, "jmh", ramp())), &records); err != nil {
		t.Fatal(err)
	}
	first := records[0]
	if d := cmp.Diff([][]float64{{19000, 19100, 19200}, {18950, 19050, 19150}}, first.PrimaryMetric.RawData); d != "" || first.Threads != 4 || first.MeasurementIterations != 3 {
		t.Errorf("%d threads, %d iterations %s", first.Threads, first.MeasurementIterations, d)
	}
	if first.MeasurementTime != "single-shot" {
		t.Errorf("an iteration that operations end is said to take %q", first.MeasurementTime)
	}
}
