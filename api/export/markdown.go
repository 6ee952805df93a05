package export

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// writeMarkdown writes a table in GitHub Flavored Markdown (https://github.github.com/gfm,
// section 4.10), fit for the comment on a pull request: a line about the run, a row for each
// trial and composite, the reasons to doubt it in its last cell. Texts that are not of this
// package's making are written so that nothing in them is taken for Markdown, HTML, a link or
// the mention of a user.
func writeMarkdown(w io.Writer, r bench.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### benchd: %s\n\n%s\n", mdText(string(r.State)), mdSummary(r))
	if all := rows(r); len(all) > 0 {
		b.WriteString("\n| case | score | ± | unit | n | remarks |\n| :--- | ---: | :--- | :--- | ---: | :--- |\n")
		for _, o := range all {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", mdCode(o.name), mdScore(o), mdDoubts(o))
		}
		b.WriteString(mdRamps(all))
		fmt.Fprintf(&b, "\n%s\n", mdIntervals(r))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the result as Markdown: %w", err)
	}
	return nil
}

// mdSummary tells the size of the run, its hosts and its labels.
func mdSummary(r bench.Result) string {
	trials := "1 trial"
	if len(r.Trials) != 1 {
		trials = strconv.Itoa(len(r.Trials)) + " trials"
	}
	parts := []string{"Run " + mdCode(r.ID), trials}
	for _, host := range hostNames(r) {
		text := "host " + mdCode(host)
		if f := r.Hosts[host].Facts; f.CPUModel != "" {
			text += fmt.Sprintf(" (%s, %s/%s)", mdCode(f.CPUModel), mdText(f.OS), mdText(f.Arch))
		}
		parts = append(parts, text)
	}
	for _, name := range sortedKeys(r.Spec.Labels) {
		parts = append(parts, mdCode(name+"="+r.Spec.Labels[name]))
	}
	return strings.Join(parts, "; ")
}

// mdScore is the cells from score to n.
func mdScore(o row) string {
	if o.score == nil {
		state := bench.State("")
		if !o.composite() {
			state = o.trial.State
		}
		return mdText(string(state)) + " |  |  | "
	}
	s := *o.score
	value := "unknown"
	if v, ok := finite(s.Value); ok {
		value = fourDigits(v)
	}
	return fmt.Sprintf("%s | %s | %s | %d", value, mdInterval(s), mdText(s.Unit), s.N)
}

// mdInterval writes the bounds as distances from the value in percent.
func mdInterval(s bench.Score) string {
	v, okValue := finite(s.Value)
	low, okLow := finite(s.Low)
	high, okHigh := finite(s.High)
	if !okValue || !okLow || !okHigh || v == 0 {
		return "unknown"
	}
	return fmt.Sprintf("-%.1f %% +%.1f %%", 100*(v-low)/math.Abs(v), 100*(high-v)/math.Abs(v))
}

// mdDoubts is the last cell: why there is no score or bound, why the trial ended, what speaks
// against its figures, and of a case with a rate its times.
func mdDoubts(o row) string {
	var texts []string
	if o.score != nil && o.score.Reason != "" && !repeated(o) {
		texts = append(texts, o.score.Reason)
	}
	if !o.composite() {
		if o.trial.Error != nil {
			texts = append(texts, why(o.trial))
		}
		texts = append(texts, o.trial.Validity.Reasons...)
		if !o.trial.Validity.Valid && len(texts) == 0 {
			texts = append(texts, "not valid")
		}
		if text := mdTimes(o.trial); text != "" {
			texts = append(texts, text)
		}
		if f := o.trial.OfFloor; f != nil && f.Value != nil {
			texts = append(texts, fmt.Sprintf("%s %% of its floor", fourDigits(100**f.Value)))
		}
	}
	for i, t := range texts {
		texts[i] = mdText(t)
	}
	return strings.Join(texts, "<br>")
}

// repeated tells whether a doubt about the trial says what the score's reason says.
func repeated(o row) bool {
	return !o.composite() && slices.ContainsFunc(o.trial.Validity.Reasons, func(doubt string) bool {
		_, said, ok := strings.Cut(doubt, ": ")
		return ok && said == o.score.Reason
	})
}

// mdTimes tells both times of a case with a rate, which differ by the wait for the operation
// before. Without a rate it is empty.
func mdTimes(t *bench.TrialResult) string {
	if t.Latency == nil || t.ServiceTime == nil {
		return ""
	}
	return "at the rate: " + mdQuantiles("latency from the scheduled start", t.Latency) + "; " + mdQuantiles("service time", t.ServiceTime)
}

// mdQuantiles writes the two percentiles that are most asked for, in microseconds.
func mdQuantiles(name string, l *bench.Latency) string {
	return fmt.Sprintf("%s p50 %s us, p99 %s us", name, fourDigits(float64(l.Percentiles["50"])/1e3), fourDigits(float64(l.Percentiles["99"])/1e3))
}

// mdIntervals says what the intervals are, at every level of confidence that occurs.
func mdIntervals(r bench.Result) string {
	var levels []string
	for _, o := range rows(r) {
		if o.score == nil {
			continue
		}
		if level := percent(o.score.Confidence) + " %"; !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
	}
	if len(levels) == 0 {
		return "Nothing was measured."
	}
	value := "median"
	if r.Spec.Plan.Interval == bench.PooledT {
		value = "mean"
	}
	return fmt.Sprintf("± is the interval of the %s at %s confidence.", value, strings.Join(levels, " and "))
}

// mdText writes a text on one line. All but letters, digits and punctuation without a meaning
// becomes a character reference, which no reader takes for markup, and which does not split a
// cell as an escaped pipe in code can. An @ is parted from what follows, so that it calls
// nobody.
func mdText(s string) string {
	return strings.ReplaceAll(mdEscape(s), "&#64;", "&#64;&#8203;")
}

func mdEscape(s string) string {
	var b strings.Builder
	text := []rune(oneLine(s))
	for i, c := range text {
		if mdPlain(text, i) {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "&#%d;", c)
		}
	}
	return b.String()
}

// mdPlain tells whether a character means nothing but itself where it stands: an underscore
// within a word is no emphasis, a colon before a space and a point outside of "www." make no
// link.
func mdPlain(text []rune, i int) bool {
	c := text[i]
	word := func(at int) bool {
		return at >= 0 && at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] >= 'a' && text[at] <= 'z' || text[at] >= 'A' && text[at] <= 'Z')
	}
	switch c {
	case '_':
		return word(i-1) && word(i+1)
	case ':':
		return i+1 == len(text) || text[i+1] == ' '
	case '.':
		return i == 0 || text[i-1] != 'w' && text[i-1] != 'W'
	default:
		return c > 0x7f || word(i) || strings.ContainsRune(" ,;=/%()+-?", c)
	}
}

// mdCode writes a text as code, where nobody is called. HTML's element takes character
// references, a span between backticks does not.
func mdCode(s string) string {
	if s = mdEscape(s); s == "" {
		return ""
	}
	return "<code>" + s + "</code>"
}

// fourDigits writes a figure with four significant digits, or all before the point.
func fourDigits(f float64) string {
	decimals := 0
	if a := math.Abs(f); a > 0 && a < 1000 {
		decimals = min(12, max(0, 3-int(math.Floor(math.Log10(a)))))
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}
