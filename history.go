package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"benchd/api/client"
	"benchd/api/references"
	"benchd/kernels"
	"benchd/worker/bench"
)

// caseFlags choose cases of a service.
type caseFlags struct {
	Kernel string            `help:"Only this kernel, or the kernels of this family."`
	Host   string            `help:"Only this host."`
	Param  map[string]string `short:"p" help:"Only cases with this parameter." placeholder:"NAME=VALUE" mapsep:"none"`
	JSON   bool              `name:"json" help:"Print the service's answer as JSON."`
}

// A moment is a time on the command line.
type moment struct{ time.Time }

// UnmarshalText reads a time of RFC 3339, as the API does.
func (m *moment) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("%q is no time that is known here; give a date, a time of day and a zone, such as 2026-11-30T08:00:00Z or 2026-11-30T09:00:00+01:00", text)
	}
	m.Time = at
	return nil
}

// historyCommand shows the scores of a service over time, for a look in a terminal; with --json
// for whatever draws them.
type historyCommand struct {
	serverFlag
	caseFlags
	Tag   map[string]string `short:"t" help:"Only runs with this label." placeholder:"NAME=VALUE" mapsep:"none"`
	Since moment            `help:"Only points since this time, such as 2026-11-30T08:00:00Z." placeholder:"TIME"`
	Limit int               `help:"Most points of a series, the newest ones." default:"20"`
}

// Run prints each series with its changes.
func (c historyCommand) Run(ctx context.Context, t terminal) error {
	h, err := c.client().History(ctx, client.SeriesFilter{Kernel: c.Kernel, Host: c.Host, Params: c.Param, Labels: c.Tag, Since: c.Since.Time, Limit: c.Limit})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(t.out, h)
	}
	for i, s := range h.Series {
		if i > 0 {
			_, _ = fmt.Fprintln(t.out)
		}
		if err := printSeries(t.out, s); err != nil {
			return err
		}
	}
	return closing(t.out, len(h.Series), "series", h.Cut)
}

// printSeries prints what a series is, and a line for each of its points.
func printSeries(w io.Writer, s bench.HistorySeries) error {
	noise := "unknown: " + s.Reason
	if s.Noise != nil {
		noise = signless(&s.Noise.Value)
	}
	_, _ = fmt.Fprintf(w, "%s on %s (%s), %s, %s is better, %d of %d points, noise %s\n",
		s.Case().Key()+manner(s.Operations, s.Ramp), s.Host, placement(s.Pin, s.Awake), s.Unit, s.Better, len(s.Points), s.Total, noise)
	changed := make(map[int]bench.ChangePoint)
	for _, c := range s.Changes {
		changed[c.Index] = c
	}
	return lines(w, "finished\tvalue\tinterval\tcommit\trun\tremarks", func(w io.Writer) {
		for i, p := range s.Points {
			var remarks []string
			if c, ok := changed[i]; ok {
				remarks = append(remarks, changeText(c))
			}
			if !p.Valid {
				remarks = append(remarks, "doubtful")
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Finished.Local().Format(time.DateTime), number(&p.Value),
				interval(pointScore(p)), p.Commit, p.Run, strings.Join(remarks, ", "))
		}
	})
}

// changeText says in few words what changed at a point.
func changeText(c bench.ChangePoint) string {
	text := fmt.Sprintf("change %s, from %s to %s", signed(&c.Change), number(&c.Before), number(&c.After))
	if !c.Confirmed {
		text += " (provisional)"
	}
	return text
}

// pointScore is a point's figure as a score.
func pointScore(p bench.Point) bench.Score {
	return bench.Score{Value: &p.Value, Low: p.Low, High: p.High}
}

// placement says where a trial ran: "free", "one, awake".
func placement(pin string, awake bool) string {
	if awake {
		return pin + ", awake"
	}
	return pin
}

// manner says how a case was measured, where that makes another figure of it.
func manner(operations, ramp int) (text string) {
	if operations > 0 {
		text += fmt.Sprintf(" in slices of %d operations", operations)
	}
	if ramp > 0 {
		text += fmt.Sprintf(" in a ramp of %d", ramp)
	}
	return text
}

// closing says what is missing under a list.
func closing(w io.Writer, n int, what string, cut bool) (err error) {
	switch {
	case n == 0:
		_, err = fmt.Fprintf(w, "no %s\n", what)
	case cut:
		_, err = fmt.Fprintln(w, "There are more; ask for fewer with --kernel, --host and --param.")
	}
	return err
}

// leaderboardCommand ranks the hosts and placements of a service by their best scores.
type leaderboardCommand struct {
	serverFlag
	caseFlags
}

// Run prints a board for each case.
func (c leaderboardCommand) Run(ctx context.Context, t terminal) error {
	l, err := c.client().Leaderboard(ctx, client.SeriesFilter{Kernel: c.Kernel, Host: c.Host, Params: c.Param})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(t.out, l)
	}
	if len(l.Boards) > 0 {
		err = lines(t.out, "case\trank\thost\tplacement\tscore\tinterval\tunit\tremarks\trun", func(w io.Writer) {
			for _, b := range l.Boards {
				for _, r := range b.Rows {
					remark := ""
					if !r.Valid {
						remark = "doubtful"
					}
					_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", b.Case().Key()+manner(b.Operations, b.Ramp), r.Rank, r.Host, placement(r.Pin, r.Awake),
						number(&r.Value), interval(pointScore(r.Point)), b.Unit, remark, r.Run)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return closing(t.out, len(l.Boards), "scores", l.Cut)
}

// referencesCommand lists what others published. The figures are in the binary: no service is
// asked.
type referencesCommand struct {
	Kernel string            `help:"Only figures of this kernel or composite, or of the kernels of this family."`
	Table  string            `help:"Only figures of this table."`
	Text   string            `help:"Only figures whose system, runtime or processor hold all of these words."`
	Param  map[string]string `short:"p" help:"Only figures with this parameter." placeholder:"NAME=VALUE" mapsep:"none"`
	JSON   bool              `name:"json" help:"Print JSON."`
}

// Run prints the figures that this binary holds.
func (c referencesCommand) Run(t terminal) error {
	set, err := references.Load()
	if err != nil {
		return err
	}
	list := set.List(references.Query{Kernel: c.Kernel, Table: c.Table, Text: c.Text, Params: kernels.Params(c.Param)})
	if c.JSON {
		return writeJSON(t.out, list)
	}
	if len(list.References) == 0 {
		return closing(t.out, 0, "figures", false)
	}
	return lines(t.out, "table\tcase\tvalue\tunit\truntime\tprocessor\tsource", func(w io.Writer) {
		for _, r := range list.References {
			value := number(r.Value)
			if r.Value == nil {
				value = r.Reason
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s:%d\n", r.Table, bench.Case{Kernel: r.Kernel, Params: r.Params}.Key(), value, r.Unit, r.Runtime, r.CPU, r.Source, r.Line)
		}
	})
}
