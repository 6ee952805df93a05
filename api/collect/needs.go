package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"benchd/worker/bench"
)

// needsOf lists the named services that any of the cases needs, each once.
func needsOf(needs func(bench.Case) []bench.Need, cases []bench.Case) (all []bench.Need) {
	if needs == nil {
		return nil
	}
	for _, c := range cases {
		for _, n := range needs(c) {
			if !slices.ContainsFunc(all, func(m bench.Need) bool { return n.Service == m.Service && slices.Equal(n.Schemes, m.Schemes) }) {
				all = append(all, n)
			}
		}
	}
	return all
}

// unmet gives the first need that a host's services do not meet, if there is one.
func unmet(needs []bench.Need, services map[string]string) (bench.Need, bool) {
	for _, n := range needs {
		if !n.Met(services) {
			return n, true
		}
	}
	return bench.Need{}, false
}

// withServices writes needs as they stand in a reason: ` the service "axis"`.
func withServices(needs []bench.Need) string {
	var names []string
	for _, n := range needs {
		if name := fmt.Sprintf("%q", n.Service); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " the service " + names[0]
	default:
		return " the services " + strings.Join(names, ", ")
	}
}

// sendable gives the next orders of a live host, as many as there is room for, and why others
// are held back, by run: the host was named and has no such service, or not yet. Of a run that
// it cannot measure whole nothing is sent.
func (d *dispatcher) sendable(ctx context.Context, host bench.Beat, room int) (orders []bench.Order, held map[string]string, err error) {
	for most := room; ; most *= 4 {
		all, err := d.trials.Undispatched(ctx, host.Host, most)
		if err != nil {
			return nil, nil, err
		}
		held = d.held(host, all)
		if len(held) == 0 {
			return all[:min(len(all), room)], nil, nil
		}
		orders = slices.DeleteFunc(all, func(o bench.Order) bool { _, no := held[o.Run]; return no })
		if len(orders) >= room || trialsIn(all) < most || most > maxBacklog {
			return orders[:min(len(orders), room)], held, nil
		}
	}
}

// held says why the runs of orders wait for services of their host.
func (d *dispatcher) held(host bench.Beat, orders []bench.Order) map[string]string {
	why := make(map[string]string)
	for _, group := range orders {
		for _, o := range group.All() {
			need, lacks := unmet(needsOf(d.needs, []bench.Case{o.Case}), host.Services)
			if lacks && why[o.Run] == "" {
				why[o.Run] = fmt.Sprintf("host %s %s", host.Host, need.Unmet(host.Services))
			}
		}
	}
	return why
}

// trialsIn counts the trials of orders.
func trialsIn(orders []bench.Order) (n int) {
	for _, o := range orders {
		n += 1 + len(o.With)
	}
	return n
}
