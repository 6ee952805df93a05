package collect

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"benchd/worker/bench"
)

// A trialQueue is the store's side of dispatching.
type trialQueue interface {
	// Undispatched gives the next orders of a host.
	Undispatched(ctx context.Context, host string, most int) ([]bench.Order, error)
	// MarkDispatched claims orders and gives those that shall go to the queue.
	MarkDispatched(ctx context.Context, orders []bench.Order) ([]bench.Order, error)
	// Dispatched gives the orders that are out and not reported as started.
	Dispatched(ctx context.Context) ([]bench.Order, error)
	// SetReason says why a run waits.
	SetReason(ctx context.Context, runID, reason string) error
}

// An orderSender puts orders into the queue of their host.
type orderSender interface {
	Enqueue(ctx context.Context, o bench.Order) error
}

// A hostLister tells the hosts that were ever seen.
type hostLister interface {
	Hosts(ctx context.Context) ([]bench.Host, error)
}

// The dispatcher gives runs a host and sends their trials to it, in order, a window at a
// time. It sends nothing to a host that is not live: what is not sent can be canceled at once.
type dispatcher struct {
	trials   trialQueue
	signals  signals
	orders   orderSender
	hosts    hostLister
	assigner *assigner
	link     *link
	logger   *slog.Logger
	needs    func(bench.Case) []bench.Need // nil: no case needs a service
	times    Times
	wake     chan struct{}

	swept bool // a pass was completed: reasons that another process left are cleared
	// reasons are why runs wait, as written by this process, by host and run.
	reasons map[string]map[string]string
}

func (d *dispatcher) start(ctx context.Context, wg *sync.WaitGroup) {
	loop{name: "dispatching", pass: d.pass, tick: d.times.Tick, gap: d.times.Gap, wake: d.wake, logger: d.logger}.start(ctx, wg)
}

func (d *dispatcher) pass(ctx context.Context) error {
	if _, err := d.link.contact(ctx); err != nil {
		return err
	}
	beats, err := d.signals.Beats(ctx)
	if err != nil {
		return err
	}
	out, err := d.trials.Dispatched(ctx)
	if err != nil {
		return err
	}
	sent := make(map[string]int)
	for _, o := range out {
		sent[o.Host]++
	}
	if err := d.assigner.pass(ctx, beats, sent); err != nil {
		return err
	}
	known, err := d.hosts.Hosts(ctx)
	if err != nil {
		return err
	}
	live := byHost(beats)
	for name, beat := range live {
		if err := d.send(ctx, beat, d.times.Window-sent[name]); err != nil {
			return err
		}
	}
	for _, h := range known {
		if _, ok := live[h.Name]; !ok {
			if err := d.explain(ctx, h); err != nil {
				return err
			}
		}
	}
	d.swept = true
	return nil
}

// send fills a host's window. Orders are marked first: one that is then kept from the queue,
// by a crash or by Redis, is found missing by the reconciler.
func (d *dispatcher) send(ctx context.Context, beat bench.Beat, room int) error {
	if room <= 0 {
		return nil
	}
	host := beat.Host
	orders, held, err := d.sendable(ctx, beat, room)
	if err != nil {
		return err
	}
	if len(orders) == 0 && len(held) == 0 {
		delete(d.reasons, host)
		return nil
	}
	if err := d.tell(ctx, host, held); err != nil || len(orders) == 0 {
		return err
	}
	orders, err = d.trials.MarkDispatched(ctx, orders)
	if err != nil {
		return err
	}
	for _, o := range orders {
		if err := d.enqueue(ctx, o); err != nil {
			return err
		}
	}
	for _, run := range runsOf(orders) {
		if _, explained := d.reasons[host][run]; !explained && d.swept {
			continue
		}
		if err := d.trials.SetReason(ctx, run, ""); err != nil {
			return err
		}
		delete(d.reasons[host], run)
	}
	return nil
}

// tell writes down why runs wait for a host, where that is not what was written before.
func (d *dispatcher) tell(ctx context.Context, host string, why map[string]string) error {
	for run, reason := range why {
		if d.reasons[host][run] == reason {
			continue
		}
		if err := d.trials.SetReason(ctx, run, reason); err != nil {
			return err
		}
		if d.reasons[host] == nil {
			d.reasons[host] = make(map[string]string)
		}
		d.reasons[host][run] = reason
	}
	return nil
}

// enqueue puts an order into the queue, and after it those that it carries: whoever takes
// the first takes them all, and finds the others started when they come. Should the first
// one be lost, each of them stands for itself.
func (d *dispatcher) enqueue(ctx context.Context, o bench.Order) error {
	if err := d.orders.Enqueue(ctx, o); err != nil {
		return err
	}
	for _, carried := range o.With {
		if err := d.orders.Enqueue(ctx, carried); err != nil {
			return err
		}
	}
	return nil
}

// explain tells the runs that wait for a host which is not live.
func (d *dispatcher) explain(ctx context.Context, h bench.Host) error {
	orders, err := d.trials.Undispatched(ctx, h.Name, d.times.Window)
	if err != nil {
		return err
	}
	reason := fmt.Sprintf("host %s has sent no heartbeat since %s", h.Name, h.LastSeen.UTC().Format(time.RFC3339))
	before, now := d.reasons[h.Name], make(map[string]string)
	for _, run := range runsOf(orders) {
		if before[run] != reason {
			if err := d.trials.SetReason(ctx, run, reason); err != nil {
				return err
			}
		}
		now[run] = reason
	}
	d.reasons[h.Name] = now
	return nil
}

// runsOf lists the runs of orders, each once.
func runsOf(orders []bench.Order) []string {
	var runs []string
	for _, o := range orders {
		if len(runs) == 0 || runs[len(runs)-1] != o.Run {
			runs = append(runs, o.Run)
		}
	}
	return runs
}
