package soap

import (
	"runtime"
	"sync"

	"benchd/kernels/envelope"
)

// A shelf holds exchanges that no call needs at the moment. As many as there are CPUs stay on
// it for good and are taken in turn, the last that was given first: so one lane always meets
// the same one. The rest, of which there may be thousands, are in a pool and go with time. A
// pool alone would hold one for each CPU that a lane came to run on, and large messages as
// many times.
type shelf struct {
	mu   sync.Mutex
	kept []*exchange // no more than it has room for
	pool sync.Pool   // of *exchange
}

func newShelf(model envelope.Model) (*shelf, error) {
	first, err := newExchange(model)
	if err != nil {
		return nil, err
	}
	s := &shelf{kept: make([]*exchange, 0, runtime.GOMAXPROCS(0))}
	s.give(first)
	s.pool.New = func() any {
		x, err := newExchange(model)
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
	s.kept = s.kept[:n-1]
	return x
}

func (s *shelf) give(x *exchange) {
	if !s.keep(x) {
		s.pool.Put(x)
	}
}

// keep puts an exchange on the shelf and tells whether there was room.
func (s *shelf) keep(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) == cap(s.kept) {
		return false
	}
	s.kept = append(s.kept, x)
	return true
}
