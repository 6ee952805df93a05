package export_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

// A jmhNumber is a number as readers of JMH's JSON take it: "NaN", "+INF" and "-INF" are
// strings.
type jmhNumber float64

func (n *jmhNumber) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*n = jmhNumber(math.NaN())
	case `"+INF"`:
		*n = jmhNumber(math.Inf(1))
	case `"-INF"`:
		*n = jmhNumber(math.Inf(-1))
	default:
		f, err := strconv.ParseFloat(string(b), 64)
		if err != nil {
			return fmt.Errorf("%s is no number of JMH", b)
		}
		*n = jmhNumber(f)
	}
	return nil
}

// The fields that JMH's own writer writes; a field more or less fails.
type (
	jmhMetric struct {
		Score            *jmhNumber           `json:"score"`
		ScoreError       *jmhNumber           `json:"scoreError"`
		ScoreConfidence  []jmhNumber          `json:"scoreConfidence"`
		ScorePercentiles map[string]jmhNumber `json:"scorePercentiles"`
		ScoreUnit        *string              `json:"scoreUnit"`
		RawData          [][]jmhNumber        `json:"rawData"`
	}
	jmhRecord struct {
		JMHVersion            *string              `json:"jmhVersion"`
		Benchmark             *string              `json:"benchmark"`
		Mode                  *string              `json:"mode"`
		Threads               *int                 `json:"threads"`
		Forks                 *int                 `json:"forks"`
		JVM                   *string              `json:"jvm"`
		JVMArgs               []string             `json:"jvmArgs"`
		JDKVersion            *string              `json:"jdkVersion"`
		VMName                *string              `json:"vmName"`
		VMVersion             *string              `json:"vmVersion"`
		WarmupIterations      *int                 `json:"warmupIterations"`
		WarmupTime            *string              `json:"warmupTime"`
		WarmupBatchSize       *int                 `json:"warmupBatchSize"`
		MeasurementIterations *int                 `json:"measurementIterations"`
		MeasurementTime       *string              `json:"measurementTime"`
		MeasurementBatchSize  *int                 `json:"measurementBatchSize"`
		Params                map[string]string    `json:"params"`
		PrimaryMetric         *jmhMetric           `json:"primaryMetric"`
		SecondaryMetrics      map[string]jmhMetric `json:"secondaryMetrics"`
	}
)

// readJMH reads records strictly and checks what viewers rely on: every field is there, the
// name has a class and a method, and no two records share name, mode and parameters.
func readJMH(tb failer, text string) []jmhRecord {
	tb.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var out []jmhRecord
	if err := dec.Decode(&out); err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		tb.Fatalf("%v", err)
	}
	seen := make(map[string]bool)
	for i, r := range out {
		for _, field := range strings.Fields("jmhVersion benchmark mode threads forks jvm jvmArgs jdkVersion vmName vmVersion warmupIterations warmupTime warmupBatchSize measurementIterations measurementTime measurementBatchSize primaryMetric secondaryMetrics") {
			if v, ok := raw[i][field]; !ok || string(v) == "null" {
				tb.Errorf("record %d: %s is %s", i, field, v)
			}
		}
		if class, method, ok := cutLast(*r.Benchmark, "."); !ok || class == "" || method == "" || strings.Contains(*r.Benchmark, " ") {
			tb.Errorf("record %d: the name %q has no class and method", i, *r.Benchmark)
		}
		if !slices.Contains([]string{"thrpt", "avgt", "sample", "ss"}, *r.Mode) {
			tb.Errorf("record %d: there is no mode %q", i, *r.Mode)
		}
		checkJMHMetric(tb, *r.PrimaryMetric)
		for _, m := range r.SecondaryMetrics {
			checkJMHMetric(tb, m)
		}
		key := fmt.Sprint(*r.Benchmark, *r.Mode, r.Params)
		if seen[key] {
			tb.Errorf("record %d: there is another %s", i, key)
		}
		seen[key] = true
	}
	return out
}

func checkJMHMetric(tb failer, m jmhMetric) {
	tb.Helper()
	if m.Score == nil || m.ScoreError == nil || m.ScoreUnit == nil || len(m.ScoreConfidence) != 2 || m.RawData == nil {
		tb.Errorf("a metric lacks something: %+v", m)
	}
	want := []string{"0.0", "100.0", "50.0", "90.0", "95.0", "99.0", "99.9", "99.99", "99.999", "99.9999"}
	var got []string
	for p := range m.ScorePercentiles {
		got = append(got, p)
	}
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("%v", d)
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func TestJMH(t *testing.T) {
	t.Parallel()
	records := readJMH(t, write(t, "jmh", whole()))
	if len(records) != 4 {
		t.Fatalf("%d records, want one for each of the 4 trials with a score", len(records))
	}
	echo := records[2]
	if *echo.Benchmark != "benchd.soap.echo" || *echo.Mode != "thrpt" || *echo.Threads != 4 || *echo.Forks != 2 {
		t.Errorf("%s %s, %d threads, %d forks", *echo.Benchmark, *echo.Mode, *echo.Threads, *echo.Forks)
	}
	if *echo.WarmupIterations != 2 || *echo.MeasurementIterations != 3 || *echo.MeasurementTime != "50 ms" || *echo.VMVersion != "v1.2.3" {
		t.Errorf("%d and %d iterations of %s, build %s", *echo.WarmupIterations, *echo.MeasurementIterations, *echo.MeasurementTime, *echo.VMVersion)
	}
	if d := cmp.Diff(map[string]string{"payload": "beans", "size": "2.2KB", "model": "dom", "clients": "4", "host": "blue", "repeat": "1"}, echo.Params); d != "" {
		t.Error(d)
	}
	m := echo.PrimaryMetric
	if *m.Score != 21034.5 || *m.ScoreError != 45.125 || *m.ScoreUnit != "call/s" {
		t.Errorf("%v ± %v %s", *m.Score, *m.ScoreError, *m.ScoreUnit)
	}
	if d := cmp.Diff([]jmhNumber{20990, 21080.25}, m.ScoreConfidence); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]jmhNumber{{21000, 21034.5, 21080}, {20990, 21040, 21035}}, m.RawData); d != "" {
		t.Error(d)
	}
	latency := echo.SecondaryMetrics["latency"]
	if *latency.Score != 47510 || latency.ScorePercentiles["99.9"] != 180000 || latency.ScorePercentiles["100.0"] != 905000 || *latency.ScoreUnit != "ns/op" {
		t.Errorf("%+v", latency)
	}
	if per := echo.SecondaryMetrics["time_per_call"]; *per.Score != 47.5 || *per.ScoreUnit != "us" {
		t.Errorf("%+v", per)
	}
	few := records[3].PrimaryMetric
	if !math.IsNaN(float64(*few.ScoreError)) || !math.IsNaN(float64(few.ScoreConfidence[0])) || *few.Score != 900 {
		t.Errorf("bounds that are not known: %v ± %v %v", *few.Score, *few.ScoreError, few.ScoreConfidence)
	}
}

// The percentiles are those that JMH 1.37 works out: position p(n+1)/100 of the sorted
// samples with linear interpolation, as commons-math does by default.
func TestJMHPercentiles(t *testing.T) {
	t.Parallel()
	r := whole()
	samples := make([]float64, 0, 20)
	for i := range 20 {
		samples = append(samples, float64((i*7)%20+1)) // 1 to 20 in another order
	}
	r.Trials = []bench.TrialResult{trial("blue", "scimark.fft", small(), score("Mflop/s", 10, 9, 11), fork(samples...))}
	got := readJMH(t, write(t, "jmh", r))[0].PrimaryMetric.ScorePercentiles
	want := map[string]jmhNumber{
		"0.0": 1, "50.0": 10.5, "90.0": 18.9, "95.0": 19.95, "99.0": 20, "99.9": 20, "99.99": 20, "99.999": 20, "99.9999": 20, "100.0": 20,
	}
	for p, w := range want {
		if math.Abs(float64(got[p]-w)) > 1e-9 {
			t.Errorf("p%s is %v, want %v", p, got[p], w)
		}
	}
}

func TestJMHTimes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		slice int64
		want  string
	}{
		{10e9, "10 s"},
		{1e9, "1 s"},
		{1.5e9, "1500 ms"},
		{2.5e6, "2500 us"},
		{1, "1 ns"},
		{0, "0 ns"},
	} {
		r := whole()
		r.Spec.Plan.Slice = bench.Duration(tt.slice)
		if got := *readJMH(t, write(t, "jmh", r))[0].MeasurementTime; got != tt.want {
			t.Errorf("a slice of %d ns is %q, want %q", tt.slice, got, tt.want)
		}
	}
}

func TestJMHOfNothing(t *testing.T) {
	t.Parallel()
	if got := strings.TrimSpace(write(t, "jmh", bench.Result{})); got != "[]" {
		t.Errorf("%q", got)
	}
}

// With one host and no repetition nothing is added to the parameters, so that two results are
// compared case by case.
func TestJMHOfOneHost(t *testing.T) {
	t.Parallel()
	r := whole()
	r.Trials, r.Composites = r.Trials[:1], nil
	if d := cmp.Diff(map[string]string(small()), readJMH(t, write(t, "jmh", r))[0].Params); d != "" {
		t.Error(d)
	}
}
