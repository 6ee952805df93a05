package measure_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"benchd/kernels"
	"benchd/worker/measure"
)

// failing returns a check that fails with err from its n-th call on, counted from 1.
func failing(n int, err error) func() error {
	calls := 0
	return func() error {
		if calls++; calls >= n {
			return err
		}
		return nil
	}
}

func TestCheckThatFails(t *testing.T) {
	t.Parallel()
	refused := &kernels.Failure{Class: "refused", Err: io.ErrUnexpectedEOF}
	wrong := &kernels.Failure{Class: "mismatch", Err: errors.New("the answer is not what was sent")}
	for _, tt := range []struct {
		name    string
		from    int // the check that fails first; the first of two lanes' is number 1
		err     error
		wrong   bool // the error is ErrCheck
		counted bool // there is a record, in which the failure is counted
	}{
		{"a call fails at the first check", 1, refused, false, false},
		{"a wrong answer at the first check", 1, wrong, true, false},
		{"a call fails at the last check", 3, refused, false, true},
		{"a wrong answer at the last check", 3, wrong, true, false},
		{"a plain error at the last check", 3, errors.New("not what was sent"), true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{
				info:  kernels.Info{Name: "fake.checked", Unit: "call/s", Lanes: "clients"},
				do:    func(context.Context, int) error { time.Sleep(time.Millisecond); return nil },
				check: failing(tt.from, tt.err),
			}
			rec, err := measure.Fork{Kernel: f, Params: kernels.Params{"clients": "2"}, Plan: plan(2, 10*time.Millisecond, 0), Meter: meter(t)}.Run(t.Context())
			if got := errors.Is(err, measure.ErrCheck); got != tt.wrong {
				t.Errorf("error %v, is ErrCheck: %v, want %v", err, got, tt.wrong)
			}
			if !tt.counted {
				if !errors.Is(err, tt.err) {
					t.Errorf("error %v, want the check's", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			fails := rec.Fork.Failures
			if fails == nil || fails.Count != 1 || fails.Classes["refused"] != 1 || fails.Sample != refused.Error() {
				t.Errorf("failures %+v, want the one of the check", fails)
			}
			if len(rec.Fork.Samples) != 2 || !strings.Contains(rec.Unchecked, "lane 1 of 2") || !strings.Contains(rec.Unchecked, "refused") {
				t.Errorf("%d samples, unchecked %q", len(rec.Fork.Samples), rec.Unchecked)
			}
			if f.checks.Load() != 3 {
				t.Errorf("%d checks, want none behind the one that failed", f.checks.Load())
			}
		})
	}
}
