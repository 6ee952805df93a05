package messaging

import (
	"fmt"

	"benchd/kernels"
)

// A ledger tells of a sequence of numbers, which begins with 1, which are missing, came twice
// or came late. Its zero value is ready.
type ledger struct {
	last    uint64              // the highest number that came
	missing map[uint64]struct{} // those below that did not
	tally   tally
}

// A tally is what a ledger counted.
type tally struct {
	received, duplicate, reordered, damaged uint64
	lost                                    uint64
}

// mostMissing bounds a ledger's memory: beyond it a number is lost for good.
const mostMissing = 1 << 16

// note enters a number and returns the class of what is wrong with it, or nothing.
func (l *ledger) note(number uint64) string {
	switch {
	case number == l.last+1:
		l.last = number
		l.tally.received++
		return ""
	case number > l.last:
		l.skip(number)
		l.tally.received++
		return "lost"
	}
	if _, ok := l.missing[number]; ok {
		delete(l.missing, number)
		l.tally.lost--
		l.tally.received++
		l.tally.reordered++
		return "reordered"
	}
	l.tally.duplicate++
	return "duplicate"
}

// skip enters those below a number as missing.
func (l *ledger) skip(number uint64) {
	if l.missing == nil {
		l.missing = make(map[uint64]struct{})
	}
	l.tally.lost += number - l.last - 1
	for n := l.last + 1; n < number && len(l.missing) < mostMissing; n++ {
		l.missing[n] = struct{}{}
	}
	l.last = number
}

// failure is the Failure of a number that was noted.
func failure(class string, number uint64) error {
	switch class {
	case "":
		return nil
	case "lost":
		return &kernels.Failure{Class: class, Err: fmt.Errorf("message %d came, and one before it is missing", number)}
	case "reordered":
		return &kernels.Failure{Class: class, Err: fmt.Errorf("message %d came after later ones", number)}
	default:
		return &kernels.Failure{Class: class, Err: fmt.Errorf("message %d came a second time", number)}
	}
}

// judge compares a tally with the number of messages that were sent and confirmed.
func (t tally) judge(sent uint64) error {
	said := fmt.Sprintf("of %d messages that the broker had confirmed %d arrived, %d twice, %d late and %d damaged", sent, t.received, t.duplicate, t.reordered, t.damaged)
	switch {
	case t.received < sent:
		return &kernels.Failure{Class: "lost", Err: errorText(said)}
	case t.damaged > 0:
		return &kernels.Failure{Class: "mismatch", Err: errorText(said)}
	case t.duplicate > 0:
		return &kernels.Failure{Class: "duplicate", Err: errorText(said)}
	case t.reordered > 0:
		return &kernels.Failure{Class: "reordered", Err: errorText(said)}
	default:
		return nil
	}
}

// errorText is an error that says what it is.
type errorText string

// Error returns the text.
func (e errorText) Error() string { return string(e) }
