package export_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var (
	omMeta   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-z_]+) (\S.*)$`)
	omSample = regexp.MustCompile(`^([a-z_]+)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)+)\} (-?[0-9.]+(?:e[+-]?[0-9]+)?)$`)
	omName   = regexp.MustCompile(`(?:^|,)([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\\n]|\\["\\n])*"`)
)

// readOpenMetrics checks the text by the rules of OpenMetrics 1.0.0 that it can break, and
// reads it with the parser of Prometheus.
func readOpenMetrics(tb failer, text string) map[string]*dto.MetricFamily {
	tb.Helper()
	body, ok := strings.CutSuffix(text, "# EOF\n")
	if !ok || strings.Contains(body, "# EOF") {
		tb.Fatalf("it does not end in one # EOF:\n%s", text)
	}
	var family, kind string
	seen := make(map[string]bool)
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if m := omMeta.FindStringSubmatch(line); m != nil {
			switch {
			case m[1] == "TYPE" && seen[m[2]]:
				tb.Errorf("the family %s stands twice", m[2])
			case m[1] == "TYPE":
				family, kind = m[2], m[3]
				seen[family] = true
			case m[2] != family:
				tb.Errorf("%s within the family %s", line, family)
			case m[1] == "UNIT" && !strings.HasSuffix(family, "_"+m[3]):
				tb.Errorf("the family %s does not end in its unit %s", family, m[3])
			}
			continue
		}
		m := omSample.FindStringSubmatch(line)
		if m == nil {
			tb.Fatalf("not a line of OpenMetrics: %q", line)
		}
		suffix := strings.TrimPrefix(m[1], family)
		if !strings.HasPrefix(m[1], family) || suffix != "" && (kind != "summary" || suffix != "_sum" && suffix != "_count") {
			tb.Errorf("the sample %s within the family %s, a %s", m[1], family, kind)
		}
		if series := m[1] + m[2]; seen[series] {
			tb.Errorf("the series %s stands twice", series)
		} else {
			seen[series] = true
		}
		var names []string
		for _, n := range omName.FindAllStringSubmatch(m[2], -1) {
			names = append(names, n[1])
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			tb.Errorf("a label stands twice: %s", line)
		}
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return families
}

// find returns the metric of a family that has all of the labels given.
func find(families map[string]*dto.MetricFamily, name string, labels map[string]string) *dto.Metric {
	for _, m := range families[name].GetMetric() {
		got := make(map[string]string)
		for _, l := range m.GetLabel() {
			got[l.GetName()] = l.GetValue()
		}
		all := true
		for k, v := range labels {
			all = all && got[k] == v
		}
		if all {
			return m
		}
	}
	return nil
}

func TestOpenMetrics(t *testing.T) {
	t.Parallel()
	families := readOpenMetrics(t, write(t, "openmetrics", whole()))
	echo := map[string]string{"host": "blue", "kernel": "soap.echo", "param_model": "dom", "param_clients": "4", "repeat": "1"}
	throughput := map[string]string{"host": "blue", "kernel": "soap.echo", "metric": "throughput", "unit": "call/s", "better": "higher"}
	for _, tt := range []struct {
		name, family string
		labels       map[string]string
		want         float64
	}{
		{"a score", "benchd_score", throughput, 21034.5},
		{"its lower bound", "benchd_score_low", throughput, 20990},
		{"its upper bound", "benchd_score_high", throughput, 21080.25},
		{"its samples", "benchd_score_samples", throughput, 6},
		{"a further figure", "benchd_score", map[string]string{"kernel": "soap.echo", "metric": "time_per_call", "unit": "us", "better": "lower"}, 47.5},
		{"a repetition", "benchd_score", map[string]string{"kernel": "scimark.fft", "repeat": "2"}, 1140},
		{"a composite", "benchd_score", map[string]string{"kernel": "scimark", "composite": "true"}, 1142.25},
		{"a trial that succeeded", "benchd_trial_succeeded", echo, 1},
		{"one that did not", "benchd_trial_succeeded", map[string]string{"host": "green", "kernel": "soap.echo"}, 0},
		{"one in doubt", "benchd_trial_valid", echo, 0},
		{"operations that failed", "benchd_trial_failed_operations", echo, 3},
		{"the run", "benchd_run_info", map[string]string{"run": whole().ID, "state": "failed", "label_commit": "abc123"}, 1},
		{"a host", "benchd_host_info", map[string]string{"host": "blue", "cpu_model": "AMD EPYC"}, 1},
	} {
		if m := find(families, tt.family, tt.labels); m == nil || m.GetGauge().GetValue() != tt.want {
			t.Errorf("%s: %v, want %g", tt.name, m, tt.want)
		}
	}
	if m := find(families, "benchd_score_low", map[string]string{"kernel": "scimark.sor"}); m != nil {
		t.Errorf("a bound that is not known: %v", m)
	}
	s := find(families, "benchd_trial_latency_seconds", echo).GetSummary()
	if s.GetSampleCount() != 4000 || s.GetSampleSum() != 0.19004 || len(s.GetQuantile()) != 4 {
		t.Errorf("%v", s)
	}
	if q := s.GetQuantile()[3]; q.GetQuantile() != 0.999 || q.GetValue() != 0.00018 {
		t.Errorf("%v", q)
	}
}

func TestOpenMetricsOfRate(t *testing.T) {
	t.Parallel()
	echo := map[string]string{"host": "blue", "kernel": "soap.echo"}
	families := readOpenMetrics(t, write(t, "openmetrics", paced()))
	for _, tt := range []struct {
		family string
		sum    float64
		median float64
	}{{"benchd_trial_latency_seconds", 0.19004, 46900e-9}, {"benchd_trial_service_time_seconds", 0.128, 31000e-9}} {
		s := find(families, tt.family, echo).GetSummary()
		if s.GetSampleCount() != 4000 || s.GetSampleSum() != tt.sum || len(s.GetQuantile()) == 0 || s.GetQuantile()[0].GetValue() != tt.median {
			t.Errorf("%s: %v", tt.family, s)
		}
	}
	if m := find(readOpenMetrics(t, write(t, "openmetrics", whole())), "benchd_trial_service_time_seconds", echo); m != nil {
		t.Errorf("without a rate: %v", m)
	}
}

func TestOpenMetricsOfOddTexts(t *testing.T) {
	t.Parallel()
	r := odd()
	families := readOpenMetrics(t, write(t, "openmetrics", r))
	if m := find(families, "benchd_score", map[string]string{"kernel": "scimark.fft", "param_size": oneLine(r.Trials[0].Params["size"])}); m == nil {
		t.Errorf("the text of a parameter is lost: %v", families["benchd_score"])
	}
}
