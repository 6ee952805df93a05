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
	if err := c.write(t, result, out, show); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return exitError{exitInterrupted, fmt.Errorf("interrupted; the run is %s", run.State)}
	case run.State != bench.Succeeded:
		return exitError{exitFailed, fmt.Errorf("the run %s is %s", run.ID, run.State)}
	}
	return nil
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
