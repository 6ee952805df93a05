package export

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"benchd/worker/bench"
)

// writeScenario writes the figures that the charts of "CXF Performance on Sun Solaris Platform"
// show for scenario A: throughput and CPU load of the service for each size and model, and what
// the stream gains over the tree.
func writeScenario(p *page) {
	p.hosts(func(trials []bench.TrialResult) {
		var rows [][]string
		for _, t := range trials {
			service, host := p.loads(t)
			rows = append(rows, []string{
				sizeWord(t.Params.Word("size")), t.Params.Word("model"), t.Params.Word("clients"),
				strconv.FormatInt(messages(t), 10), p.figure(t, t.Score), service, host,
			})
		}
		p.rows([]string{"messages", "model", ">clients", ">count", ">messages per second", ">cores of the service", ">load of the host"}, rows)
		p.gains(trials)
	})
}

// sizeWord is a size with the word that the article has for it.
func sizeWord(size string) string {
	switch size {
	case "1KB":
		return "small (1 KB)"
	case "10KB":
		return "medium (10 KB)"
	case "1MB":
		return "large (1 MB)"
	}
	return size
}

// loads are the cells of the CPU load: cores that the service used, and the busy share of all
// CPUs of the host, as a mean over the forks.
func (p *page) loads(t bench.TrialResult) (service, host string) {
	var server, system []*float64
	var reason string
	for _, f := range t.Forks {
		server, system = append(server, f.CPU.Server), append(system, f.CPU.System)
		reason = f.CPU.Reason
	}
	return p.optional(t, mean(server), reason, cores), p.optional(t, mean(system), reason, share)
}

func cores(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func share(f float64) string { return strconv.FormatFloat(100*f, 'f', 0, 64) + " %" }

// mean is that of figures, and nil if one of them is not known or there are none.
func mean(list []*float64) *float64 {
	sum := 0.0
	for _, v := range list {
		f, ok := finite(v)
		if !ok {
			return nil
		}
		sum += f
	}
	if len(list) == 0 {
		return nil
	}
	return new(sum / float64(len(list)))
}

// gains tells how much faster the stream is than the tree at the same size and number of
// clients.
func (p *page) gains(trials []bench.TrialResult) {
	for _, stream := range trials {
		if stream.Params.Word("model") != "stream" || !measured(stream) {
			continue
		}
		i := slices.IndexFunc(trials, func(t bench.TrialResult) bool {
			return t.Case().Key() == bench.Case{Kernel: t.Kernel, Params: stream.Params.With("model", "dom")}.Key() && t.Repeat == stream.Repeat && measured(t)
		})
		if i >= 0 && *trials[i].Score.Value > 0 {
			p.note("Stream over tree, %s messages, %s on %s: %+.0f %%.", sizeWord(stream.Params.Word("size")),
				clients(stream), stream.Host, 100*(*stream.Score.Value / *trials[i].Score.Value - 1))
		}
	}
}

func clients(t bench.TrialResult) string { return counted(t.Params.Int("clients"), "client") }

// measured tells whether a trial has a score that can be written.
func measured(t bench.TrialResult) bool {
	if t.State != bench.Succeeded || t.Score == nil {
		return false
	}
	_, ok := finite(t.Score.Value)
	return ok
}

// writeLoad writes throughput and CPU load while one client more begins at each step, first by
// step and then over time, and where the throughput stops rising.
func writeLoad(p *page) {
	p.hosts(func(trials []bench.TrialResult) {
		for _, t := range trials {
			if t.Series == nil {
				p.rows([]string{">messages per second"}, [][]string{{p.figure(t, t.Score)}})
				if t.State == bench.Succeeded {
					p.note("%s has no series: its plan has no ramp.", p.label(t))
				}
				continue
			}
			p.steps(t)
			p.overTime(t)
			p.stops(t)
		}
	})
}

// steps writes a row for each step of the ramp.
func (p *page) steps(t bench.TrialResult) {
	var rows [][]string
	for _, s := range t.Series.Steps {
		row := []string{
			strconv.Itoa(s.Lanes), p.figure(t, &s.Throughput),
			p.optional(t, s.CPU.Server, s.CPU.Reason, cores), p.optional(t, s.CPU.System, s.CPU.Reason, share), "", "", strconv.FormatInt(s.Failures, 10),
		}
		if s.Latency != nil {
			row[4], row[5] = micros(s.Latency.P50), micros(s.Latency.P99)
		}
		rows = append(rows, row)
	}
	p.rows([]string{">clients", ">messages per second", ">cores of the service", ">load of the host", ">p50 us", ">p99 us", ">failed"}, rows)
}

func micros(ns int64) string { return fourDigits(float64(ns) / 1e3) }

// stops tells where the throughput stops rising.
func (p *page) stops(t bench.TrialResult) {
	switch {
	case t.Series.Stops != nil:
		p.note("%s: the throughput stops rising at %s.", p.label(t), counted(*t.Series.Stops, "client"))
	case t.Series.Reason != "":
		p.note("%s: where the throughput stops rising is not known: %s.", p.label(t), t.Series.Reason)
	}
}

// eachStep is how many rows over time a step has: enough to see how it settles.
const eachStep = 6

// overTime writes the series of slices of each fork, some of them together in a row.
func (p *page) overTime(t bench.TrialResult) {
	threads := p.result.Hosts[t.Host].Facts.Threads
	for i, f := range t.Forks {
		fmt.Fprintf(&p.text, "\nOver time")
		if len(t.Forks) > 1 {
			fmt.Fprintf(&p.text, ", fork %d", i+1)
		}
		p.text.WriteString("\n\n")
		var rows [][]string
		var began time.Duration
		for _, s := range together(f.Slices) {
			rows = append(rows, s.row(began, threads))
			began += time.Duration(s.Elapsed)
		}
		p.rows([]string{">second", ">clients", ">messages per second", ">cores of the service", ">load of the host"}, rows)
	}
}

// A span is some slices on end of one step, added up.
type span struct{ bench.Slice }

// together adds up the slices of each step in spans, as equal as can be.
func together(list []bench.Slice) []span {
	var spans []span
	for len(list) > 0 {
		step := slices.IndexFunc(list, func(s bench.Slice) bool { return s.Lanes != list[0].Lanes })
		if step < 0 {
			step = len(list)
		}
		n := min(step, eachStep)
		for i := range n {
			spans = append(spans, sum(list[i*step/n:(i+1)*step/n]))
		}
		list = list[step:]
	}
	return spans
}

// sum adds up slices; what one of them does not know the sum does not know either.
func sum(list []bench.Slice) span {
	total := list[0]
	for _, s := range list[1:] {
		total.Operations += s.Operations
		total.Elapsed += s.Elapsed
		total.Server = plus(total.Server, s.Server)
		total.System = plus(total.System, s.System)
	}
	return span{total}
}

func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// row is a span that began some time after the first, on a host with so many CPUs.
func (s span) row(began time.Duration, threads int) []string {
	row := []string{strconv.FormatFloat(began.Seconds(), 'f', 1, 64), strconv.Itoa(s.Lanes), "unknown", "unknown", "unknown"}
	if s.Elapsed <= 0 {
		return row
	}
	row[2] = fourDigits(float64(s.Operations) / (float64(s.Elapsed) / 1e9))
	if s.Server != nil {
		row[3] = cores(float64(*s.Server) / float64(s.Elapsed))
	}
	if s.System != nil && threads > 0 {
		row[4] = share(min(1, float64(*s.System)/float64(s.Elapsed)/float64(threads)))
	}
	return row
}
