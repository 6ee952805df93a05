package measure

import (
	"errors"
	"fmt"

	"benchd/kernels"
)

// mismatch is the class of a failure that is a wrong answer. A check that fails with another
// class got no answer to judge: the call failed, as any call may.
const mismatch = "mismatch"

// failedCall tells whether the error of a check is that of a call that failed.
func failedCall(err error) bool {
	var f *kernels.Failure
	return errors.As(err, &f) && f.Class != mismatch
}

// check asks lanes whether their first answers are right. The error is ErrCheck where one is
// wrong, and not where a call failed.
func (s *session) check(lanes []*lane) error {
	for _, l := range lanes {
		err := s.ask(l)
		switch {
		case err == nil:
		case failedCall(err):
			return fmt.Errorf("check of lane %d of %d: %w", l.number, s.most, err)
		default:
			return fmt.Errorf("%w: lane %d: %w", ErrCheck, l.number, err)
		}
	}
	return nil
}

// recheck asks all lanes once more when everything is measured. A call that fails then is
// counted among the failures and takes nothing away from what was measured; but that it was
// right to the end is not known, and why is returned. The lanes behind it are not asked: each
// might wait as long for an answer that does not come.
func (s *session) recheck() (unchecked string, err error) {
	for _, l := range s.lanes {
		err := s.ask(l)
		switch {
		case err == nil:
		case failedCall(err):
			l.count(err)
			return fmt.Sprintf("the check of lane %d of %d failed: %v", l.number, s.most, err), nil
		default:
			return "", fmt.Errorf("%w: lane %d: %w", ErrCheck, l.number, err)
		}
	}
	return "", nil
}

// ask asks a lane whether its answer is right.
func (s *session) ask(l *lane) error {
	c, ok := l.trial.(kernels.Checker)
	if !ok {
		return nil
	}
	s.doing("the check of the answer of lane %d of %d", l.number, s.most)
	return c.Check()
}
