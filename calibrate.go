package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"benchd/api/client"
	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

// calibrateCommand measures what comparisons are held against: how much the same differs from
// itself on a host. Its flags are those of benchd run, but for the repeats.
type calibrateCommand struct {
	What   []string          `arg:"" optional:"" help:"What to measure, as in benchd run; by default the suite quick."`
	Param  map[string]string `short:"p" help:"A parameter of the kernels named, or several values for a matrix." placeholder:"NAME=VALUE[,VALUE]" mapsep:"none"`
	Repeat int               `short:"k" help:"How often the cases are measured; at least three tell something." default:"10"`
	Server string            `help:"URL of a service, whose store then keeps the noise; without it this host is calibrated here and now." env:"BENCHD_SERVER" placeholder:"URL"`
	planFlags
	Tag map[string]string `short:"t" help:"A label of the run, to find it by." placeholder:"NAME=VALUE" mapsep:"none"`
	workerFlags
	Out  string `short:"o" help:"Without a service: file for the result, which compare --noise reads; by default benchd-<id>.json in this folder." placeholder:"FILE"`
	Data string `help:"Without a service: folder for the database and for results on their way; by default a new one that is removed at the end." placeholder:"FOLDER"`
	JSON bool   `name:"json" help:"Print the calibration as JSON."`
}

// Validate checks the repeats, when the command line is read.
func (c calibrateCommand) Validate() error {
	if c.Repeat < 3 || c.Repeat > 100 {
		return fmt.Errorf("--repeat must be from 3 to 100, not %d", c.Repeat)
	}
	return c.workerFlags.Validate()
}

// request asks for the repeats, one fork of each in turn, so that a slow drift of the host
// does not look like a difference between them.
func (c calibrateCommand) request() requestFlags {
	f := requestFlags{What: c.What, Param: c.Param, planFlags: c.planFlags, Repeat: &c.Repeat, Tag: c.Tag}
	if len(f.What) == 0 {
		f.What = []string{"quick"}
	}
	if f.Order == nil {
		order := string(bench.Interleaved)
		f.Order = &order
	}
	return f
}

// Run measures the same again and again and prints how it differed.
func (c calibrateCommand) Run(ctx context.Context, t terminal, log *slog.Logger) error {
	if c.Server == "" {
		err := runCommand{requestFlags: c.request(), workerFlags: c.workerFlags, Out: c.Out, Data: c.Data}.here(ctx, t, log, c.show)
		if err == nil {
			_, err = fmt.Fprintln(t.err, "the result holds the noise of this host: benchd compare BASE HEAD --noise FILE reads it")
		}
		return err
	}
	body, err := c.request().build(t.in)
	if err != nil {
		return err
	}
	api := client.New(c.Server, nil)
	run, err := api.Submit(ctx, body, "")
	if err != nil {
		return err
	}
	if err := follow(ctx, t, api, run.ID, c.show); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.err, "the noise is kept in the store of %s as run %s; comparisons of runs there use it\n", c.Server, run.ID)
	return err
}

// show prints the calibration that a result holds.
func (c calibrateCommand) show(w io.Writer, r bench.Result) error {
	found := compare.Calibrate(r, compare.DefaultOptions())
	if c.JSON {
		return writeJSON(w, found)
	}
	err := lines(w, "case\thost\tnoise\truns\tsd\tlargest\tfalse alarms", func(w io.Writer) {
		for _, k := range found.Cases {
			name := bench.Case{Kernel: k.Kernel, Params: k.Params}.Key()
			if k.Noise == nil {
				_, _ = fmt.Fprintf(w, "%s\t%s\tunknown: %s\t\t\t\t\n", name, k.Host, k.Reason)
				continue
			}
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%d\n", name, k.Host, signless(&k.Noise.Value), k.Noise.Runs,
				signless(&k.Noise.MeanSD), signless(&k.Noise.Largest), k.Counts.Better+k.Counts.Worse)
		}
	})
	if err != nil {
		return err
	}
	// The promise of a comparison is that few of equal things alarm; this is how it was kept here.
	rate := "unknown"
	if found.Rate != nil {
		rate = fmt.Sprintf("%.1f%%", 100**found.Rate)
	}
	_, err = fmt.Fprintf(w, "false alarms: %d of %d comparisons of a repeat with the next (%s). %s\n", found.Alarmed, found.Comparisons, rate, found.Reason)
	return err
}
