package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"benchd/api/client"
	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

type runCommand struct {
	requestFlags
	workerFlags
	Out  string `short:"o" help:"File for the result; - for standard output; by default benchd-<id>.json in this folder." placeholder:"FILE"`
	Data string `help:"Folder for the database and for results on their way; by default a new one that is removed at the end." placeholder:"FOLDER"`
}

// stopTime is how long a canceled run may take to end at an interrupt.
const stopTime = 30 * time.Second

// Run starts the whole service in this process, posts the request to it, shows how it goes,
// and prints and writes the result.
func (c runCommand) Run(ctx context.Context, t terminal, log *slog.Logger) error {
	return c.here(ctx, t, log, table)
}

// A printer shows a result.
type printer func(w io.Writer, r bench.Result) error

// here measures in this process and shows the result.
func (c runCommand) here(ctx context.Context, t terminal, log *slog.Logger, show printer) error {
	body, err := c.build(t.in)
	if err != nil {
		return err
	}
	if err := c.refuse(body); err != nil {
		return exitError{exitUsage, err}
	}
	out, err := openResult(c.Out)
	if err != nil {
		return exitError{exitUsage, err}
	}
	defer out.discard()
	data, remove, err := c.folder()
	if err != nil {
		return err
	}
	defer remove()
	// The service outlives the interrupt, so that the run can be canceled in good order.
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s, err := start(base, service{
		api: &apiFlags{Addr: "127.0.0.1:0"}, worker: &c.workerFlags, data: data, log: quiet(log),
	})
	if err != nil {
		return exitError{exitUsage, err}
	}
	ended := make(chan error, 1)
	go func() { ended <- s.wait(base) }()
	err = c.measure(ctx, t, client.New(s.url, nil), body, out, show)
	stop()
	return errors.Join(err, <-ended)
}

// folder is where this run keeps its things, and what removes it.
func (c runCommand) folder() (string, func(), error) {
	if c.Data != "" {
		return c.Data, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "benchd-run-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for this run: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// measure posts the request, follows the run to its end, and shows the result.
func (c runCommand) measure(ctx context.Context, t terminal, api *client.Client, body []byte, out *resultFile, show printer) error {
	run, err := api.Submit(ctx, body, "")
	if err != nil {
		return err
	}
	watch := newProgress(t.err)
	interrupted := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		watch.say("canceling; interrupt once more to end at once")
		_, _ = api.Cancel(late, run.ID) // a run that is just over cannot be canceled, and need not
	})
	defer interrupted()
	last := context.WithoutCancel(ctx)
	run, err = api.Wait(last, run.ID, showEvery, watch.run)
	watch.end()
	if err != nil {
		return err
	}
	result, err := api.Result(last, run.ID)
	if err != nil {
		return err
	}
	err = c.write(t, result, out, show)
	switch { // to be told though nobody reads the table to its end
	case ctx.Err() != nil:
		return errors.Join(exitError{exitInterrupted, fmt.Errorf("interrupted; the run is %s", run.State)}, unlessGone(err))
	case run.State != bench.Succeeded:
		return errors.Join(exitError{exitFailed, fmt.Errorf("the run %s is %s", run.ID, run.State)}, unlessGone(err))
	}
	return err
}

// write writes the result and then shows it, so that a reader of what is shown who goes
// away takes nothing with him. Standard output is either's, not both's.
func (c runCommand) write(t terminal, result bench.Result, out *resultFile, show printer) error {
	if c.Out == "-" {
		if err := writeJSON(t.out, result); err != nil {
			return err
		}
		return show(t.err, result)
	}
	name, err := out.write(result)
	if err != nil {
		return err
	}
	if err := show(t.out, result); err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.err, "result written to", name)
	return err
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// quiet logs only what goes wrong, since the progress is shown otherwise.
func quiet(log *slog.Logger) *slog.Logger {
	return slog.New(levelHandler{log.Handler(), slog.LevelWarn})
}

// levelHandler raises the least level of a handler.
type levelHandler struct {
	slog.Handler
	least slog.Level
}

// Enabled tells whether a level is logged.
func (h levelHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.least && h.Handler.Enabled(ctx, l)
}

// WithAttrs keeps the level.
func (h levelHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return levelHandler{h.Handler.WithAttrs(a), h.least}
}

// WithGroup keeps the level.
func (h levelHandler) WithGroup(name string) slog.Handler {
	return levelHandler{h.Handler.WithGroup(name), h.least}
}

// calibrateCommand measures what comparisons are held against: how much the same differs from
// itself on a host. Its flags are those of benchd run, but for the repeats.
type calibrateCommand struct {
	What   []string          `arg:"" optional:"" help:"What to measure, as in benchd run; by default the suite quick."`
	Param  map[string]string `short:"p" help:"A parameter of the kernels named, or several values for a matrix; of a suite only the cases with these." placeholder:"NAME=VALUE[,VALUE]" mapsep:"none"`
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

// calibrationLegend says what stands in the columns of a calibration.
const calibrationLegend = `noise: the change that two runs between which nothing changed exceed once in a hundred, by the runs measured so far; few runs make it large.
sd: standard deviation of a run's figure from run to run. largest: the largest difference seen between two of the runs.
`

// show prints the calibration that a result holds.
func (c calibrateCommand) show(w io.Writer, r bench.Result) error {
	found := compare.Calibrate(r, compare.DefaultOptions())
	if c.JSON {
		return writeJSON(w, found)
	}
	known := false
	err := lines(w, "case\thost\tnoise\truns\tsd\tlargest\tfalse alarms", func(w io.Writer) {
		for _, k := range found.Cases {
			name := bench.Case{Kernel: k.Kernel, Params: k.Params}.Key()
			if k.Noise == nil {
				_, _ = fmt.Fprintf(w, "%s\t%s\tunknown: %s\t\t\t\t\n", name, k.Host, k.Reason)
				continue
			}
			known = true
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%d\n", name, k.Host, signless(&k.Noise.Value), k.Noise.Runs,
				signless(&k.Noise.MeanSD), signless(&k.Noise.Largest), k.Counts.Better+k.Counts.Worse)
		}
	})
	if err != nil {
		return err
	}
	if known {
		_, _ = io.WriteString(w, calibrationLegend)
	}
	// The promise of a comparison is that few of equal things alarm; this is how it was kept here.
	_, err = fmt.Fprintln(w, found.Reason)
	return err
}
