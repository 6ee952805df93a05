package messaging

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"benchd/kernels"
)

// Refused tells that no broker has what the parameters ask for.
func Refused(p kernels.Params) bool {
	_, err := entryOf(p)
	return err != nil
}

// Embeds tells whether a broker runs in this process.
func Embeds(broker string) bool {
	for _, e := range table() {
		if e.name == broker {
			return e.embedded
		}
	}
	return false
}

// A Mailbox opens a mailbox to tests, with the number as the only content of a letter.
type Mailbox struct{ box *mailbox }

// NewMailbox makes a mailbox.
func NewMailbox() Mailbox { return Mailbox{newMailbox()} }

// Send puts a numbered letter in.
func (m Mailbox) Send(number uint64) { m.box.send(letter{number: number}) }

// Receive takes the oldest letter out and returns its number.
func (m Mailbox) Receive(ctx context.Context) (uint64, error) {
	l, err := m.box.receive(ctx)
	return l.number, err
}

// Waiting is the number of letters inside.
func (m Mailbox) Waiting() int { return m.box.waiting() }

// HasQueues tells whether a broker is driven by a driver.
func HasQueues(broker string) bool {
	for _, e := range oneWayTable() {
		if e.name == broker {
			return true
		}
	}
	return false
}

// A Queue opens the queue of a trial to tests.
type Queue struct {
	broker queueBroker
	at     place
	params kernels.Params
	remove func()
	// clients counts those that were connected.
	clients *atomic.Int64
}

// NewQueue makes a queue at a broker, which it starts if addr is empty.
func NewQueue(ctx context.Context, addr string, p kernels.Params) (Queue, error) {
	_, b, err := queueBrokerOf(p)
	if err != nil {
		return Queue{}, err
	}
	stop := func() {}
	if addr == "" {
		if addr, stop, err = b.start(ctx, p); err != nil {
			return Queue{}, err
		}
	}
	at, err := parsePlace(addr)
	if err != nil {
		stop()
		return Queue{}, err
	}
	at.queue, at.desks = unguessable(), 1
	remove, err := b.prepare(ctx, at, p)
	if err != nil {
		stop()
		return Queue{}, err
	}
	return Queue{b, at, p, func() { remove(); stop() }, &atomic.Int64{}}, nil
}

// Addr is the address of the queue.
func (q Queue) Addr() string { return q.at.String() }

// Via is the queue at another address.
func (q Queue) Via(addr string) Queue {
	at, err := parsePlace(addr)
	if err != nil {
		panic(err)
	}
	q.at = at
	return q
}

// Remove removes the queue.
func (q Queue) Remove() { q.remove() }

// Connect makes a wire of the service with a name, or without one that of a client.
func (q Queue) Connect(ctx context.Context, name string) (Wire, error) {
	r := role{serving: name != "", name: q.at.queue + "-" + name}
	if name == "" {
		r.name = ""
		r.lane = int(q.clients.Add(1) - 1)
	}
	w, err := q.broker.connect(ctx, q.at, q.params, r)
	return Wire{w}, err
}

// A Parcel is a message on a wire.
type Parcel struct {
	To, Reply string
	Number    uint64
	Body      []byte
	OneWay    bool
}

// A Wire opens a wire to tests.
type Wire struct{ w wire }

// Send sends a parcel.
func (w Wire) Send(ctx context.Context, p Parcel) error {
	return w.w.send(ctx, &parcel{to: p.To, number: p.Number, body: p.Body, oneWay: p.OneWay})
}

// Receive takes the next parcel.
func (w Wire) Receive(ctx context.Context) (Parcel, error) {
	p, err := w.w.receive(ctx)
	return Parcel{Reply: p.reply, Number: p.number, Body: p.body, OneWay: p.oneWay}, err
}

// Confirm waits for the confirms.
func (w Wire) Confirm(ctx context.Context) error { return w.w.confirm(ctx) }

// Close ends the wire.
func (w Wire) Close() error { return w.w.close() }

// A Ledger opens a ledger to tests.
type Ledger struct{ l *ledger }

// NewLedger makes a ledger.
func NewLedger() Ledger { return Ledger{&ledger{}} }

// Note enters a number.
func (l Ledger) Note(n uint64) string { return l.l.note(n) }

// Tally is what was counted.
func (l Ledger) Tally() (received, duplicate, reordered, lost uint64) {
	t := l.l.tally
	return t.received, t.duplicate, t.reordered, t.lost
}

// Left tells what of a trial is still at the broker that it was at, as far as a client can ask.
func Left(ctx context.Context, addr string, p kernels.Params) (string, error) {
	at, err := parsePlace(addr)
	if err != nil {
		return "", err
	}
	switch p.Word("broker") {
	case "redis", "redis-streams":
		return redisLeft(ctx, at)
	case "nats":
		return natsLeft(ctx, at)
	case "amqp091", "amqp10", "stomp":
		if p.Word("broker") == "stomp" {
			return "", nil // it has no way to ask
		}
		l, err := rabbitConnect(ctx, at)
		if err != nil {
			return "", err
		}
		defer func() { _ = l.close() }()
		if _, err := l.channel.QueueDeclarePassive(at.queue, false, false, false, false, nil); err == nil {
			return at.queue, nil
		}
	}
	return "", nil
}

func redisLeft(ctx context.Context, at place) (string, error) {
	l, err := redisConnect(ctx, at, endless)
	if err != nil {
		return "", err
	}
	defer func() { _ = l.close() }()
	keys, err := l.conn.Keys(ctx, at.queue+"*").Result()
	return strings.Join(keys, " "), err
}

func natsLeft(ctx context.Context, at place) (string, error) {
	l, err := natsConnect(ctx, at)
	if err != nil {
		return "", err
	}
	defer func() { _ = l.close() }()
	js, err := l.conn.JetStream()
	if err != nil {
		return "", err
	}
	if _, err := js.StreamInfo(at.queue); err == nil {
		return at.queue, nil
	}
	return "", nil
}

// A Place is what an address says.
type Place struct {
	HostPort, Queue, CA string
	Desks               int
	Secure, Fake        bool
}

// ReadPlace reads an address and writes it again.
func ReadPlace(addr string) (Place, string, error) {
	p, err := parsePlace(addr)
	if err != nil {
		return Place{}, "", err
	}
	return Place{HostPort: p.hostPort(), Queue: p.queue, CA: p.ca, Desks: p.desks, Secure: p.secure(), Fake: p.fake}, p.String(), nil
}

// SweepStreams sweeps the NATS server at an address as if it were later.
func SweepStreams(ctx context.Context, addr string, later time.Duration) error {
	at, err := parsePlace(addr)
	if err != nil {
		return err
	}
	l, err := natsConnect(ctx, at)
	if err != nil {
		return err
	}
	defer func() { _ = l.close() }()
	js, err := l.conn.JetStream()
	if err == nil {
		sweepStreams(ctx, js, time.Now().Add(later))
	}
	return err
}
