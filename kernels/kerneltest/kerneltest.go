// Package kerneltest is the conformance suite that every kernel passes.
//
// A kernel's own test calls Run and adds what only that kernel promises. The suite looks at
// what the harness relies on: a complete description, a counterpart that ends when it is
// told to, lanes that do not disturb each other, a Do that can be interrupted, and a Close
// that gives back every goroutine and file descriptor. It asserts no speed.
//
// The leak checks count the goroutines and descriptors of the whole process, so a test that
// calls Run must not be parallel.
package kerneltest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"benchd/kernels"
)

// patience is how long anything may take before it counts as hanging. It is far above what
// a slow machine under the race detector needs.
const patience = 2 * time.Minute

// endless is a number of operations that no kernel with a clock-worthy operation gets
// through before it notices that its context is done.
const endless = 1 << 24

// An Option changes what the suite does.
type Option func(*suite)

// Operations sets how many operations each lane performs at its second Do; the default is
// ten. The first Do is always of one.
func Operations(n int) Option {
	return func(s *suite) { s.operations = n }
}

// Grace sets how long what was closed may take to go away; the default is 15 seconds. A
// server, say, notices a closed connection only at its next read.
func Grace(d time.Duration) Option {
	return func(s *suite) { s.grace = d }
}

// Skip leaves out the cases for which leave returns true.
func Skip(leave func(kernels.Params) bool) Option {
	return func(s *suite) { s.skip = leave }
}

// Also adds a case: the defaults with the given parameters changed.
func Also(changed kernels.Params) Option {
	return func(s *suite) { s.also = append(s.also, changed) }
}

// Run checks the kernel, each group of checks in a subtest of its own.
func Run(t *testing.T, k kernels.Kernel, opts ...Option) {
	t.Helper()
	for _, p := range newSuite(k, opts).parts() {
		t.Run(p.name, func(t *testing.T) {
			t.Helper()
			if err := p.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Faults returns what Run would report, one error for each failing group of checks.
func Faults(k kernels.Kernel, opts ...Option) []error {
	var faults []error
	for _, p := range newSuite(k, opts).parts() {
		if err := p.check(); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	return faults
}

// suite is one kernel under test.
type suite struct {
	kernel     kernels.Kernel
	info       kernels.Info
	operations int
	skip       func(kernels.Params) bool
	also       []kernels.Params
	grace      time.Duration
	// opened keeps the trials of the case reachable until they were looked at: the collector
	// would close a forgotten connection or file and so hide the leak.
	opened []kernels.Trial
}

func newSuite(k kernels.Kernel, opts []Option) *suite {
	s := &suite{
		kernel: k, info: k.Info(), operations: 10, grace: 15 * time.Second,
		skip: func(kernels.Params) bool { return false },
	}
	for _, o := range opts {
		o(s)
	}
	return s
}

// part is one named group of checks, a subtest of Run. Its check returns an error rather than
// failing a test, so that the suite can be tested on kernels that break a rule.
type part struct {
	name  string
	check func() error
}

// parts lists the checks in order. The first use comes before the cases, so that what a
// library starts once in a process is there before anything is counted.
func (s *suite) parts() []part {
	list := []part{
		{"info", func() error { return errors.Join(append(CheckInfo(s.info), s.counterpart())...) }},
		{"first use", func() error { return s.served(s.info.Defaults(), func(p kernels.Params) error { return s.use(p, 1) }) }},
	}
	for _, p := range s.cases() {
		list = append(list, part{"case " + p.String(), func() error { return s.exercise(p) }})
	}
	list = append(list, part{"canceled", s.canceled})
	if _, ok := s.kernel.(kernels.Server); ok {
		list = append(list, part{"unreachable", s.unreachable})
	}
	return list
}
