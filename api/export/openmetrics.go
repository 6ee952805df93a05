package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// writeOpenMetrics writes the text format of OpenMetrics 1.0.0
// (https://prometheus.io/docs/specs/om/open_metrics_spec), within what the older text format
// of Prometheus (0.0.4) can read too: gauges, and summaries for the times of operations.
//
// A case is told by the labels host, kernel, repeat and param_<name>; the run and its labels
// stand in benchd_run_info only, so that the series of one case stay the same from run to
// run. There are no timestamps, which a text file for a node exporter must not have.
func writeOpenMetrics(w io.Writer, r bench.Result) error {
	b := &omWriter{seen: make(map[string]bool)}
	b.infos(r)
	all := rows(r)
	b.scores(all)
	b.trials(all)
	if ramped(r) {
		b.steps(all)
	}
	b.times(all, "benchd_trial_latency_seconds", "The time of single operations, at a rate from their scheduled start.",
		func(t *bench.TrialResult) *bench.Latency { return t.Latency })
	b.times(all, "benchd_trial_service_time_seconds", "The time of single operations at a rate from their own start, without the wait for the one before.",
		func(t *bench.TrialResult) *bench.Latency { return t.ServiceTime })
	b.text.WriteString("# EOF\n")
	if _, err := io.WriteString(w, b.text.String()); err != nil {
		return fmt.Errorf("write the result as OpenMetrics: %w", err)
	}
	return nil
}

// An omWriter collects the text of the families.
type omWriter struct {
	text strings.Builder
	seen map[string]bool // series, none of which may stand twice
}

// A label is a name and its value.
type label struct{ name, value string }

// family begins a family of metrics, whose samples must follow without another's between.
func (b *omWriter) family(name, kind, unit, help string) {
	fmt.Fprintf(&b.text, "# TYPE %s %s\n", name, kind)
	if unit != "" {
		fmt.Fprintf(&b.text, "# UNIT %s %s\n", name, unit)
	}
	fmt.Fprintf(&b.text, "# HELP %s %s\n", name, help)
}

// sample writes a sample once; a second one of the same series would make the text invalid.
func (b *omWriter) sample(name string, labels []label, value float64) {
	series := name + omLabels(labels)
	if b.seen[series] {
		return
	}
	b.seen[series] = true
	fmt.Fprintf(&b.text, "%s %s\n", series, number(value))
}

// known writes a sample where there is a figure.
func (b *omWriter) known(name string, labels []label, value *float64) {
	if f, ok := finite(value); ok {
		b.sample(name, labels, f)
	}
}

func (b *omWriter) infos(r bench.Result) {
	run := []label{{"run", r.ID}, {"state", string(r.State)}, {"schema", strconv.Itoa(r.Schema)}}
	for _, name := range sortedKeys(r.Spec.Labels) {
		run = append(run, label{"label_" + name, r.Spec.Labels[name]})
	}
	b.family("benchd_run_info", "gauge", "", "The run that the figures are of, with its labels.")
	b.sample("benchd_run_info", run, 1)
	b.family("benchd_host_info", "gauge", "", "The hosts that were measured on.")
	for _, host := range hostNames(r) {
		h := r.Hosts[host]
		b.sample("benchd_host_info", []label{
			{"host", host},
			{"fingerprint", h.Fingerprint},
			{"cpu_model", h.Facts.CPUModel},
			{"os", h.Facts.OS},
			{"arch", h.Facts.Arch},
			{"go", h.Facts.Go},
			{"build", h.Facts.Build},
		}, 1)
	}
}

// scores writes the scores and the further figures of every row.
func (b *omWriter) scores(all []row) {
	for _, f := range []struct {
		name, help string
		figure     func(bench.Score) *float64
	}{
		{"benchd_score", "The figure of a metric, in the unit of the label unit.", func(s bench.Score) *float64 { return s.Value }},
		{"benchd_score_low", "The lower bound of the figure's interval.", func(s bench.Score) *float64 { return s.Low }},
		{"benchd_score_high", "The upper bound of the figure's interval.", func(s bench.Score) *float64 { return s.High }},
		{"benchd_score_samples", "The number of samples behind the figure.", func(s bench.Score) *float64 { n := float64(s.N); return &n }},
	} {
		b.family(f.name, "gauge", "", f.help)
		for _, o := range all {
			for _, s := range o.figures() {
				b.known(f.name, append(omCase(o), label{"metric", s.Metric}, label{"unit", s.Unit}, label{"better", s.Better}), f.figure(s))
			}
		}
	}
}

// figures are the score of a row, and the further figures of a trial.
func (r row) figures() []bench.Score {
	var out []bench.Score
	if r.score != nil {
		out = append(out, *r.score)
	}
	if !r.composite() {
		out = append(out, r.trial.Metrics...)
	}
	return out
}

// trials writes how each trial ended.
func (b *omWriter) trials(all []row) {
	for _, f := range []struct {
		name, help string
		figure     func(*bench.TrialResult) float64
	}{
		{"benchd_trial_succeeded", "Whether the trial succeeded.", func(t *bench.TrialResult) float64 { return omBool(t.State == bench.Succeeded) }},
		{"benchd_trial_valid", "Whether there is no reason to doubt the trial's figures.", func(t *bench.TrialResult) float64 { return omBool(t.Validity.Valid) }},
		{"benchd_trial_failed_operations", "Operations of the trial that failed.", func(t *bench.TrialResult) float64 { return float64(failed(t)) }},
	} {
		b.family(f.name, "gauge", "", f.help)
		for _, o := range all {
			if !o.composite() {
				b.sample(f.name, omCase(o), f.figure(o.trial))
			}
		}
	}
}

// times writes one histogram of each trial that has it, in seconds.
func (b *omWriter) times(all []row, name, help string, of func(*bench.TrialResult) *bench.Latency) {
	b.family(name, "summary", "seconds", help)
	for _, o := range all {
		if o.composite() || of(o.trial) == nil || b.seen[name+"_count"+omLabels(omCase(o))] {
			continue
		}
		l, labels := of(o.trial), omCase(o)
		for _, p := range sortedPercentiles(l) {
			text := strconv.FormatFloat(p, 'f', -1, 64)
			b.sample(name, append(labels, label{"quantile", omQuantile(text)}), seconds(float64(l.Percentiles[text])))
		}
		sum := seconds(l.Mean * float64(l.Count))
		b.known(name+"_sum", labels, &sum)
		b.sample(name+"_count", labels, float64(l.Count))
	}
}

// omQuantile makes a quantile of a percentile without the error of a division: of "99.9", "0.999".
func omQuantile(percentile string) string {
	q, err := strconv.ParseFloat(percentile+"e-2", 64)
	if err != nil {
		return percentile // it was read as a number before
	}
	return number(q)
}

// omCase tells a row's case.
func omCase(o row) []label {
	labels := []label{{"host", o.host}, {"kernel", o.kernel}}
	if o.composite() {
		labels = append(labels, label{"composite", "true"})
	} else {
		labels = append(labels, label{"repeat", strconv.Itoa(o.trial.Repeat)})
	}
	for _, name := range sortedKeys(o.params) {
		labels = append(labels, label{"param_" + name, o.params[name]})
	}
	return labels[:len(labels):len(labels)]
}

// omLabels writes a set of labels. Characters that a name cannot have become underscores, and
// a name that would stand twice gets another one at its end.
func omLabels(labels []label) string {
	names := make(map[string]bool)
	parts := make([]string, len(labels))
	for i, l := range labels {
		name := omName(l.name)
		for names[name] {
			name += "_"
		}
		names[name] = true
		parts[i] = name + `="` + omEscape(l.value) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func omName(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '_'
	}, s)
}

// omEscape escapes what the format gives a meaning within quotes.
func omEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(s))
}

func omBool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(ns float64) float64 { return ns / 1e9 }
