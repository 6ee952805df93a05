package export

import (
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"benchd/kernels"
	"benchd/worker/bench"
)

// writeBenchfmt writes the Go benchmark format (golang.org/design/14313-benchmark-format and
// the package golang.org/x/perf/benchfmt) with one line for each slice, so that benchstat has
// the samples themselves:
//
//	host: blue
//	cpu: AMD EPYC
//	goos: linux
//	goarch: amd64
//	commit: abc123
//
//	Unit call/s better=higher
//	# fork 1
//	BenchmarkSoap.echo/clients=1/model=dom/size=2.2KB 1052 21040.5 call/s
//
// The count is that of the slice's operations. The labels of the run are configuration like
// the host. benchstat puts results of differing configuration in tables of their own; a
// comment at the top says how to compare all the same. The trials of a case that was asked for
// repeatedly have one name, and so make one sample. Of a ramp there are the samples of the
// step that its score is of. A composite has no samples and is left out, as is a trial without
// a score.
func writeBenchfmt(w io.Writer, r bench.Result) error {
	b := &benchWriter{units: make(map[string]bool)}
	labels := benchLabels(r)
	if len(labels) > 0 {
		fmt.Fprintf(&b.text, "# Two runs whose labels differ are compared by: benchstat -ignore %s BASE HEAD\n", strings.Join(keys(labels), ","))
	}
	for _, host := range hostNames(r) {
		b.config(append(benchHost(r, host), labels...))
		for i := range r.Trials {
			if t := &r.Trials[i]; t.Host == host && t.Score != nil {
				b.trial(t)
			}
		}
	}
	if _, err := io.WriteString(w, b.text.String()); err != nil {
		return fmt.Errorf("write the result in the Go benchmark format: %w", err)
	}
	return nil
}

// A benchWriter collects the lines.
type benchWriter struct {
	text  strings.Builder
	units map[string]bool // already described
}

// config writes the configuration of the lines that follow. A key without a value takes back
// what it was before.
func (b *benchWriter) config(pairs []label) {
	for _, p := range pairs {
		b.text.WriteString(strings.TrimSpace(p.name+": "+p.value) + "\n")
	}
	b.text.WriteString("\n")
}

// trial writes the samples of all forks.
func (b *benchWriter) trial(t *bench.TrialResult) {
	unit := benchField(t.Score.Unit)
	if !b.units[unit] && t.Score.Better != "" {
		b.units[unit] = true
		fmt.Fprintf(&b.text, "Unit %s better=%s\n", unit, benchField(t.Score.Better))
	}
	name := benchName(t.Kernel, shown(t.Params))
	for i, f := range t.Forks {
		fmt.Fprintf(&b.text, "# fork %d\n", i+1)
		for j, sample := range f.Samples {
			if s := t.Series; s != nil && (j >= len(f.Slices) || f.Slices[j].Lanes != s.Scored) {
				continue
			}
			if math.IsNaN(sample) || math.IsInf(sample, 0) {
				continue
			}
			count := int64(1)
			if j < len(f.Slices) {
				count = max(1, f.Slices[j].Operations)
			}
			fmt.Fprintf(&b.text, "Benchmark%s %d %s %s\n", name, count, number(sample), unit)
		}
	}
}

// benchField makes a text one field of a line.
func benchField(s string) string {
	if s = strings.ReplaceAll(oneLine(s), " ", "-"); s == "" {
		return "-"
	}
	return s
}

// fakeProcs is an end of a name that readers would take for a number of processors.
var fakeProcs = regexp.MustCompile(`-([0-9]+)$`)

// benchName writes a case as the name of a benchmark: "Soap.echo/clients=1/model=dom". The
// first letter is a capital, as the format wants it. Characters that separate parts or fields
// are percent-encoded (RFC 3986, section 2.1).
func benchName(kernel string, p kernels.Params) string {
	parts := []string{strings.ToUpper(kernel[:min(1, len(kernel))]) + url.PathEscape(kernel[min(1, len(kernel)):])}
	for _, name := range sortedKeys(p) {
		parts = append(parts, url.QueryEscape(name)+"="+url.PathEscape(p[name]))
	}
	return fakeProcs.ReplaceAllString(strings.Join(parts, "/"), "%2D$1")
}

// benchHost is the configuration that tells the host.
func benchHost(r bench.Result, host string) []label {
	facts := r.Hosts[host].Facts
	pairs := []label{{"host", host}, {"cpu", facts.CPUModel}, {"goos", facts.OS}, {"goarch", facts.Arch}}
	for i := range pairs {
		pairs[i].value = oneLine(pairs[i].value)
	}
	return pairs
}

// benchLabels are the labels of the run as configuration.
func benchLabels(r bench.Result) []label {
	taken := []string{"host", "cpu", "goos", "goarch"}
	var pairs []label
	for _, name := range sortedKeys(r.Spec.Labels) {
		key := benchKey(name)
		for slices.Contains(taken, key) {
			key = "label-" + key
		}
		taken = append(taken, key)
		pairs = append(pairs, label{key, oneLine(r.Spec.Labels[name])})
	}
	return pairs
}

func keys(pairs []label) []string {
	names := make([]string, len(pairs))
	for i, p := range pairs {
		names[i] = p.name
	}
	return names
}

// benchKey makes a label's name a key of the format: it begins with a lower-case letter and
// has neither capitals nor space nor a colon.
func benchKey(name string) string {
	key := strings.Map(func(c rune) rune {
		if c = unicode.ToLower(c); unicode.IsUpper(c) || unicode.IsSpace(c) || c == ':' || c == ',' {
			return '-'
		}
		return c
	}, oneLine(name))
	if first := []rune(key + " ")[0]; !unicode.IsLower(first) {
		key = "label-" + key
	}
	return key
}
