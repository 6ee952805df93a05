package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"benchd/worker/bench"
)

// ramps prints the steps of each ramp of a result, and where its throughput stops rising.
func ramps(w io.Writer, r bench.Result) error {
	for _, t := range r.Trials {
		if t.Series == nil {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s in a ramp: %s\n", t.Case().Key(), rampText(*t.Series)); err != nil {
			return err
		}
		if err := printSteps(w, *t.Series); err != nil {
			return err
		}
	}
	return nil
}

// rampText says what a ramp found.
func rampText(s bench.Series) string {
	lanes := strconv.Itoa(s.Scored)
	if s.Stops == nil {
		return "where the throughput stops rising is not known: " + s.Reason + "; the score is that of " + lanes
	}
	return "the throughput stops rising at " + lanes + ", which the score is of"
}

// printSteps prints a line for each step.
func printSteps(w io.Writer, s bench.Series) error {
	return lines(w, "lanes\tthroughput\tinterval\tunit\tn\tclient\tserver\thost busy\tp50\tp99\tmax\tfailed", func(w io.Writer) {
		for _, step := range s.Steps {
			mark := ""
			if step.Lanes == s.Scored {
				mark = "*"
			}
			_, _ = fmt.Fprintf(w, "%d%s\t%s\t%s\t%s\t%s\t%s\t%d\n", step.Lanes, mark, figureCells(step.Throughput),
				usedCores(step.CPU.Client), usedCores(step.CPU.Server), busy(step.CPU.System), stepCells(step.Latency), step.Failures)
		}
	})
}

// usedCores writes the cores that a process used.
func usedCores(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", *v)
}

// busy writes a share of the host.
func busy(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100**v)
}

// stepCells are median, 99th percentile and maximum of a step's latency.
func stepCells(l *bench.StepLatency) string {
	if l == nil {
		return "\t\t"
	}
	return threeDigits(time.Duration(l.P50)) + "\t" + threeDigits(time.Duration(l.P99)) + "\t" + threeDigits(time.Duration(l.Max))
}
