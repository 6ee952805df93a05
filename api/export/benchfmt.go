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

	"golang.org/x/perf/benchfmt"

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
// comment at the top says how to compare all the same. The trials of a case that was asked
// for repeatedly have one name, and so make one sample. A composite has no samples and is
// left out, as is a trial without a score.
func writeBenchfmt(w io.Writer, r bench.Result) error {
	b := &benchWriter{w: w, out: benchfmt.NewWriter(w), units: make(map[string]bool)}
	if labels := benchLabels(r); len(labels) > 0 {
		var keys []string
		for _, c := range labels {
			keys = append(keys, c.Key)
		}
		b.comment("Two runs whose labels differ are compared by: benchstat -ignore %s BASE HEAD", strings.Join(keys, ","))
	}
	for _, host := range hostNames(r) {
		config := benchConfig(r, host)
		for i := range r.Trials {
			if t := &r.Trials[i]; t.Host == host && t.Score != nil {
				b.trial(config, t)
			}
		}
	}
	if b.err != nil {
		return fmt.Errorf("write the result in the Go benchmark format: %w", b.err)
	}
	return nil
}

// A benchWriter writes records until the first error.
type benchWriter struct {
	w     io.Writer
	out   *benchfmt.Writer
	units map[string]bool // already described
	err   error
}

func (b *benchWriter) comment(format string, args ...any) {
	if b.err == nil {
		_, b.err = fmt.Fprintf(b.w, "# "+format+"\n", args...)
	}
}

func (b *benchWriter) record(rec benchfmt.Record) {
	if b.err == nil {
		b.err = b.out.Write(rec)
	}
}

// trial writes the samples of all forks.
func (b *benchWriter) trial(config []benchfmt.Config, t *bench.TrialResult) {
	unit := benchUnit(t.Score.Unit)
	if !b.units[unit] && t.Score.Better != "" {
		b.units[unit] = true
		b.record(&benchfmt.UnitMetadata{
			UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: benchUnit(t.Score.Better),
		})
	}
	name := benchfmt.Name(benchName(t.Kernel, shown(t.Params)))
	for i, f := range t.Forks {
		b.comment("fork %d", i+1)
		for j, sample := range f.Samples {
			if math.IsNaN(sample) || math.IsInf(sample, 0) {
				continue
			}
			count := 1
			if j < len(f.Slices) {
				count = max(1, int(f.Slices[j].Operations))
			}
			b.record(&benchfmt.Result{
				Config: config, Name: name, Iters: count,
				Values: []benchfmt.Value{{Value: sample, Unit: unit}},
			})
		}
	}
}

// benchUnit makes a text one field of a line.
func benchUnit(s string) string { return strings.ReplaceAll(oneLine(s), " ", "-") }

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

// benchConfig is the configuration that all results of a host share.
func benchConfig(r bench.Result, host string) []benchfmt.Config {
	facts := r.Hosts[host].Facts
	var config []benchfmt.Config
	for _, kv := range [][2]string{{"host", host}, {"cpu", facts.CPUModel}, {"goos", facts.OS}, {"goarch", facts.Arch}} {
		if v := oneLine(kv[1]); v != "" { // an empty value would take the key away
			config = append(config, benchfmt.Config{Key: kv[0], Value: []byte(v), File: true})
		}
	}
	return append(config, benchLabels(r)...)
}

// benchLabels are the labels of the run as configuration.
func benchLabels(r bench.Result) []benchfmt.Config {
	taken := []string{"host", "cpu", "goos", "goarch"}
	var config []benchfmt.Config
	for _, name := range sortedKeys(r.Spec.Labels) {
		key, v := benchKey(name), oneLine(r.Spec.Labels[name])
		for slices.Contains(taken, key) {
			key = "label-" + key
		}
		if v == "" {
			continue
		}
		taken = append(taken, key)
		config = append(config, benchfmt.Config{Key: key, Value: []byte(v), File: true})
	}
	return config
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
