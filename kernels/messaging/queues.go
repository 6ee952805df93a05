package messaging

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"

	"benchd/kernels"
)

// queueBroker is a broker with queues, made of what speaks its protocol.
type queueBroker struct {
	driver
	pool *pool
}

var _ broker = queueBroker{}

// absence is how long the service tries to come back to a broker that is gone.
const absence = time.Minute

// A handler does what the service does with one message that came over a wire.
type handler func(ctx context.Context, w wire, p *parcel) error

// echo is the handler that sends the reply back which the service makes.
func echo(answer service) handler {
	return func(ctx context.Context, w wire, p *parcel) error {
		return w.send(ctx, &parcel{to: p.reply, number: p.number, body: answer(p.body)})
	}
}

// respond runs as many services as can work at one time, each on a connection of its own.
func (b queueBroker) respond(ctx context.Context, addr string, p kernels.Params, newService func() service, ready func(string)) error {
	n := min(max(1, p.Int("clients")), runtime.GOMAXPROCS(0))
	return b.serve(ctx, addr, p, n, func() handler { return echo(newService()) }, ready)
}

// serve makes the queue of the trial and lets n handlers work on what comes to it, until the
// context is done. Then nothing of the trial is left at the broker.
func (b queueBroker) serve(ctx context.Context, addr string, p kernels.Params, n int, newHandler func() handler, ready func(string)) error {
	at, err := parsePlace(addr)
	if err != nil {
		return err
	}
	at.queue, at.desks = unguessable(), n
	remove, err := b.prepare(ctx, at, p)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil // told to end before it was ready
	case err != nil:
		return fmt.Errorf("make the queue of the trial: %w", err)
	}
	defer remove()
	desks, err := b.open(ctx, at, p, n)
	if err == nil && ctx.Err() == nil {
		ready(at.String())
		err = b.work(ctx, desks, newHandler)
	}
	for _, d := range desks {
		err = errors.Join(err, d.close())
	}
	if ctx.Err() != nil {
		return nil // what ended it is the end that was asked for
	}
	return err
}

// open connects n desks of the service.
func (b queueBroker) open(ctx context.Context, at place, p kernels.Params, n int) ([]*desk, error) {
	var desks []*desk
	for i := range n {
		r := role{serving: true, lane: i, name: at.queue + "-" + strconv.Itoa(i), answered: make(map[string]bool)}
		w, err := b.connect(ctx, at, p, r)
		if err != nil {
			return desks, fmt.Errorf("connect the service: %w", err)
		}
		desks = append(desks, &desk{broker: b, at: at, params: p, role: r, wire: w})
	}
	return desks, nil
}

// work lets every desk work until the context is done or one of them has to give up.
func (b queueBroker) work(ctx context.Context, desks []*desk, newHandler func() handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(desks))
	var all sync.WaitGroup
	for i, d := range desks {
		all.Go(func() {
			errs[i] = d.work(ctx, newHandler())
			cancel()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// A desk is one of the service's places of work: a wire over all its losses.
type desk struct {
	broker  queueBroker
	at      place
	params  kernels.Params
	role    role
	wire    wire
	backoff backoff
}

// work handles what comes until the context is done, which is its orderly end. A connection
// that is lost is made again, and the queue too.
func (d *desk) work(ctx context.Context, handle handler) error {
	for {
		p, err := d.wire.receive(ctx)
		switch {
		case err == nil:
			d.backoff.succeeded()
			if err = handle(ctx, d.wire, &p); survives(err) {
				continue // what failed is the message's affair
			}
		case class(err) == malformed:
			continue // no message of ours
		}
		if ctx.Err() != nil {
			return nil
		}
		if err = d.again(ctx, err); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// again comes back to the broker, for as long as that may take.
func (d *desk) again(ctx context.Context, why error) error {
	_ = d.wire.close() // what was wrong with it is known
	for until := time.Now().Add(absence); time.Now().Before(until); {
		if d.backoff.wait(ctx) != nil {
			return nil
		}
		d.backoff.failed() // until a message has come
		_, err := d.broker.prepare(ctx, d.at, d.params)
		if err == nil {
			var w wire
			if w, err = d.broker.connect(ctx, d.at, d.params, d.role); err == nil {
				d.wire = w
				return nil
			}
		}
		why = err
	}
	return fmt.Errorf("the service could not come back to its broker within %s: %w", absence, why)
}

// close ends the desk's connection.
func (d *desk) close() error { return d.wire.close() }

// dial connects one lane, with a connection of its own or over that of all lanes.
func (b queueBroker) dial(ctx context.Context, addr string, p kernels.Params) (conn, error) {
	l, err := b.lane(ctx, addr, p, false)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// lane is dial, for whoever does more with a lane than round trips.
func (b queueBroker) lane(ctx context.Context, addr string, p kernels.Params, oneWay bool) (*lane, error) {
	at, err := parsePlace(addr)
	if err != nil {
		return nil, err
	}
	if at.queue == "" {
		return nil, fmt.Errorf("the address of the broker at %s names no queue: the service that answers writes it behind a #", at.url.Host)
	}
	connect := func(ctx context.Context) (wire, error) {
		return b.connect(ctx, at, p, role{lane: p.Int(kernels.Lane)})
	}
	if p.Word("connections") == shared {
		connect = func(ctx context.Context) (wire, error) {
			return b.pool.join(ctx, addr, func(ctx context.Context) (wire, error) {
				return b.connect(ctx, at, p, role{shared: true, lane: p.Int(kernels.Lane)})
			})
		}
	}
	return newLane(ctx, oneWay, connect)
}
