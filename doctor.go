package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"benchd/worker/host"
)

// leastWatch is the shortest watch that sees anything: the kernel counts CPU time in ticks of
// up to ten milliseconds.
const leastWatch = 100 * time.Millisecond

// doctorCommand examines this host before something is measured on it, or the services
// outside at which it may measure.
type doctorCommand struct {
	JSON  bool          `name:"json" help:"Print the findings as JSON."`
	Watch time.Duration `help:"How long to watch what else the host does." default:"2s" placeholder:"TIME"`

	Service  []string     `help:"Try this service instead of the host; may be given several times, as to the worker." placeholder:"NAME=URL" sep:"none"`
	Services servicesFlag `help:"Try the services instead of the host: those of a file as the worker reads it, or without one those that the command line or the environment (BENCHD_SERVICES, BENCHD_SERVICES_FILE) names." placeholder:"[FILE]"`
}

// Run examines the host, prints what was found, and fails when something is to be changed.
func (c doctorCommand) Run(ctx context.Context, t terminal) error {
	if c.Services.asked || len(c.Service) > 0 {
		return c.discover(ctx, t)
	}
	if c.Watch < leastWatch || c.Watch > time.Hour {
		return exitError{exitUsage, fmt.Errorf("--watch must be from %s to 1h, not %s: in less time a busy host looks idle", leastWatch, c.Watch)}
	}
	findings := host.Examine(ctx, host.DoctorOptions{Watch: c.Watch, Temp: os.TempDir()})
	if ctx.Err() != nil {
		return exitError{exitInterrupted, errors.New("interrupted before the host was examined")}
	}
	d := diagnosis{Findings: findings, Change: count(findings, host.Change)}
	return c.tell(t, d, d.Change > 0)
}

// tell prints what was found, and gives the exit code for it.
func (c doctorCommand) tell(t terminal, found interface{ print(w io.Writer) error }, bad bool) error {
	var err error
	if c.JSON {
		err = writeJSON(t.out, found)
	} else {
		err = found.print(t.out)
	}
	if bad {
		return exitError{exitFailed, errors.New("")} // what it is has been printed
	}
	return err
}

// A diagnosis is what doctor prints.
type diagnosis struct {
	Change   int            `json:"change"` // number of findings to change
	Findings []host.Finding `json:"findings"`
}

func count(findings []host.Finding, state host.Verdict) int {
	n := 0
	for _, f := range findings {
		if f.State == state {
			n++
		}
	}
	return n
}

// print writes a line for each finding, and below those that are not as they should be why
// they matter and what to do.
func (d diagnosis) print(w io.Writer) error {
	for _, f := range d.Findings {
		said := f.Reason
		if f.Value != nil {
			said = *f.Value
		}
		_, _ = fmt.Fprintf(w, "%-8s %-15s %s\n", f.State, f.Check, said)
		if f.State != host.Change && f.State != host.Note {
			continue
		}
		for _, line := range []string{f.Why, f.Advice, f.Command} {
			if line != "" {
				_, _ = fmt.Fprintf(w, "%24s %s\n", "", line)
			}
		}
	}
	_, err := fmt.Fprintf(w, "%d to change, %d to know of, %d unknown, %d as they should be\n",
		d.Change, count(d.Findings, host.Note), count(d.Findings, host.Unknown), count(d.Findings, host.Fine))
	return err
}
