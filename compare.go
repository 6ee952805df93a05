package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchd/api/client"
	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

// compareCommand is the gate of a build: it tells what changed between two results and, where it
// was asked to, fails. Results come from a service or from files; two files need no service.
type compareCommand struct {
	serverFlag
	Base       string   `arg:"" help:"The result that is compared with: a run of the service, or a result file."`
	Head       string   `arg:"" help:"The result that is compared: a run of the service, or a result file."`
	Noise      []string `help:"Result file of a calibration, whose noise counts; may be repeated. Two runs of a service have the noise that the service knows." placeholder:"FILE"`
	MinEffect  *percent `help:"A smaller change is the same; 1% by default." placeholder:"PERCENT"`
	Q          *percent `help:"False alarms allowed: share of comparisons of equal things with any better or worse; 5% by default." placeholder:"PERCENT"`
	Confidence *percent `help:"Level of the intervals; 95% by default." placeholder:"PERCENT"`
	Across     []string `help:"A fact that is meant to differ, such as governor; host for all facts of a machine." placeholder:"FACT"`
	FailOn     minded   `help:"Verdicts that make the exit code 1 (worse) or 3 (undecided, incomparable)." placeholder:"VERDICT,…"`
	JSON       bool     `name:"json" help:"Print the comparison as JSON." xor:"form"`
	Markdown   bool     `help:"Print it as Markdown, for the comment on a pull request." xor:"form"`
}

// minded are the verdicts that a gate minds.
type minded []string

// UnmarshalText reads a list of verdicts. An empty one is refused: a variable that is not set
// must not open the gate.
func (m *minded) UnmarshalText(text []byte) error {
	allowed := []string{string(bench.Worse), string(bench.Undecided), string(bench.Incomparable)}
	for word := range strings.SplitSeq(string(text), ",") {
		if !slices.Contains(allowed, word) {
			return fmt.Errorf("is %s, or several of them with commas between, not %q", strings.Join(allowed, " or "), text)
		}
		*m = append(*m, word)
	}
	return nil
}

// Validate checks the rules, when the command line is read.
func (c compareCommand) Validate() error {
	for _, r := range []struct {
		name      string
		value     *percent
		low, high percent
	}{{"--min-effect", c.MinEffect, 0, 1}, {"--q", c.Q, 0.0001, 0.5}, {"--confidence", c.Confidence, 0.5, 0.9999}} {
		if r.value != nil && !(*r.value >= r.low && *r.value <= r.high) {
			return fmt.Errorf("%s must be from %g%% to %g%%, not %g%%", r.name, 100*r.low, 100*r.high, 100**r.value)
		}
	}
	for _, fact := range c.Across {
		if allowed := compare.Across(); !slices.Contains(allowed, fact) {
			return fmt.Errorf("--across: there is no fact %q; there are %s", fact, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// Run compares, prints, and fails where it was asked to.
func (c compareCommand) Run(ctx context.Context, t terminal) error {
	found, err := c.compare(ctx, t)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		err = writeJSON(t.out, found)
	case c.Markdown:
		_, err = io.WriteString(t.out, compareMarkdown(found))
	default:
		err = compareTable(t.out, found)
	}
	// The gate stays shut though nobody reads the table to its end.
	if failed := c.gate(found); failed != nil {
		return failed
	}
	return err
}

// compare leaves two runs of a service to the service, which knows their noise, unless other
// noise is given.
func (c compareCommand) compare(ctx context.Context, t terminal) (bench.Comparison, error) {
	if c.Base == "-" && c.Head == "-" {
		return bench.Comparison{}, exitError{exitUsage, fmt.Errorf("only one of the two results can come from standard input")}
	}
	if !isFile(c.Base) && !isFile(c.Head) && len(c.Noise) == 0 {
		ask := client.Question{Base: c.Base, Head: c.Head, MinEffect: (*float64)(c.MinEffect), Across: c.Across}
		take(&ask.Q, c.Q)
		take(&ask.Confidence, c.Confidence)
		return c.client().Compare(ctx, ask)
	}
	// Without a service there is no store that knows the noise: it is what --noise gives, or a
	// default that is larger than what most hosts have.
	o := compare.DefaultOptions()
	o.Across = c.Across
	take(&o.MinEffect, c.MinEffect)
	take(&o.Q, c.Q)
	take(&o.Confidence, c.Confidence)
	base, err := fetchResult(ctx, c.client(), c.Base, t.in)
	if err != nil {
		return bench.Comparison{}, err
	}
	head, err := fetchResult(ctx, c.client(), c.Head, t.in)
	if err != nil {
		return bench.Comparison{}, err
	}
	noise, err := readNoise(c.Noise, t.in)
	if err != nil {
		return bench.Comparison{}, err
	}
	return compare.Results(base, head, noise, o), nil
}

// take takes over a rule that was given.
func take(dest *float64, v *percent) {
	if v != nil {
		*dest = float64(*v)
	}
}

// readNoise works out the noise of calibrations. Of several for one case on one host the last
// file's counts, so that a newer calibration is named after an older one.
func readNoise(files []string, in io.Reader) (compare.Floors, error) {
	var floors []bench.NoiseFloor
	for _, name := range files {
		r, err := readResult(name, in)
		if err != nil {
			return nil, err
		}
		found := compare.FloorsOf(r.Trials)
		if len(found) == 0 {
			return nil, exitError{exitUsage, fmt.Errorf("%s tells no noise: it has no case with three trials or more; give what benchd calibrate wrote", name)}
		}
		floors = append(floors, found...)
	}
	return compare.Index(floors), nil
}

// gate is the error of a comparison that shall fail. Worse goes first: whoever minds both wants
// to hear of a slow-down before he hears of what could not be told. A whole without any case in
// common is incomparable though no case is counted so.
func (c compareCommand) gate(found bench.Comparison) error {
	minds := func(v bench.Verdict) bool {
		return slices.Contains(c.FailOn, string(v)) && (found.Counts.Of(v) > 0 || found.Verdict == v)
	}
	switch {
	case minds(bench.Worse):
		return exitError{exitFailed, fmt.Errorf("worse: %d of %d cases", found.Counts.Worse, len(found.Cases))}
	case minds(bench.Undecided), minds(bench.Incomparable):
		return exitError{exitUndecided, errors.New(untold(found))}
	}
	return nil
}

// untold says of how many cases nothing could be told, and why.
func untold(found bench.Comparison) string {
	if len(found.Cases) == 0 {
		return "the two results have no case in common"
	}
	var parts []string
	for _, v := range []bench.Verdict{bench.Undecided, bench.Incomparable} {
		switch n := found.Counts.Of(v); n {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("1 of %d cases is %s", len(found.Cases), v))
		default:
			parts = append(parts, fmt.Sprintf("%d of %d cases are %s", n, len(found.Cases), v))
		}
	}
	return strings.Join(parts, ", and ")
}

// severity orders verdicts by how much they want to be looked at.
func severity(v bench.Verdict) int {
	return slices.Index([]bench.Verdict{bench.Worse, bench.Better, bench.Undecided, bench.Incomparable, bench.Same}, v)
}

// sorted gives the cases by verdict, and those of one verdict as they were.
func sorted(cases []bench.CaseChange) []bench.CaseChange {
	cases = slices.Clone(cases)
	slices.SortStableFunc(cases, func(a, b bench.CaseChange) int { return severity(a.Verdict) - severity(b.Verdict) })
	return cases
}

// compareHeading are the columns of compareCells.
func compareHeading() []string {
	return []string{"verdict", "case", "base", "head", "unit", "change", "interval", "p", "adjusted p", "threshold"}
}

// compareCells are a case's cells.
func compareCells(c bench.CaseChange) []string {
	limit := signless(c.Threshold)
	if c.Threshold != nil && c.Noise == nil {
		limit += " (noise unknown)"
	}
	between := ""
	if c.Low != nil && c.High != nil {
		between = signed(c.Low) + " to " + signed(c.High)
	}
	return []string{
		string(c.Verdict), caseName(c), number(c.Base.Value), number(c.Head.Value), c.Unit,
		signed(c.Change), between, probability(c.P), probability(c.AdjustedP), limit,
	}
}

// caseName names a case and its host, or both hosts where they are two.
func caseName(c bench.CaseChange) string {
	if c.BaseHost != "" {
		return fmt.Sprintf("%s on %s and %s", c.Case().Key(), c.BaseHost, c.Host)
	}
	return c.Case().Key() + " on " + c.Host
}

// signed writes a part as a change in percent.
func signed(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%+.1f%%", 100**v)
}

// signless writes a part in percent. A host whose figures jump by a factor of ten has no noise
// that is worth its digits.
func signless(v *float64) string {
	switch {
	case v == nil:
		return ""
	case *v > 10:
		return ">1000%"
	}
	return fmt.Sprintf("%.1f%%", 100**v)
}

// probability writes a p-value as people compare it.
func probability(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 0.0001:
		return "<0.0001"
	default:
		return fmt.Sprintf("%.4f", *p)
	}
}

// compareTable prints a comparison: a line for each case, the reasons of all that are not
// plainly the same, and the whole at the end.
func compareTable(w io.Writer, c bench.Comparison) error {
	cases := sorted(c.Cases)
	if len(cases) > 0 {
		err := lines(w, strings.Join(compareHeading(), "\t"), func(w io.Writer) {
			for _, one := range cases {
				_, _ = fmt.Fprintln(w, strings.Join(compareCells(one), "\t"))
			}
		})
		if err != nil {
			return err
		}
	}
	var b strings.Builder
	for _, one := range cases {
		if one.Verdict != bench.Same {
			fmt.Fprintf(&b, "%s: %s: %s\n", caseName(one), one.Verdict, one.Reason)
		}
	}
	for _, side := range []struct {
		name string
		only []bench.CaseRef
	}{{"base", c.OnlyBase}, {"head", c.OnlyHead}} {
		for _, r := range side.only {
			fmt.Fprintf(&b, "%s on %s: in the %s only\n", bench.Case{Kernel: r.Kernel, Params: r.Params}.Key(), r.Host, side.name)
		}
	}
	fmt.Fprintf(&b, "%s: %s%s\n", c.Verdict, c.Reason, speedText(c.Speed))
	_, err := io.WriteString(w, b.String())
	return err
}

// speedText says how the speed of all cases together changed.
func speedText(s *bench.SpeedChange) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf(" Speed of %d cases together: %s", s.Cases, signed(&s.Change))
	if s.Low != nil && s.High != nil {
		text += fmt.Sprintf(" (%s to %s)", signed(s.Low), signed(s.High))
	}
	return text + "."
}

// compareMarkdown writes a comparison for people who decide about a change: the whole first,
// then a table of what is not the same, and the rest folded away.
func compareMarkdown(c bench.Comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### benchd: %s\n\n%s%s\n", c.Verdict, markdown(c.Reason), speedText(c.Speed))
	cases := sorted(c.Cases)
	same := slices.IndexFunc(cases, func(c bench.CaseChange) bool { return c.Verdict == bench.Same })
	if same < 0 {
		same = len(cases)
	}
	if same > 0 {
		b.WriteString("\n" + markdownTable(cases[:same]))
	}
	if same < len(cases) {
		fmt.Fprintf(&b, "\n<details><summary>%d the same</summary>\n\n%s\n</details>\n", len(cases)-same, markdownTable(cases[same:]))
	}
	fmt.Fprintf(&b, "\nBase %s, head %s. A change counts when it is no chance at %.3g %% false alarms, and larger than %.3g %% and the noise of the host.\n",
		markdown(refText(c.Base)), markdown(refText(c.Head)), 100*c.Settings.Q, 100*c.Settings.MinEffect)
	return b.String()
}

// refText names a run by its commit, where it has one, and by its id.
func refText(r bench.RunRef) string {
	if commit := r.Labels["commit"]; commit != "" {
		return commit + " (run " + r.ID + ")"
	}
	return "run " + r.ID
}

// markdownTable is the cases as a table of GitHub Flavored Markdown, each with its reason.
func markdownTable(cases []bench.CaseChange) string {
	var b strings.Builder
	head := append(compareHeading(), "why")
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, c := range cases {
		cells := append(compareCells(c), c.Reason)
		for i, cell := range cells {
			cells[i] = markdown(cell)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

// markdown keeps a text on its line and in its cell, with nothing in it that GitHub Flavored
// Markdown (section 6.1, 4.10) or HTML would take for more than text.
func markdown(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "@", "&#64;").Replace(s)
}
