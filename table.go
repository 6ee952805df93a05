package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"benchd/api/export"
	"benchd/worker/bench"
)

// table prints the scores of a result with their intervals, composites included, and then
// whatever is to be known before the figures are believed; of a suite that keeps an article's
// rules it prints the article's table then.
func table(w io.Writer, r bench.Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	floors := slices.ContainsFunc(r.Trials, func(t bench.TrialResult) bool { return t.OfFloor != nil })
	_, _ = fmt.Fprintf(tw, "kernel\tparameters\tscore\tinterval\tunit\tn\tsteady\tp50\tp99%s\n", only(floors, "\tof floor"))
	for _, t := range r.Trials {
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s%s\n", t.Kernel, t.Params, scoreCells(t), steadyCell(t.Steady), latencyCell(t.Latency, "50"), latencyCell(t.Latency, "99"),
			only(floors, "\t"+floorCell(t.OfFloor)))
	}
	for _, c := range r.Composites {
		_, _ = fmt.Fprintf(tw, "%s (composite)\t%s\t%s\t\t\t\n", c.Name, c.Params, figureCells(c.Score))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if err := ramps(w, r); err != nil {
		return err
	}
	if _, err := io.WriteString(w, notes(r)); err != nil {
		return err
	}
	return articleTable(w, r)
}

// articleTable prints the table of the article whose rules the run's suite keeps, if it is one.
func articleTable(w io.Writer, r bench.Result) error {
	f, ok := export.ByName("article")
	if !ok || !f.Fits(r) {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return f.Write(w, r)
}

func scoreCells(t bench.TrialResult) string {
	if t.Score == nil {
		return fmt.Sprintf("%s\t\t\t", t.State)
	}
	return figureCells(*t.Score)
}

// figureCells are score, interval, unit and n.
func figureCells(s bench.Score) string {
	return fmt.Sprintf("%s\t%s\t%s\t%d", number(s.Value), interval(s), s.Unit, s.N)
}

// only gives a text on a condition.
func only(when bool, text string) string {
	if !when {
		return ""
	}
	return text
}

// floorCell is a score as a part of its floor.
func floorCell(f *bench.OfFloor) string {
	if f == nil || f.Value == nil {
		return ""
	}
	return fmt.Sprintf("%.3g%%", 100**f.Value)
}

// steadyCell is the class of a trial's series, with the slices until it was steady.
func steadyCell(s bench.Steadiness) string {
	switch {
	case s.Class == nil:
		return ""
	case s.Slices == nil || *s.Slices == 0:
		return string(*s.Class)
	default:
		return fmt.Sprintf("%s (%g)", *s.Class, *s.Slices)
	}
}

// interval writes the bounds as distances from the value in percent: "-0.4 % +0.6 %".
func interval(s bench.Score) string {
	if s.Low == nil || s.High == nil || s.Value == nil || *s.Value == 0 {
		return "unknown"
	}
	return fmt.Sprintf("-%.1f%% +%.1f%%", 100*(*s.Value-*s.Low) / *s.Value, 100*(*s.High-*s.Value) / *s.Value)
}

// number writes a figure with four significant digits, or all before the point.
func number(v *float64) string {
	if v == nil {
		return "unknown"
	}
	decimals := 0
	if a := math.Abs(*v); a > 0 && a < 1000 {
		decimals = max(0, 3-int(math.Floor(math.Log10(a))))
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}

func latencyCell(l *bench.Latency, p string) string {
	if l == nil {
		return ""
	}
	return threeDigits(time.Duration(l.Percentiles[p]))
}

// threeDigits writes a time with three significant digits.
func threeDigits(d time.Duration) string {
	for unit := time.Nanosecond; unit < d; unit *= 10 {
		if d/unit < 1000 {
			return d.Round(unit).String()
		}
	}
	return d.String()
}

// standings tell where figures would stand among published ones that mean the same.
func standings(b *strings.Builder, r bench.Result) {
	tell := func(c bench.Case, s *bench.Standing) {
		if s != nil {
			fmt.Fprintf(b, "%s: %s\n", c.Key(), s.Text)
		}
	}
	for _, t := range r.Trials {
		tell(t.Case(), t.Standing)
	}
	for _, c := range r.Composites {
		tell(bench.Case{Kernel: c.Name, Params: c.Params}, c.Standing)
	}
}

// notes tell the errors and doubts, and what the figures are.
func notes(r bench.Result) string {
	var b strings.Builder
	var hosts []string
	for name := range r.Hosts {
		hosts = append(hosts, name)
	}
	slices.Sort(hosts)
	for _, name := range hosts {
		h := r.Hosts[name]
		fmt.Fprintf(&b, "host %s: %s, %d CPUs, fingerprint %s\n", name, h.Facts.CPUModel, h.Facts.Threads, h.Fingerprint)
	}
	for _, t := range r.Trials {
		if t.Error != nil {
			fmt.Fprintf(&b, "%s: %s: %s\n", t.Case().Key(), t.State, t.Error.Message)
		}
		word := "doubtful"
		if t.Validity.Valid {
			word = "to know"
		}
		for _, reason := range t.Validity.Reasons {
			fmt.Fprintf(&b, "%s: %s: %s\n", t.Case().Key(), word, reason)
		}
	}
	standings(&b, r)
	if p := r.Spec.Plan; p.Pin != bench.PinFree || p.Awake {
		fmt.Fprintf(&b, "Placement: pin %s, CPUs kept awake: %v.\n", p.Pin, p.Awake)
	}
	centre := "median"
	if r.Spec.Plan.Interval == bench.PooledT {
		centre = "mean"
	}
	fmt.Fprintf(&b, "The interval is that of the %s over n samples at %.4g %% confidence.\n", centre, 100*r.Spec.Plan.Confidence)
	return b.String()
}
