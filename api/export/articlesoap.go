package export

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"benchd/kernels"
	"benchd/worker/bench"
)

// writeCalls writes the table of "Java Performance On Various Platforms": calls per second and
// the calls until they were stable, with the pair of stacks and the machine, fastest first.
func writeCalls(p *page) {
	trials := slices.Clone(p.trials)
	slices.SortStableFunc(trials, func(a, b bench.TrialResult) int { return cmp.Compare(speed(b), speed(a)) })
	var rows [][]string
	for _, t := range trials {
		stable := p.optional(t, t.Steady.Operations, t.Steady.Reason, wholly)
		host := p.result.Hosts[t.Host]
		rows = append(rows, []string{p.figure(t, t.Score), stable, system(host.Facts), clientOf(t, host.Facts), serverOf(t, host.Facts), processor(host.Facts)})
	}
	p.rows([]string{">calls per second", ">stable cycles", "operating system", "client", "server", "CPU"}, rows)
	if len(trials) > 0 && trials[0].Standing != nil {
		p.note("The first of them: %s.", trials[0].Standing.Text)
	}
}

// speed orders trials: those without a figure come after all that have one.
func speed(t bench.TrialResult) float64 {
	if t.State == bench.Succeeded && t.Score != nil {
		if v, ok := finite(t.Score.Value); ok {
			return v
		}
	}
	return math.Inf(-1)
}

func wholly(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }

// system is the operating system as the articles wrote it: name, version, architecture.
func system(f bench.Facts) string {
	words := []string{f.OS}
	if f.Kernel != nil {
		words = append(words, *f.Kernel)
	}
	return strings.TrimSpace(strings.Join(append(words, f.Arch), " "))
}

// processor is the number of processors, their model, and how many CPUs they make.
func processor(f bench.Facts) string {
	model := f.CPUModel
	if model == "" {
		model = "unknown"
	}
	if f.Sockets != nil {
		model = fmt.Sprintf("%dx %s", *f.Sockets, model)
	}
	return fmt.Sprintf("%s, %d CPUs", model, f.Threads)
}

// clientOf is the stack that called.
func clientOf(t bench.TrialResult, f bench.Facts) string {
	return strings.TrimSuffix(fmt.Sprintf("benchd %s, %s", t.Params.Word("model"), f.Go), ", ")
}

// serverOf is the stack that answered: a named service has the name that its operator gave it.
func serverOf(t bench.TrialResult, f bench.Facts) string {
	if s := t.Params.Word("server"); s != "" && s != kernels.Embedded {
		return s
	}
	return clientOf(t, f)
}

// writeEngines writes the two lines that SoapRunner printed for each engine.
func writeEngines(p *page) {
	for i, t := range p.trials {
		if i > 0 {
			p.text.WriteString("\n")
		}
		facts := p.result.Hosts[t.Host].Facts
		fmt.Fprintf(&p.text, "%s\n", oneLine(engine(t, facts)))
		fmt.Fprintf(&p.text, "messages per second = %s\n", p.figure(t, t.Score))
		if t.State == bench.Succeeded {
			fmt.Fprintf(&p.text, "microseconds per message = %s\n", p.figure(t, metric(t, "time_per_call")))
			fmt.Fprintf(&p.text, "mean of %s of %s\n", counted(len(t.Forks), "run"), counted(eachRun(t), "message"))
		}
	}
}

// engine names a pair of client and server on a host.
func engine(t bench.TrialResult, f bench.Facts) string {
	client, server := clientOf(t, f), serverOf(t, f)
	if client == server {
		server = "the same"
	}
	return fmt.Sprintf("%s; server %s; %s, %s:", client, server, system(f), processor(f))
}

// eachRun is the number of messages of a run; all runs have the same.
func eachRun(t bench.TrialResult) int {
	if len(t.Forks) == 0 {
		return 0
	}
	return int(done(t.Forks[0]))
}

// done counts the operations of a fork, those of its warm-up among them.
func done(f bench.Fork) int64 {
	n := f.Warmup.Operations
	for _, s := range f.Slices {
		n += s.Operations
	}
	return n
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// metric finds a further figure of a trial.
func metric(t bench.TrialResult, name string) *bench.Score {
	for i, m := range t.Metrics {
		if m.Metric == name {
			return &t.Metrics[i]
		}
	}
	return nil
}

// writeTrials writes mean, minimum and maximum over the trials of a hundred messages each: the
// slices of ours.
func writeTrials(p *page) {
	p.hosts(func(trials []bench.TrialResult) {
		var rows [][]string
		for _, t := range trials {
			row := []string{t.Params.Word("encoding"), t.Params.Word("size"), p.figure(t, t.Score), "", "", ""}
			if all := samples(t); t.State == bench.Succeeded && len(all) > 0 {
				row[3], row[4] = fourDigits(slices.Min(all)), fourDigits(slices.Max(all))
				row[5] = fmt.Sprintf("%s, %d messages", counted(len(all), "trial"), messages(t))
			}
			rows = append(rows, row)
		}
		p.rows([]string{"attachment by", ">size", ">mean", ">minimum", ">maximum", "of"}, rows)
	})
}

// hosts writes a part for each host, under its name and what it is.
func (p *page) hosts(write func([]bench.TrialResult)) {
	for _, name := range hostNames(p.result) {
		var trials []bench.TrialResult
		for _, t := range p.trials {
			if t.Host == name {
				trials = append(trials, t)
			}
		}
		if len(trials) == 0 {
			continue
		}
		f := p.result.Hosts[name].Facts
		fmt.Fprintf(&p.text, "%s\n\n", oneLine(fmt.Sprintf("Host %s: %s, %s, %s", name, system(f), processor(f), f.Go)))
		write(trials)
	}
}

// samples are those of all forks that can be written.
func samples(t bench.TrialResult) []float64 {
	var all []float64
	for _, f := range t.Forks {
		for _, s := range f.Samples {
			if v, ok := finite(&s); ok {
				all = append(all, v)
			}
		}
	}
	return all
}

// messages counts the operations of all forks, those of the warm-up among them.
func messages(t bench.TrialResult) int64 {
	var n int64
	for _, f := range t.Forks {
		n += done(f)
	}
	return n
}
