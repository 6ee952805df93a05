package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"benchd/kernels/catalog"
	"benchd/worker"
)

// probePatience is how long a service has to answer everything that doctor asks it.
const probePatience = 5 * time.Second

// A servicesFlag is doctor's --services, which is there for itself, and may name the file of
// them as it does for the worker.
type servicesFlag struct {
	asked bool
	file  string
}

var _ kong.MapperValue = (*servicesFlag)(nil)

// Decode takes the next word for the file, unless there is none or it is another flag.
func (f *servicesFlag) Decode(ctx *kong.DecodeContext) error {
	f.asked = true
	if !ctx.Scan.Peek().IsValue() {
		return nil
	}
	return ctx.Scan.PopValueInto("file", &f.file)
}

// addresses are those of the services that are to be tried: what the command line names, or
// what the environment names for the worker.
func (c doctorCommand) addresses() (map[string]string, error) {
	f := serviceFlags{Service: c.Service, Services: c.Services.file}
	if len(f.Service) == 0 && f.Services == "" {
		f = serviceFlags{Service: []string{os.Getenv("BENCHD_SERVICES")}, Services: os.Getenv("BENCHD_SERVICES_FILE")}
	}
	return f.addresses()
}

// discover tries the services, prints what was found, and fails when one cannot be used.
func (c doctorCommand) discover(ctx context.Context, t terminal) error {
	addrs, err := c.addresses()
	if err != nil {
		return exitError{exitUsage, err}
	}
	found, err := worker.Discover(ctx, catalog.Families(), addrs, probePatience)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if ctx.Err() != nil {
		return exitError{exitInterrupted, errors.New("interrupted before every service was tried")}
	}
	s := discoveries{Services: found}
	for _, d := range found {
		if d.Error != nil {
			s.Failed++
		}
	}
	return c.tell(t, s, s.Failed > 0)
}

// discoveries are what doctor prints of services.
type discoveries struct {
	Failed   int                `json:"failed"` // number of services at which nothing can be measured
	Services []worker.Discovery `json:"services"`
}

// print writes a row for each service, and below the table what is wrong with some.
func (s discoveries) print(w io.Writer) error {
	if len(s.Services) == 0 {
		_, err := fmt.Fprintln(w, "No services are named. Name them by --service NAME=URL, by --services FILE, or in the environment by BENCHD_SERVICES and BENCHD_SERVICES_FILE, as for the worker.")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "name\tscheme\tproduct\tversion\tround trip\tmessage\tsupports")
	for _, d := range s.Services {
		supports := strings.Join(d.Supports, ", ")
		if d.Error != nil {
			supports = "cannot be used, see below"
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.Name, d.Scheme, told(d.Product), told(d.Version), paceCell(d.RoundTrip), paceCell(d.Message), supports)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, d := range s.Services {
		for _, note := range d.Notes {
			_, _ = fmt.Fprintf(w, "%s: %s.\n", d.Name, note)
		}
		if d.Error != nil {
			_, _ = fmt.Fprintf(w, "%s: %s.\n", d.Name, strings.TrimRight(*d.Error, "."))
		}
	}
	_, err := fmt.Fprintf(w, "%d of %d can be used\n", len(s.Services)-s.Failed, len(s.Services))
	return err
}

// told is what a service tells of itself, if it does.
func told(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// paceCell is a median in milliseconds, and of how many.
func paceCell(p *worker.Pace) string {
	if p == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f ms of %d", float64(p.Median)/1e6, p.Count)
}
