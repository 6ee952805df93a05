package messaging

import (
	"context"
	"sync"
)

// The ways in which lanes are connected.
const (
	own    = "own"
	shared = "shared"
)

// A pool keeps, of each trial in this process, the one wire that its lanes share.
type pool struct {
	mu     sync.Mutex
	trunks map[string]*trunk // by the address, in which the trial's queue is named
	nodes  erlangNodes
}

func newPool() *pool { return &pool{trunks: make(map[string]*trunk)} }

// join returns a branch of the shared wire to an address, which it connects if it is not
// there or was lost. The last branch that is closed closes the wire.
func (p *pool) join(ctx context.Context, addr string, connect func(context.Context) (wire, error)) (wire, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.trunks[addr]
	if t == nil || t.isLost() {
		w, err := connect(ctx)
		if err != nil {
			return nil, err
		}
		t = newTrunk(context.WithoutCancel(ctx), w)
		p.trunks[addr] = t
	}
	b := t.branch()
	b.leave = func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !t.prune(b) {
			return nil
		}
		if p.trunks[addr] == t {
			delete(p.trunks, addr)
		}
		return t.end()
	}
	return b, nil
}

// A trunk is a wire with several lanes on it. One goroutine receives and hands every reply
// to the lane whose number it bears.
type trunk struct {
	wire    wire
	sending sync.Mutex
	cancel  context.CancelFunc
	ended   chan struct{}
	lost    chan struct{}
	why     error // set before lost is closed

	mu       sync.Mutex
	branches map[uint64]*branch
	made     uint64
}

// laneBits is how far up in a number the lane's own stands.
const laneBits = 40

func newTrunk(ctx context.Context, w wire) *trunk {
	ctx, cancel := context.WithCancel(ctx)
	t := &trunk{wire: w, cancel: cancel, ended: make(chan struct{}), lost: make(chan struct{}), branches: make(map[uint64]*branch)}
	go func() {
		defer close(t.ended)
		t.receive(ctx)
	}()
	return t
}

// receive hands out replies until the wire is lost or the trunk ends.
func (t *trunk) receive(ctx context.Context) {
	for {
		p, err := t.wire.receive(ctx)
		if !survives(err) {
			t.why = err
			close(t.lost)
			return
		}
		t.mu.Lock()
		b := t.branches[p.number>>laneBits]
		t.mu.Unlock()
		if b == nil {
			continue // the lane has gone meanwhile
		}
		p.number &= 1<<laneBits - 1
		select {
		case b.in <- delivery{p, err}:
		case <-b.gone:
		}
	}
}

func (t *trunk) isLost() bool {
	select {
	case <-t.lost:
		return true
	default:
		return false
	}
}

// branch makes a lane's share of the wire.
func (t *trunk) branch() *branch {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	b := &branch{trunk: t, id: t.made, in: make(chan delivery, 1), gone: make(chan struct{})}
	t.branches[b.id] = b
	return b
}

// prune takes a branch off and tells whether it was the last.
func (t *trunk) prune(b *branch) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.branches, b.id)
	return len(t.branches) == 0
}

// end stops the receiving goroutine and closes the wire.
func (t *trunk) end() error {
	t.cancel()
	<-t.ended
	return t.wire.close()
}

// A delivery is what a call of receive returned.
type delivery struct {
	parcel
	err error
}

// A branch is a lane's share of a wire.
type branch struct {
	*trunk
	id    uint64
	in    chan delivery
	gone  chan struct{}
	leave func() error
	once  sync.Once
}

var _ wire = (*branch)(nil)

// send sends with the lane's number above the message's, one lane at a time.
func (b *branch) send(ctx context.Context, p *parcel) error {
	p.number |= b.id << laneBits
	b.sending.Lock()
	defer b.sending.Unlock()
	return b.wire.send(ctx, p)
}

// receive waits for a message of this lane's.
func (b *branch) receive(ctx context.Context) (parcel, error) {
	select {
	case d := <-b.in:
		return d.parcel, d.err
	case <-b.lost:
		return parcel{}, lostBy(b.why)
	case <-ctx.Done():
		return parcel{}, ctx.Err()
	}
}

// confirm waits for the confirms of all lanes.
func (b *branch) confirm(ctx context.Context) error {
	b.sending.Lock()
	defer b.sending.Unlock()
	return b.wire.confirm(ctx)
}

// close leaves the wire to the others; a second call does nothing.
func (b *branch) close() error {
	var err error
	b.once.Do(func() {
		close(b.gone)
		err = b.leave()
	})
	return err
}

// describe tells what the wire tells.
func (b *branch) describe(oneWay bool) map[string]string {
	if d, ok := b.wire.(wireDescriber); ok {
		return d.describe(oneWay)
	}
	return nil
}
