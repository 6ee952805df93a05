package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"benchd/kernels"
	"benchd/worker/bench"
)

// maxRow is the number of failures in a row after which a lane gives up: a service that
// answers nothing but errors is not measured at full speed for minutes.
const maxRow = 1000

// A lane is one client working in its own loop.
type lane struct {
	number  int // counted from 1
	trial   kernels.Trial
	times   *times        // nil where operations are timed in batches
	pace    *schedule     // nil where operations follow one another as fast as they go
	ops     int64         // of the slice
	tried   int           // of the slice, with those that failed
	elapsed time.Duration // of the slice

	row      int // failures since the last success
	failures bench.Failures
	fatal    error
}

// A span is the length of a slice: a time, or a number of operations of each lane.
type span struct {
	time       time.Duration
	operations int // 0 where the time counts
}

// over tells whether a lane's slice is. A slice of operations may be long whatever the kernel
// does with its context, so that the lane looks after that itself.
func (s span) over(ctx context.Context, l *lane) bool {
	if s.operations > 0 {
		return l.tried >= s.operations || ctx.Err() != nil
	}
	return l.elapsed >= s.time
}

// next is the size of a lane's next batch: the last one of a number of operations holds what is
// left of them.
func (s span) next(l *lane, batch int) int {
	if s.operations > 0 {
		return min(batch, s.operations-l.tried)
	}
	return batch
}

// run works for one slice. The end of one operation is the start of the next, so that the
// latencies of a slice add up to its elapsed time and hide nothing.
func (l *lane) run(ctx context.Context, length span, batch int) {
	l.ops, l.tried, l.elapsed = 0, 0, 0
	start := time.Now()
	last := time.Duration(0)
	for !length.over(ctx, l) && l.fatal == nil {
		n := length.next(l, batch)
		err := l.trial.Do(ctx, n)
		l.tried += n
		l.elapsed = time.Since(start)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			l.fail(err)
		} else {
			l.ops += int64(n)
			l.row = 0
			l.times.add(l.elapsed-last, l.elapsed-last)
		}
		last = l.elapsed
	}
	l.elapsed = max(l.elapsed, 1) // a clock of large steps may not see a few operations pass
}

// count counts an operation that failed.
func (l *lane) count(err error) {
	if l.failures.Count == 0 {
		l.failures.Sample = err.Error()
	}
	l.failures.Count++
	l.failures.Classes[Class(err)]++
}

// fail counts an operation of a slice that failed, and gives the lane up after too many.
func (l *lane) fail(err error) {
	l.count(err)
	if l.row++; l.row >= maxRow {
		l.fatal = fmt.Errorf("%w in a row of %d; the last: %w", ErrNothing, l.row, err)
	}
}

// Class names the kind of an operation's failure: the kernel's own word, or one of
// "timeout", "refused", "reset", "closed", "other".
func Class(err error) string {
	var f *kernels.Failure
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &f) && f.Class != "":
		return f.Class
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return "closed"
	default:
		return "other"
	}
}

// failures adds up the lanes' failures, or returns nil when there were none.
func (s *session) failures() *bench.Failures {
	list := make([]*bench.Failures, len(s.lanes))
	for i, l := range s.lanes {
		list[i] = &l.failures
	}
	return AddFailures(list)
}

// counted gives an error of operations that all failed their count.
func (s *session) counted(err error) error {
	if f := s.failures(); f != nil && errors.Is(err, ErrNothing) {
		return &FailedError{Failures: *f, Err: err}
	}
	return err
}

// AddFailures adds up counts, keeping the first sample. It returns nil when nothing failed.
func AddFailures(list []*bench.Failures) *bench.Failures {
	sum := &bench.Failures{Classes: map[string]int64{}}
	for _, f := range list {
		if f == nil || f.Count == 0 {
			continue
		}
		if sum.Count == 0 {
			sum.Sample = f.Sample
		}
		sum.Count += f.Count
		for class, n := range f.Classes {
			sum.Classes[class] += n
		}
	}
	if sum.Count == 0 {
		return nil
	}
	return sum
}

// settings are what the first lane tells of the other side, where the kernel tells it.
func (s *session) settings() map[string]string {
	if d, ok := s.lanes[0].trial.(kernels.Describer); ok {
		return d.Describe()
	}
	return nil
}

// count gives the work of one operation, where the kernel counts it.
func (s *session) count() kernels.Work {
	if c, ok := s.lanes[0].trial.(kernels.Counter); ok {
		return c.Count()
	}
	return kernels.Work{}
}
