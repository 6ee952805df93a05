package collect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"benchd/api/store"
	"benchd/worker/bench"
)

// A waitingRuns is the store's side of finding a host.
type waitingRuns interface {
	// Unassigned gives the runs that have no host yet, oldest first.
	Unassigned(ctx context.Context) ([]store.Waiting, error)
	// Assign gives a run its host; a Conflict when it waits no longer.
	Assign(ctx context.Context, runID, host string) error
	// SetReason says why a run waits.
	SetReason(ctx context.Context, runID, reason string) error
}

// A backlog tells how much a host has to do.
type backlog interface {
	Undispatched(ctx context.Context, host string, most int) ([]bench.Order, error)
	Active(ctx context.Context) ([]store.ActiveTrial, error)
}

// The assigner gives each run that any host may measure the live host with the least to do
// among those that carry its labels, have the services that it names, and whose limits it fits.
type assigner struct {
	runs    waitingRuns
	backlog backlog
	fits    func(bench.Case, bench.Plan, bench.Limits) error
	needs   func(bench.Case) []bench.Need
	logger  *slog.Logger

	load    map[string]int // trials that each host has to do
	counted time.Time
	misfits map[misfit]string // what was found not to fit, so that it is not worked out every second
}

// A misfit is a run and a host that was too small for it.
type misfit struct {
	run, host string
	limits    bench.Limits
}

// Bounds of counting: how often, and where a host's trials are not counted further.
const (
	countEvery = 5 * time.Second
	maxBacklog = 10 * bench.MaxTrials
)

// pass assigns what can be assigned; sent are the orders that each host has in its queue.
func (a *assigner) pass(ctx context.Context, beats []bench.Beat, sent map[string]int) error {
	waiting, err := a.runs.Unassigned(ctx)
	if err != nil || len(waiting) == 0 {
		return err
	}
	if err := a.count(ctx, beats, sent); err != nil {
		return err
	}
	misfits := make(map[misfit]string)
	for _, w := range waiting {
		host, reason := a.choose(w, beats, misfits)
		if err := a.settle(ctx, w, host, reason); err != nil {
			return err
		}
		a.load[host] += len(w.Cases)
	}
	a.misfits = misfits
	return nil
}

// count counts what each live host has to do, every few seconds: in between, what was
// assigned here is added, and a little too much for hosts that finish trials does no harm.
// A single host needs no counting.
func (a *assigner) count(ctx context.Context, beats []bench.Beat, sent map[string]int) error {
	if a.load != nil && time.Since(a.counted) < countEvery && !newHost(a.load, beats) {
		return nil
	}
	load := maps.Clone(sent)
	for _, b := range beats {
		load[b.Host] += 0
	}
	if len(beats) > 1 {
		if err := a.add(ctx, load, beats); err != nil {
			return err
		}
	}
	a.load, a.counted = load, time.Now()
	return nil
}

func newHost(load map[string]int, beats []bench.Beat) bool {
	return slices.ContainsFunc(beats, func(b bench.Beat) bool {
		_, known := load[b.Host]
		return !known
	})
}

// add adds the trials that run and those that were not sent yet.
func (a *assigner) add(ctx context.Context, load map[string]int, beats []bench.Beat) error {
	active, err := a.backlog.Active(ctx)
	if err != nil {
		return err
	}
	for _, t := range active {
		load[t.Host]++
	}
	for _, b := range beats {
		orders, err := a.backlog.Undispatched(ctx, b.Host, maxBacklog)
		if err != nil {
			return err
		}
		load[b.Host] += len(orders)
	}
	return nil
}

// choose gives the host for a run, or why there is none.
func (a *assigner) choose(w store.Waiting, beats []bench.Beat, misfits map[misfit]string) (host, reason string) {
	var small, lacking string
	needs := needsOf(a.needs, w.Cases)
	wanted := asked(w.Selector.Labels, needs)
	for _, b := range beats {
		if !carries(b.Labels, w.Selector.Labels) {
			continue
		}
		if n, lacks := unmet(needs, b.Services); lacks {
			if _, other := b.Services[n.Service]; other {
				lacking = fmt.Sprintf("; host %s %s", b.Host, n.Unmet(b.Services))
			}
			continue
		}
		m := misfit{w.RunID, b.Host, b.Limits}
		if why := a.misfit(m, w); why != "" {
			misfits[m] = why
			small = fmt.Sprintf("host %s: %s", b.Host, why)
			continue
		}
		if host == "" || cmp.Or(cmp.Compare(a.load[b.Host], a.load[host]), cmp.Compare(b.Host, host)) < 0 {
			host = b.Host
		}
	}
	switch {
	case host != "":
		return host, ""
	case small != "":
		return "", fmt.Sprintf("no live host%s allows it; %s", wanted, small)
	default:
		return "", "no live host" + wanted + lacking
	}
}

// misfit says why a host is too small for a run, or "".
func (a *assigner) misfit(m misfit, w store.Waiting) string {
	if why, known := a.misfits[m]; known {
		return why
	}
	if a.fits == nil {
		return ""
	}
	planOf := w.Spec.Plans()
	for _, c := range w.Cases {
		if err := a.fits(c, planOf(c), m.limits); err != nil {
			return err.Error()
		}
	}
	return ""
}

func (a *assigner) settle(ctx context.Context, w store.Waiting, host, reason string) error {
	if host == "" {
		if reason == w.Reason {
			return nil
		}
		return a.runs.SetReason(ctx, w.RunID, reason)
	}
	err := a.runs.Assign(ctx, w.RunID, host)
	if e := bench.AsError(err); e != nil && e.Kind == bench.Conflict {
		return nil // canceled meanwhile, or another collector was faster
	}
	if err == nil {
		a.logger.Info("run assigned", "run", w.RunID, "host", host, "trials", len(w.Cases))
	}
	return err
}

func carries(have, want map[string]string) bool {
	for name, value := range want {
		if got, ok := have[name]; !ok || got != value {
			return false
		}
	}
	return true
}

// asked writes what a host is asked to have: " with label zone=a and the service "axis"".
func asked(labels map[string]string, needs []bench.Need) string {
	with, services := withLabels(labels), withServices(needs)
	switch {
	case services == "":
		return with
	case with == "":
		return " with" + services
	default:
		return with + " and" + services
	}
}

// withLabels writes labels as they stand in a reason: " with label zone=a".
func withLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+labels[name])
	}
	if len(parts) == 1 {
		return " with label " + parts[0]
	}
	return " with labels " + strings.Join(parts, ", ")
}
