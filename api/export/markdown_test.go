package export_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/worker/bench"
)

var (
	mdTag     = regexp.MustCompile(`</?code>|<br>`)
	mdSpecial = regexp.MustCompile("[\\\\`*\\[\\]<>&|~#@!\"'{}]")
	mdEntity  = regexp.MustCompile(`&#[0-9]+;`)
)

// readMarkdown gives the cells of the table as they are shown. It fails on a line of the table
// with another number of cells than its head, and on any character with a meaning that is not
// of the format's own making.
func readMarkdown(tb failer, text string) [][]string {
	tb.Helper()
	var rows [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "| ") {
			checkMarkdown(tb, strings.TrimPrefix(line, "### "))
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		if strings.Count(line, "|") != 7 || len(cells) != 6 {
			tb.Fatalf("%d cells in %q", len(cells), line)
		}
		for i, c := range cells {
			checkMarkdown(tb, c)
			c = strings.ReplaceAll(c, "<br>", "\n")
			cells[i] = strings.TrimSpace(strings.ReplaceAll(html.UnescapeString(mdTag.ReplaceAllString(c, "")), "@\u200b", "@"))
		}
		rows = append(rows, cells)
	}
	if len(rows) > 2 {
		return rows[2:] // after the head and the line below it
	}
	return nil
}

func checkMarkdown(tb failer, s string) {
	tb.Helper()
	if m := mdSpecial.FindString(mdEntity.ReplaceAllString(mdTag.ReplaceAllString(s, ""), "")); m != "" {
		tb.Errorf("%q stands in %q", m, s)
	}
	if strings.Contains(s, "://") || strings.Contains(strings.ToLower(s), "www.") {
		tb.Errorf("%q has a link", s)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	text := write(t, "markdown", whole())
	want := [][]string{
		{"scimark.fft size=small threads=1 on blue", "1142", "-0.2 % +0.2 %", "Mflop/s", "6", ""},
		{"scimark.fft size=small threads=1 on blue (2)", "1140", "-0.9 % +0.9 %", "Mflop/s", "6", ""},
		{
			"soap.echo clients=4 model=dom payload=beans size=2.2KB on blue", "21034", "-0.2 % +0.2 %", "call/s", "6",
			"failures: 3 operations failed\nhost_busy: other processes used 38 % of a core | or so",
		},
		{"scimark.sor size=small threads=1 on green", "900.0", "unknown", "Mflop/s", "3", "an interval needs 6 samples, there are 3"},
		{"soap.echo clients=4 model=dom payload=beans size=2.2KB on green", "failed", "", "", "", "open_failed: open soap.echo: dial tcp: lookup mq.example: no such host"},
		{"scimark.fft size=small threads=1 on green", "lost", "", "", "", "worker_gone: the worker sent no heartbeat for 60s"},
		{"messaging.mailbox pairs=1 size=16B on green", "canceled", "", "", "", "canceled: the run was canceled"},
		{"scimark (composite) size=small threads=1 on blue", "1142", "-0.2 % +0.2 %", "Mflop/s", "6", ""},
	}
	if d := cmp.Diff(want, readMarkdown(t, text)); d != "" {
		t.Error(d)
	}
	for _, part := range []string{
		"### benchd: failed\n", "7 trials", "<code>blue</code> (<code>AMD EPYC</code>, linux/amd64)", "<code>commit=abc123</code>",
		"± is the interval of the median at 95 % confidence.",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

func TestMarkdownOfOddTexts(t *testing.T) {
	t.Parallel()
	r := odd()
	r.Trials = r.Trials[:1]
	rows := readMarkdown(t, write(t, "markdown", r))
	if got := rows[0][5]; !strings.Contains(got, oneLine(r.Trials[0].Validity.Reasons[0])) {
		t.Errorf("the reason is shown as %q", got)
	}
}

// What a score's reason says is not told again as a doubt, and what it does not say is.
func TestMarkdownTellsOnce(t *testing.T) {
	t.Parallel()
	const reason = "an interval needs 6 samples, there are 3"
	for _, row := range []struct {
		name   string
		doubts []string
		want   string
	}{
		{"the same", []string{"imprecise: " + reason}, "imprecise: " + reason},
		{"another", []string{"imprecise: the target error was missed"}, reason + "\nimprecise: the target error was missed"},
		{"none", nil, reason},
	} {
		r := whole()
		r.Trials[3].Validity = bench.Validity{Valid: true, Reasons: row.doubts}
		if got := readMarkdown(t, write(t, "markdown", r))[3][5]; got != row.want {
			t.Errorf("%s: the cell is %q, want %q", row.name, got, row.want)
		}
	}
}

func TestMarkdownOfRate(t *testing.T) {
	t.Parallel()
	const want = "at the rate: latency from the scheduled start p50 46.90 us, p99 70.10 us; service time p50 31.00 us, p99 42.00 us"
	rows := readMarkdown(t, write(t, "markdown", paced()))
	if got := rows[2][5]; !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("the cell is %q", got)
	}
	if got := rows[0][5]; got != "" {
		t.Errorf("without a rate the cell is %q", got)
	}
}

func TestMarkdownOfNothing(t *testing.T) {
	t.Parallel()
	r := bench.Result{ID: "x", State: bench.Canceled}
	if rows := readMarkdown(t, write(t, "markdown", r)); rows != nil {
		t.Errorf("%v", rows)
	}
}

func TestMarkdownOfTheMean(t *testing.T) {
	t.Parallel()
	r := whole()
	r.Spec.Plan.Interval = bench.PooledT
	for i := range r.Trials {
		if r.Trials[i].Score != nil {
			r.Trials[i].Score.Confidence = 0.999
		}
	}
	if text := write(t, "markdown", r); !strings.Contains(text, "± is the interval of the mean at 99.9 % and 95 % confidence.") {
		t.Errorf("%s", text)
	}
}
