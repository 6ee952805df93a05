package export

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"benchd/kernels"
	"benchd/worker/bench"
)

// writeEcho writes the two tables of the comparison of encon with jinterface: echoes by the
// number of clients, and from mailbox to mailbox. The error is half the width of the interval,
// as JMH prints it.
func writeEcho(p *page) {
	p.hosts(func(trials []bench.TrialResult) {
		var echoes, inside [][]string
		slices.SortStableFunc(trials, func(a, b bench.TrialResult) int {
			return cmp.Compare(a.Params.Int("clients"), b.Params.Int("clients"))
		})
		for _, t := range trials {
			score, half := p.scored(t)
			if t.Kernel == "messaging.mailbox" {
				inside = append(inside, []string{implementation(t), score, half, "ops/s"})
				continue
			}
			echoes = append(echoes, []string{implementation(t), t.Params.Word("clients"), score, half, "ops/s"})
		}
		p.part("Multi client tests", []string{"implementation", ">clients", ">score", ">error", "units"}, echoes)
		p.part("Mailbox to mailbox", []string{"implementation", ">score", ">error", "units"}, inside)
	})
}

// part writes rows under a heading of their own, if there are any.
func (p *page) part(title string, heading []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	if !strings.HasSuffix(p.text.String(), "\n\n") {
		p.text.WriteString("\n")
	}
	p.text.WriteString(title + "\n\n")
	p.rows(heading, rows)
}

// implementation is what spoke at both ends, or at either.
func implementation(t bench.TrialResult) string {
	if s := t.Params.Word("server"); s != "" && s != kernels.Embedded {
		return "benchd to " + s
	}
	return "benchd"
}

// scored are the cells of a score and of half the width of its interval.
func (p *page) scored(t bench.TrialResult) (score, half string) {
	if !measured(t) {
		return p.figure(t, t.Score), ""
	}
	low, lowKnown := finite(t.Score.Low)
	high, highKnown := finite(t.Score.High)
	if !lowKnown || !highKnown {
		return threeDecimals(*t.Score.Value), p.unknown(t, cmp.Or(t.Score.Reason, "the score has no interval"))
	}
	return threeDecimals(*t.Score.Value), threeDecimals((high - low) / 2)
}

func threeDecimals(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// publishedEcho writes what the article printed, in its own order.
func publishedEcho(p *page, list []bench.Reference) {
	var echoes, inside [][]string
	for _, r := range list {
		if r.Value == nil {
			continue
		}
		name, _, _ := strings.Cut(r.Runtime, ",")
		half := ""
		if r.Error != nil {
			half = threeDecimals(*r.Error)
		}
		if r.Kernel == "messaging.mailbox" {
			inside = append(inside, []string{name, threeDecimals(*r.Value), half, "ops/s"})
			continue
		}
		echoes = append(echoes, []string{name, r.Params.Word("clients"), threeDecimals(*r.Value), half, "ops/s"})
	}
	p.rows([]string{"implementation", ">clients", ">score", ">error", "units"}, echoes)
	p.text.WriteString("\n")
	p.rows([]string{"implementation", ">score", ">error", "units"}, inside)
}
