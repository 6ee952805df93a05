package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"benchd/worker/bench"
)

// How a comparison is shown: what calls for action first.

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

// signless writes a part in percent.
func signless(v *float64) string {
	if v == nil {
		return ""
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
