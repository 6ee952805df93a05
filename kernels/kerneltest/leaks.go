package kerneltest

import (
	"fmt"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// How the leak checks look.
const (
	glance = 10 * time.Millisecond
	still  = 10 // glances without a change count as settled
)

// holdings is what the process holds at a moment.
type holdings struct {
	goroutines int
	files      int // open descriptors, or 0 where the platform cannot tell
}

// held counts what the process holds now.
func held() holdings {
	return holdings{goroutines: runtime.NumGoroutine(), files: openFiles()}
}

// settle waits until the holdings have stood still for a moment and returns them, so that
// what is just ending is not taken for something that stays.
func (s *suite) settle() holdings {
	h := held()
	deadline := time.Now().Add(s.grace)
	for same := 0; same < still && time.Now().Before(deadline); {
		time.Sleep(glance)
		now := held()
		if now == h {
			same++
			continue
		}
		h, same = now, 0
	}
	return h
}

// restored waits until the process holds no more than h and returns an error if that does
// not come about. The error shows every goroutine there is.
func (s *suite) restored(h holdings, when string) error {
	now := held()
	for deadline := time.Now().Add(s.grace); time.Now().Before(deadline); now = held() {
		if now.goroutines <= h.goroutines && now.files <= h.files {
			return nil
		}
		time.Sleep(glance)
	}
	if now.goroutines <= h.goroutines {
		return fmt.Errorf("%s %d file descriptors are open, %d before", when, now.files, h.files)
	}
	var stacks strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
		return fmt.Errorf("%s: write goroutines: %w", when, err)
	}
	return fmt.Errorf("%s %d goroutines run, %d before:\n%s", when, now.goroutines, h.goroutines, stacks.String())
}
