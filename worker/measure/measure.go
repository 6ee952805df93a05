// Package measure is the clock: it opens a kernel's lanes, checks the answer, calibrates,
// warms up, measures equal slices and checks again. It runs inside a fork, the fresh child
// process in which a trial is measured, and is the only place where operations are timed.
//
// # How a slice is timed
//
// Every lane is a goroutine with a Trial of its own. All lanes start a slice together and
// each works until the slice's time is over, finishing the operation it is in:
//
//	lane 1  |--op--|--op--|--op--|--op--|      ops₁ / elapsed₁
//	lane 2  |----op----|----op----|----op----| ops₂ / elapsed₂
//	        start                 start+slice
//
// The sample of the slice is the sum of the lanes' own rates, opsᵢ / elapsedᵢ, so that the
// operation which crosses the end of the slice is neither cut nor counted twice.
//
// A slice of a plan with operations ends for each lane after that number of them, and a failed
// one counts as done, so that the slice ends.
//
// # Ramps
//
// With a ramp the lanes begin a few at a time. Those of a step are opened, and do their first
// operation, before its first slice and outside of measured time:
//
//	lane 1  | slice | slice |    | slice | slice |
//	lane 2                  |open| slice | slice |
//	            step 1                step 2
//
// # What counts
//
// With a fixed warm-up the slices after it count. With warm-up "auto" the slices after the
// last change of their mean or variance do (package steady). What does not count is kept
// apart with its own latencies.
package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/host"
)

// A Meter reads the CPU time used so far by this process, its server and the host.
type Meter interface {
	Read() host.Reading
	Reasons() map[string]string
}

// A Fork says what one fresh process measures.
type Fork struct {
	Kernel kernels.Kernel
	Params kernels.Params
	Plan   bench.Plan
	Meter  Meter
	// CPUs are those of this process; several lanes take one each in turn. Empty means that
	// lanes run wherever the system puts them.
	CPUs []int
	// Sleeper makes what a lane at a rate sleeps with; nil means a timer of the system.
	Sleeper func() (Sleeper, error)
	// Progress is called after each slice with the phase's name, the number of slices done,
	// how many there are, and the last sample.
	Progress func(phase string, slice, slices int, sample float64)
	// Doing is called with what the fork does next, but for the slices that Progress tells of,
	// and with the operations that failed so far, nil for none. It is called anew when they are
	// more.
	Doing func(what string, failed *bench.Failures)
}

// A Record is what a fork measured.
type Record struct {
	Fork   bench.Fork
	Work   kernels.Work
	Times  *Times // nil where operations are timed in batches
	Warmup *Times // of the operations that do not count; nil when there were none, or as above
	Steps  []Step // of a ramp, in the order in which they were measured; none without one
	// Unchecked says why it is not known whether the last answers were right; empty if it is.
	Unchecked string
	// Settings are what the first lane told of the other side; nil where it tells nothing.
	Settings map[string]string
}

// A Step is what a fork measured at one number of lanes, beside the samples and slices that its
// Fork has.
type Step struct {
	Lanes    int           `json:"lanes"`
	Elapsed  time.Duration `json:"elapsed_ns"` // of its slices, each as long as its slowest lane
	CPU      bench.CPU     `json:"cpu"`
	Failures int64         `json:"failures"`
	Times    *Times        `json:"times,omitempty"` // nil where operations are timed in batches
}

// ErrCheck wraps the reason of a kernel whose answer is wrong.
var ErrCheck = errors.New("the answer is wrong")

// ErrNothing tells that no operation of the fork succeeded.
var ErrNothing = errors.New("no operation succeeded")

// A FailedError is ErrNothing with the count of what failed.
type FailedError struct {
	Failures bench.Failures
	Err      error
}

// Error gives the cause.
func (e *FailedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// Run measures one fork. The error tells why there is no record: Open failed, the answer
// was wrong (ErrCheck), no operation succeeded (ErrNothing), or ctx ended.
func (f Fork) Run(ctx context.Context) (rec Record, err error) {
	s := &session{Fork: f, info: f.Kernel.Info()}
	s.most = bench.LanesOf(s.info, f.Params)
	defer func() { err = errors.Join(s.counted(err), s.close()) }()
	if err := s.grow(ctx, f.Plan.LanesAt(1, s.most)); err != nil {
		return Record{}, err
	}
	if err := s.calibrate(ctx); err != nil {
		return Record{}, err
	}
	warm, err := s.phase(ctx, phase{name: "warmup", slices: f.Plan.WarmupSlices(), of: f.Plan.WarmupSlices(), length: span{time: f.Plan.Slice.Std()}})
	if err != nil {
		return Record{}, err
	}
	measured, err := s.measure(ctx)
	if err != nil {
		return Record{}, err
	}
	unchecked, err := s.recheck()
	if err != nil {
		return Record{}, err
	}
	rec, err = s.record(warm, measured)
	rec.Unchecked = unchecked
	return rec, err
}

// measure measures the slices of each step, which is one without a ramp.
func (s *session) measure(ctx context.Context) (done []slice, err error) {
	steps, each := s.Plan.Steps(s.most), s.Plan.MeasuredSlices()
	length := span{time: s.Plan.Slice.Std(), operations: s.Plan.Operations}
	for step := range steps {
		if err := s.grow(ctx, s.Plan.LanesAt(step+1, s.most)); err != nil {
			return nil, err
		}
		runtime.GC()
		list, err := s.phase(ctx, phase{name: "measure", done: len(done), slices: each, of: steps * each, length: length})
		if err != nil {
			return nil, err
		}
		done = append(done, list...)
	}
	return done, nil
}

// A session is a fork at work.
type session struct {
	Fork
	info  kernels.Info
	most  int // lanes, when all have begun
	lanes []*lane
	times *times    // of all lanes; nil where operations are timed in batches
	batch int       // operations per clock reading
	began time.Time // when the first operation began
	said  string    // what the fork does
	told  int64     // operations that failed, when it was told
}

// grow opens lanes until there are n, performs each new one's first operation, and asks whether
// its answer is right.
func (s *session) grow(ctx context.Context, n int) error {
	old := len(s.lanes)
	for i := old; i < n; i++ {
		if err := s.open(ctx, i); err != nil {
			return err
		}
	}
	return s.check(s.lanes[old:])
}

// open makes lane i ready and performs its first operation.
func (s *session) open(ctx context.Context, i int) error {
	s.doing("the opening of lane %d of %d", i+1, s.most)
	trial, err := s.Kernel.Open(ctx, s.Params.With(kernels.Lane, strconv.Itoa(i)))
	if err != nil {
		return fmt.Errorf("open lane %d of %d: %w", i+1, s.most, err)
	}
	l, err := s.newLane(trial, i, s.most)
	s.lanes = append(s.lanes, l)
	if err != nil {
		return fmt.Errorf("pace lane %d of %d: %w", i+1, s.most, err)
	}
	if i == 0 {
		s.began = time.Now().UTC()
	}
	s.doing("the first operation of lane %d of %d", i+1, s.most)
	if err := trial.Do(ctx, 1); err != nil {
		return fmt.Errorf("first operation of lane %d of %d: %w", i+1, s.most, err)
	}
	return nil
}

// newLane makes lane i of n.
func (s *session) newLane(trial kernels.Trial, i, n int) (*lane, error) {
	l := &lane{number: i + 1, trial: trial, failures: bench.Failures{Classes: map[string]int64{}}}
	rate := 0
	if s.info.Rate != "" {
		rate = s.Params.Int(s.info.Rate)
	}
	if rate > 0 {
		sleeper, err := s.sleeper()
		if err != nil {
			return l, err
		}
		l.pace = newSchedule(rate, i, n, sleeper)
	}
	if !s.info.Batched {
		l.times = newTimes(rate > 0)
		if s.times == nil {
			s.times = newTimes(rate > 0)
		}
	}
	return l, nil
}

func (s *session) sleeper() (Sleeper, error) {
	if s.Sleeper != nil {
		return s.Sleeper()
	}
	return host.NewSleeper()
}

func (s *session) close() error {
	var errs []error
	for _, l := range s.lanes {
		errs = append(errs, l.trial.Close())
		if l.pace != nil {
			errs = append(errs, l.pace.sleeper.Close())
		}
	}
	return errors.Join(errs...)
}

// calibrate finds how many operations of a batched kernel go between two readings of the
// clock: enough that reading it costs nothing, few enough that a slice ends on time.
func (s *session) calibrate(ctx context.Context) error {
	s.batch = 1
	if !s.info.Batched {
		return nil
	}
	goal := min(s.Plan.Slice.Std()/20, 5*time.Millisecond)
	for s.batch < 1<<30 {
		s.doing("the calibration with batches of %d", s.batch)
		start := time.Now()
		if err := s.lanes[0].trial.Do(ctx, s.batch); err != nil {
			return fmt.Errorf("calibrate: %w", err)
		}
		took := time.Since(start)
		if took >= goal {
			return nil
		}
		s.batch *= 2
	}
	return nil
}

// unit is the factor from operations per second to the score's unit.
func (s *session) unit() float64 {
	if c, ok := s.lanes[0].trial.(kernels.Counter); ok && s.info.Unit == "Mflop/s" {
		return c.Count().Flops / 1e6
	}
	return 1
}

// A phase is a number of slices of one length.
type phase struct {
	name     string
	done, of int // slices of phases of this name before it, and in all of them
	slices   int
	length   span
}

// phase measures slices, one after another.
func (s *session) phase(ctx context.Context, p phase) ([]slice, error) {
	factor := s.unit()
	done := make([]slice, 0, p.slices)
	for i := range p.slices {
		if i == 0 { // of the others Progress tells
			s.doing("%s", SliceOf(p.name, p.done+1, p.of))
		}
		sl, err := s.slice(ctx, p.length)
		if err != nil {
			return nil, err
		}
		sl.sample *= factor
		// Where the samples decide which slices count, each slice's latencies are kept apart.
		if s.Plan.Warmup.Auto() || i == p.slices-1 {
			if sl.times, err = s.collect(); err != nil {
				return nil, err
			}
		}
		done = append(done, sl)
		if s.Doing != nil && s.failed() > s.told {
			s.tell()
		}
		if s.Progress != nil {
			s.Progress(p.name, p.done+i+1, p.of, sl.sample)
		}
	}
	return done, nil
}
