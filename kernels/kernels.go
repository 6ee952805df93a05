// Package kernels says what a kernel is: one kind of work whose speed benchd measures.
//
// A kernel does its operation and nothing else. The clock, the lanes, the pacing, the
// slices and the statistics belong to the harness in worker/measure, so that a kernel
// cannot get them wrong. The package imports the standard library only; each family of
// kernels lives in a folder beside it and imports this package, its own driver and the
// building blocks direct, envelope and httpload.
package kernels

import (
	"context"
	"fmt"
)

// A Kernel is one thing that can be measured.
type Kernel interface {
	// Info says what the kernel is called, what one operation is, and which parameters it takes.
	Info() Info
	// Open makes a trial ready: it connects, makes its input, and leaves nothing half done on error.
	Open(ctx context.Context, p Params) (Trial, error)
}

// A Trial is an opened kernel. One goroutine uses it; for n lanes the harness opens n.
type Trial interface {
	// Do performs n operations one after another. It reads no clock and logs nothing.
	//
	// An error means that an operation of the n failed; the harness counts it by its class
	// (see Failure) and calls Do again.
	Do(ctx context.Context, n int) error
	// Close gives back what Open took.
	Close() error
}

// A Checker is a Trial that can tell whether its answer is right. The harness calls Check
// after the first operations and again after the last ones, outside the measured time.
type Checker interface {
	Check() error
}

// A Counter is a Trial whose operations are counted in a unit of their own, such as
// floating-point operations; without it the score is in operations per second.
type Counter interface {
	// Count returns the work of one operation.
	Count() Work
}

// A Fitter is a Kernel of which not all values of parameters go together. It is asked before
// anything is queued, so that what cannot be measured is refused and does not fail.
type Fitter interface {
	// Fits returns a sentence that says what is allowed if no trial can have these parameters.
	// Every parameter is there, each with a value that is allowed for itself.
	Fits(p Params) error
}

// A Describer is a Trial that tells what was set at the other side, in the words of its
// manual: the acknowledgement, the durability, the version of a broker. The result shows it.
// It is asked after the last operation, and before Close.
type Describer interface {
	Describe() map[string]string
}

// Work is what one operation amounts to. Zero means "not counted".
type Work struct {
	Flops float64 // floating-point operations
	Bytes float64 // payload bytes, there and back
}

// A Server is a Kernel with a counterpart, such as an embedded SOAP service or broker. The
// harness runs Serve in a child process of its own before Open and hands the address over
// in the parameter Addr, so that server and client never share a process.
type Server interface {
	// Serve listens on a random loopback port, calls ready once with its address
	// (host:port or a URL), and serves until ctx is done. It returns nil after an orderly end.
	Serve(ctx context.Context, p Params, ready func(addr string)) error
}

// Parameters that the harness sets and that can never come from a request.
const (
	// Addr is where Open finds the address of the Server of its kernel, or of a named service.
	// The fragment of a URL may hold "ca=" and an X.509 certificate (DER in base64url without
	// padding), the only authority by which a server's certificate is then believed.
	Addr = "_addr"
	// Listen is where Serve finds the address it is to listen on, host:port; without it a
	// random port of the loopback.
	Listen = "_listen"
	// Lane is the number of the lane that Open makes ready, counted from 0.
	Lane = "_lane"
)

// A Failure is an operation that failed, with the class it is counted under. A kernel wraps
// an error in a Failure where it knows better than the harness, which classes time-outs,
// refused and reset connections by itself.
type Failure struct {
	Class string // a short stable word: "fault", "timeout", "refused", "reset", "malformed", "mismatch"
	Err   error
}

// Error gives the class and the cause.
func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Class, f.Err) }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A Family is a group of kernels under one name; asking for the family means all of them.
type Family struct {
	Name    string // the part before the dot: "scimark"
	Title   string // one sentence
	Kernels []Kernel
}
