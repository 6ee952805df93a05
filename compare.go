package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"benchd/api/client"
	"benchd/worker/bench"
	"benchd/worker/stats/compare"
)

// compareCommand is the gate of a build: it tells what changed between two results and, where it
// was asked to, fails. Results come from a service or from files; two files need no service.
type compareCommand struct {
	serverFlag
	Base       string   `arg:"" help:"The result that is compared with: a run of the service, or a result file."`
	Head       string   `arg:"" help:"The result that is compared: a run of the service, or a result file."`
	Noise      []string `help:"Result file of a calibration, whose noise counts; may be repeated. Two runs of a service have the noise that the service knows." placeholder:"FILE"`
	MinEffect  *percent `help:"A smaller change is the same; 1% by default." placeholder:"PERCENT"`
	Q          *percent `help:"False alarms allowed: share of comparisons of equal things with any better or worse; 5% by default." placeholder:"PERCENT"`
	Confidence *percent `help:"Level of the intervals; 95% by default." placeholder:"PERCENT"`
	Across     []string `help:"A fact that is meant to differ, such as governor; host for all facts of a machine." placeholder:"FACT"`
	FailOn     []string `help:"Verdicts that make the exit code 1 (worse) or 3 (undecided, incomparable)." enum:"worse,undecided,incomparable" placeholder:"VERDICT,…"`
	JSON       bool     `name:"json" help:"Print the comparison as JSON." xor:"form"`
	Markdown   bool     `help:"Print it as Markdown, for the comment on a pull request." xor:"form"`
}

// Validate checks the rules, when the command line is read.
func (c compareCommand) Validate() error {
	for _, r := range []struct {
		name      string
		value     *percent
		low, high percent
	}{{"--min-effect", c.MinEffect, 0, 1}, {"--q", c.Q, 0.0001, 0.5}, {"--confidence", c.Confidence, 0.5, 0.9999}} {
		if r.value != nil && !(*r.value >= r.low && *r.value <= r.high) {
			return fmt.Errorf("%s must be from %g%% to %g%%, not %g%%", r.name, 100*r.low, 100*r.high, 100**r.value)
		}
	}
	for _, fact := range c.Across {
		if allowed := compare.Across(); !slices.Contains(allowed, fact) {
			return fmt.Errorf("--across: there is no fact %q; there are %s", fact, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// Run compares, prints, and fails where it was asked to.
func (c compareCommand) Run(ctx context.Context, t terminal) error {
	found, err := c.compare(ctx, t)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		err = writeJSON(t.out, found)
	case c.Markdown:
		_, err = io.WriteString(t.out, compareMarkdown(found))
	default:
		err = compareTable(t.out, found)
	}
	if err != nil {
		return err
	}
	return c.gate(found)
}

// compare leaves two runs of a service to the service, which knows their noise, unless other
// noise is given.
func (c compareCommand) compare(ctx context.Context, t terminal) (bench.Comparison, error) {
	if c.Base == "-" && c.Head == "-" {
		return bench.Comparison{}, exitError{exitUsage, fmt.Errorf("only one of the two results can come from standard input")}
	}
	if !isFile(c.Base) && !isFile(c.Head) && len(c.Noise) == 0 {
		ask := client.Question{Base: c.Base, Head: c.Head, MinEffect: (*float64)(c.MinEffect), Across: c.Across}
		take(&ask.Q, c.Q)
		take(&ask.Confidence, c.Confidence)
		return c.client().Compare(ctx, ask)
	}
	// Without a service there is no store that knows the noise: it is what --noise gives, or a
	// default that is larger than what most hosts have.
	o := compare.DefaultOptions()
	o.Across = c.Across
	take(&o.MinEffect, c.MinEffect)
	take(&o.Q, c.Q)
	take(&o.Confidence, c.Confidence)
	base, err := fetchResult(ctx, c.client(), c.Base, t.in)
	if err != nil {
		return bench.Comparison{}, err
	}
	head, err := fetchResult(ctx, c.client(), c.Head, t.in)
	if err != nil {
		return bench.Comparison{}, err
	}
	noise, err := readNoise(c.Noise, t.in)
	if err != nil {
		return bench.Comparison{}, err
	}
	return compare.Results(base, head, noise, o), nil
}

// take takes over a rule that was given.
func take(dest *float64, v *percent) {
	if v != nil {
		*dest = float64(*v)
	}
}

// readNoise works out the noise of calibrations. Of several for one case on one host the last
// file's counts, so that a newer calibration is named after an older one.
func readNoise(files []string, in io.Reader) (compare.Floors, error) {
	var floors []bench.NoiseFloor
	for _, name := range files {
		r, err := readResult(name, in)
		if err != nil {
			return nil, err
		}
		found := compare.FloorsOf(r.Trials)
		if len(found) == 0 {
			return nil, exitError{exitUsage, fmt.Errorf("%s tells no noise: it has no case with three trials or more; give what benchd calibrate wrote", name)}
		}
		floors = append(floors, found...)
	}
	return compare.Index(floors), nil
}

// gate is the error of a comparison that shall fail. Worse goes first: whoever minds both wants
// to hear of a slow-down before he hears of what could not be told. A whole without any case in
// common is incomparable though no case is counted so.
func (c compareCommand) gate(found bench.Comparison) error {
	minds := func(v bench.Verdict) bool {
		return slices.Contains(c.FailOn, string(v)) && (found.Counts.Of(v) > 0 || found.Verdict == v)
	}
	switch {
	case minds(bench.Worse):
		return exitError{exitFailed, fmt.Errorf("worse: %d of %d cases", found.Counts.Worse, len(found.Cases))}
	case minds(bench.Undecided), minds(bench.Incomparable):
		return exitError{exitUndecided, fmt.Errorf("undecided: %d of %d cases; incomparable: %d", found.Counts.Undecided, len(found.Cases), found.Counts.Incomparable)}
	}
	return nil
}
