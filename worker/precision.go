package worker

import (
	"fmt"
	"math"
	"time"

	"benchd/worker/bench"
)

// maxForks bounds the forks of a trial, however far its target is.
const maxForks = 100

// wantsMore tells whether the trial has a further fork: one that the plan asks for, or one
// more towards its target error, while the limit leaves the time for it.
func (a *assembly) wantsMore() bool {
	plan := a.order.Plan
	done := len(a.records)
	if done < plan.Forks {
		return true
	}
	if plan.TargetError == nil {
		return false
	}
	p := &bench.Precision{Target: *plan.TargetError, Reached: a.relativeError()}
	a.result.Precision = p
	spent := a.spent + time.Since(a.turned)
	each := spent / time.Duration(done)
	switch {
	case p.Reached != nil && *p.Reached <= p.Target:
		p.Met = true
		p.Reason = "reached after " + countForks(done)
	case done >= maxForks:
		p.Reason = fmt.Sprintf("not reached after %s, the most there are", countForks(done))
	case spent+each > plan.Limit.Std():
		p.Reason = fmt.Sprintf("not reached after %s; a further one, of about %s, would not end within the limit of %s", countForks(done), bench.Duration(each.Round(100*time.Millisecond)), plan.Limit)
	default:
		return true
	}
	return false
}

// cutShort tells whether the limit ended a fork beyond those that the plan asks for: the
// trial has what it needs then, and only its target was not reached.
func (a *assembly) cutShort() bool {
	done := len(a.records)
	if a.result.Precision == nil || done < a.order.Plan.Forks {
		return false
	}
	a.result.Precision.Reason = fmt.Sprintf("not reached after %s; the limit of %s ended a further one", countForks(done), a.order.Plan.Limit)
	return true
}

// relativeError is the half-width of the score's interval over its value; nil while there is
// no interval.
func (a *assembly) relativeError() *float64 {
	f := a.figure(a.rates(false))
	if f.Value == nil || f.Low == nil || f.High == nil || *f.Value == 0 {
		return nil
	}
	return new(math.Abs((*f.High - *f.Low) / 2 / *f.Value))
}

// countForks writes a number of forks: "1 fork", "3 forks".
func countForks(n int) string {
	if n == 1 {
		return "1 fork"
	}
	return fmt.Sprintf("%d forks", n)
}
