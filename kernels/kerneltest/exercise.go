package kerneltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"benchd/kernels"
)

// exercise uses the kernel twice against one counterpart. The first round lets both sides
// start what they keep; whatever the second round adds, with the counterpart still up, is a
// leak of the trials, and whatever is left at the end is a leak of the counterpart.
func (s *suite) exercise(p kernels.Params) error {
	s.opened = nil
	before := s.settle()
	err := s.served(p, func(p kernels.Params) error {
		if err := s.use(p, s.operations); err != nil {
			return err
		}
		kept := s.settle()
		if err := s.use(p, s.operations); err != nil {
			return err
		}
		return s.restored(kept, "after every trial was closed")
	})
	if err != nil {
		return err
	}
	return s.restored(before, "after everything was closed")
}

// use opens the lanes of a case at once, uses each from a goroutine of its own and closes
// all of them.
func (s *suite) use(p kernels.Params, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var trials []kernels.Trial
	var errs []error
	for i := range s.lanes(p) {
		t, err := s.open(ctx, p)
		if err != nil {
			errs = append(errs, fmt.Errorf("lane %d: %w", i, err))
			break
		}
		trials = append(trials, t)
	}
	s.opened = append(s.opened, trials...)
	if len(errs) == 0 {
		errs = append(errs, s.together(ctx, trials, n))
	}
	for i, t := range trials {
		if err := prompt("Close", t.Close); err != nil {
			errs = append(errs, fmt.Errorf("lane %d: %w", i, err))
		}
	}
	for _, t := range trials {
		// The second answer is the kernel's own business; only a panic or a hang is wrong.
		errs = append(errs, finishes("a second Close", func() { _ = t.Close() }))
	}
	return errors.Join(errs...)
}

// together runs one lane a goroutine and waits for all of them.
func (s *suite) together(ctx context.Context, trials []kernels.Trial, n int) error {
	done := make(chan error, len(trials))
	for i, t := range trials {
		go func() {
			if err := s.lane(ctx, t, n); err != nil {
				done <- fmt.Errorf("lane %d: %w", i, err)
				return
			}
			done <- nil
		}()
	}
	var errs []error
	for range trials {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

// lane does with one trial what the harness does: one operation, a check, more operations,
// a check again.
func (s *suite) lane(ctx context.Context, t kernels.Trial, n int) error {
	for _, n := range []int{1, n} {
		if err := prompt(fmt.Sprintf("Do(%d)", n), func() error { return t.Do(ctx, n) }); err != nil {
			return err
		}
		if c, ok := t.(kernels.Checker); ok {
			if err := prompt("Check", c.Check); err != nil {
				return err
			}
		}
	}
	return s.counted(t)
}

// counted checks that a trial counts its work in what its kernel's unit promises.
func (s *suite) counted(t kernels.Trial) error {
	c, ok := t.(kernels.Counter)
	switch {
	case s.info.Unit == "Mflop/s" && !ok:
		return errors.New("the unit is Mflop/s but the trial is not a Counter")
	case s.info.Unit == "Mflop/s" && c.Count().Flops <= 0:
		return errors.New("the unit is Mflop/s but the trial counts no flops")
	case ok && (c.Count().Flops < 0 || c.Count().Bytes < 0):
		return fmt.Errorf("the trial counts negative work: %+v", c.Count())
	}
	return nil
}

// open opens one trial, within bounds of time.
func (s *suite) open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	var t kernels.Trial
	err := prompt("Open", func() error {
		var err error
		t, err = s.kernel.Open(ctx, p)
		return err
	})
	if err == nil && t == nil {
		err = errors.New("a call of Open returned neither a trial nor an error")
	}
	return t, err
}

// canceled checks that Do minds its context, both one that was done before and one that
// ends while Do is at work.
func (s *suite) canceled() error {
	return s.served(s.info.Defaults(), func(p kernels.Params) error {
		return errors.Join(s.interrupted(p, 0), s.interrupted(p, 20*time.Millisecond))
	})
}

// interrupted starts endless operations under a context that ends after the given time.
func (s *suite) interrupted(p kernels.Params, after time.Duration) error {
	t, err := s.open(context.Background(), p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	var failed error
	err = finishes("a call of Do under a context that has ended", func() { failed = t.Do(ctx, endless) })
	if err == nil && failed == nil && after == 0 {
		err = errors.New("a call of Do under a context that had ended returned no error")
	}
	return errors.Join(err, prompt("Close", t.Close))
}

// prompt calls f and returns its error, or another if it hangs.
func prompt(what string, f func() error) error {
	var err error
	if hang := finishes(what, func() { err = f() }); hang != nil {
		return hang
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// finishes calls f in a goroutine and waits for its end, but not for ever.
func finishes(what string, f func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s had not returned after %v", what, patience)
	}
}
