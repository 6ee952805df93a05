package soap

import (
	"runtime"
	"sync"

	"benchd/kernels/envelope"
)

// A shelf holds exchanges that no call needs at the moment. Some for each CPU stay on it for
// good and are taken in turn, the last that was given first: so one lane always meets the same
// one. The rest, of which there may be thousands, are in a pool and go with time, unless they
// grew large: those go at once. A pool alone would hold one for each CPU that a lane came to
// run on, and large messages as many times.
type shelf struct {
	most int64 // bytes of the budget that may be on it

	mu   sync.Mutex
	kept []*exchange // no more than it has room for
	held int64       // bytes of the budget that they hold
	pool sync.Pool   // of *exchange that hold none
}

// keptEach is how many exchanges are kept for each CPU.
const keptEach = 4

func newShelf(model envelope.Model, shared *budget) (*shelf, error) {
	first, err := newExchange(model, shared)
	if err != nil {
		return nil, err
	}
	s := &shelf{most: shared.all / 2, kept: make([]*exchange, 0, keptEach*runtime.GOMAXPROCS(0))}
	s.give(first)
	s.pool.New = func() any {
		x, err := newExchange(model, shared)
		if err != nil {
			return nil // cannot be: one was made above
		}
		return x
	}
	return s, nil
}

func (s *shelf) take() *exchange {
	if x := s.last(); x != nil {
		return x
	}
	x, _ := s.pool.Get().(*exchange)
	return x
}

// last takes the exchange that was given last, or nil if none is left.
func (s *shelf) last() *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.kept)
	if n == 0 {
		return nil
	}
	x := s.kept[n-1]
	s.kept[n-1] = nil
	s.kept = s.kept[:n-1]
	s.held -= x.held
	return x
}

// give takes an exchange back. One that grew large finds a place on the shelf or is let go.
func (s *shelf) give(x *exchange) {
	switch {
	case !x.settle():
	case s.keep(x):
	case x.held > 0:
		x.drop()
	default:
		s.pool.Put(x)
	}
}

// keep puts an exchange on the shelf and tells whether there was room.
func (s *shelf) keep(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) == cap(s.kept) || s.held+x.held > s.most {
		return false
	}
	s.kept = append(s.kept, x)
	s.held += x.held
	return true
}
