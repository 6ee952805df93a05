package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// ramped tells whether a result has a ramp, whose steps csv, openmetrics and markdown write
// besides its score. The other formats have no room for them: benchfmt and jmh have the samples
// of the step that the score is of, bmf and junit the score alone.
func ramped(r bench.Result) bool {
	return slices.ContainsFunc(r.Trials, func(t bench.TrialResult) bool { return t.Series != nil })
}

// steps are the rows of a trial's steps, none without a ramp. A step's trial tells no more than
// what is known of the step.
func (r row) steps() []row {
	if r.composite() || r.trial.Series == nil {
		return nil
	}
	var out []row
	for i := range r.trial.Series.Steps {
		s := &r.trial.Series.Steps[i]
		t := &bench.TrialResult{Repeat: r.trial.Repeat, State: r.trial.State}
		if s.Failures > 0 {
			t.Failures = &bench.Failures{Count: s.Failures}
		}
		if l := s.Latency; l != nil {
			t.Latency = &bench.Latency{Count: l.Count, Max: l.Max, Percentiles: map[string]int64{"50": l.P50, "99": l.P99}}
		}
		out = append(out, row{name: r.name, host: r.host, kernel: r.kernel, params: r.params, score: &s.Throughput, trial: t, step: s})
	}
	return out
}

// stepColumns are those that only the steps of a ramp have something in; a result without one
// has none of them.
func stepColumns(r bench.Result) []column {
	if !ramped(r) {
		return nil
	}
	of := func(name string, f func(*bench.Step) string) column {
		return column{name, func(o row) string {
			if o.step == nil {
				return ""
			}
			return f(o.step)
		}}
	}
	return []column{
		of("lanes", func(s *bench.Step) string { return strconv.Itoa(s.Lanes) }),
		of("client_cores", func(s *bench.Step) string { return known(s.CPU.Client) }),
		of("server_cores", func(s *bench.Step) string { return known(s.CPU.Server) }),
		of("host_busy", func(s *bench.Step) string { return known(s.CPU.System) }),
	}
}

// steps writes the figures of a ramp at each number of lanes, told by the label lanes.
func (b *omWriter) steps(all []row) {
	cpu := func(of func(bench.CPU) *float64) func(*bench.Step) *float64 {
		return func(s *bench.Step) *float64 { return of(s.CPU) }
	}
	for _, f := range []struct {
		name, help string
		figure     func(*bench.Step) *float64
	}{
		{"benchd_step_throughput", "The throughput at a step of a ramp, in the unit of the label unit.", func(s *bench.Step) *float64 { return s.Throughput.Value }},
		{"benchd_step_client_cores", "Cores that the client used at a step of a ramp.", cpu(func(c bench.CPU) *float64 { return c.Client })},
		{"benchd_step_server_cores", "Cores that the server used at a step of a ramp.", cpu(func(c bench.CPU) *float64 { return c.Server })},
		{"benchd_step_host_busy", "Share of all CPUs of the host that was busy at a step of a ramp.", cpu(func(c bench.CPU) *float64 { return c.System })},
		{"benchd_step_failed_operations", "Operations that failed at a step of a ramp.", func(s *bench.Step) *float64 { n := float64(s.Failures); return &n }},
	} {
		b.family(f.name, "gauge", "", f.help)
		for _, o := range all {
			for _, at := range o.steps() {
				b.known(f.name, append(omCase(o), label{"lanes", strconv.Itoa(at.step.Lanes)}, label{"unit", at.score.Unit}), f.figure(at.step))
			}
		}
	}
}

// mdRamps writes a table for each ramp.
func mdRamps(all []row) string {
	var b strings.Builder
	for _, o := range all {
		if o.composite() || o.trial.Series == nil {
			continue
		}
		s := o.trial.Series
		text := fmt.Sprintf("the throughput stops rising at %d lanes, which the score is of", s.Scored)
		if s.Stops == nil {
			text = "where the throughput stops rising is not known: " + s.Reason
		}
		fmt.Fprintf(&b, "\nRamp of %s: %s.\n\n", mdCode(o.name), mdText(text))
		b.WriteString("| lanes | throughput | ± | unit | n | client cores | server cores | host busy | p50 us | p99 us | failed |\n")
		b.WriteString("| ---: | ---: | :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
		for _, at := range o.steps() {
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %d |\n", at.step.Lanes, mdScore(at),
				mdPart(at.step.CPU.Client), mdPart(at.step.CPU.Server), mdPart(at.step.CPU.System), mdStepTimes(at.step.Latency), at.step.Failures)
		}
	}
	return b.String()
}

// mdPart writes a number of cores or a share, or nothing where it is not known.
func mdPart(v *float64) string {
	f, ok := finite(v)
	if !ok {
		return ""
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// mdStepTimes is two cells, empty where operations are timed in batches.
func mdStepTimes(l *bench.StepLatency) string {
	if l == nil {
		return " | "
	}
	return fourDigits(float64(l.P50)/1e3) + " | " + fourDigits(float64(l.P99)/1e3)
}
