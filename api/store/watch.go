package store

import "sync"

// watchers wakes those who wait for a change by run, so that thousands of waiting clients
// cost nothing while other runs change. It wakes those who wait for a change that this process writes.
type watchers struct {
	mu   sync.Mutex
	any  chan struct{}
	runs map[string]map[chan struct{}]struct{}
}

// Changes gives a channel that is closed when this process next changes any run. Take it
// before reading what you wait for, so that no change falls in between.
func (s *Store) Changes() <-chan struct{} {
	w := &s.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.any == nil {
		w.any = make(chan struct{})
	}
	return w.any
}

// Watch gives a channel that receives after this process changed the run; several changes
// may come as one. Call stop when done. Changes by other processes show in Version only.
func (s *Store) Watch(runID string) (changed <-chan struct{}, stop func()) {
	w, ch := &s.watch, make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs == nil {
		w.runs = make(map[string]map[chan struct{}]struct{})
	}
	if w.runs[runID] == nil {
		w.runs[runID] = make(map[chan struct{}]struct{})
	}
	w.runs[runID][ch] = struct{}{}
	return ch, func() { w.remove(runID, ch) }
}

// remove forgets a watcher, and its run with the last one.
func (w *watchers) remove(runID string, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.runs[runID], ch)
	if len(w.runs[runID]) == 0 {
		delete(w.runs, runID)
	}
}

// wake tells the watchers of the runs. It never blocks: a watcher that was told and has not
// looked yet will see this change as well when it looks.
func (w *watchers) wake(runs []string) {
	if len(runs) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.any != nil {
		close(w.any)
		w.any = nil
	}
	for _, id := range runs {
		for ch := range w.runs[id] {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}
