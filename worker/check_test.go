package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A checked kernel asks whether its answers are right, and from one check on, counted from 1,
// the call that it makes for that fails.
type checked struct {
	odd
	from int
}

func (c checked) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	t, err := c.odd.Open(ctx, p)
	return &checkedTrial{Trial: t, left: c.from}, err
}

type checkedTrial struct {
	kernels.Trial
	left int
}

func (t *checkedTrial) Check() error {
	if t.left--; t.left > 0 {
		return nil
	}
	return &kernels.Failure{Class: "refused", Err: errors.New("connection refused")}
}

// TestServiceGoneAtTheEnd: what was measured before the last check stands, and is doubted.
func TestServiceGoneAtTheEnd(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.gone", nil)
	r := b.next(bench.Finished).Result
	if r.State != bench.Succeeded || r.Score == nil || r.Failures == nil || r.Failures.Classes["refused"] != 1 {
		t.Fatalf("%s, error %+v, failures %+v", r.State, r.Error, r.Failures)
	}
	unchecked := func(reason string) bool {
		return strings.HasPrefix(reason, "unchecked: ") && strings.Contains(reason, "connection refused")
	}
	if r.Validity.Valid || !slices.ContainsFunc(r.Validity.Reasons, unchecked) {
		t.Errorf("validity %+v", r.Validity)
	}
}

// TestServiceGoneAtTheStart: a check without an answer is no wrong answer.
func TestServiceGoneAtTheStart(t *testing.T) {
	b := newBed(t)
	b.collect()
	b.work("blue", t.TempDir())
	b.order("blue", "t1", "odd.absent", nil)
	r := b.next(bench.Finished).Result
	if r.State != bench.Failed || r.Error.Code != "open_failed" || !strings.Contains(r.Error.Message, "refused: connection refused") {
		t.Errorf("%s, error %+v", r.State, r.Error)
	}
}
