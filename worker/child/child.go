// Package child runs this binary again as a process of its own, in which a trial is measured
// or its server serves.
//
// The parent writes one Job to the child's standard input and keeps it open: its end tells
// the child that the parent is gone, or that a server shall stop. The child answers with a
// line of JSON for each Event on its standard output. Both hold the host's lock through an
// inherited descriptor, so that the lock is free only when the last of them is gone, however
// its parent ended.
package child

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"benchd/kernels"
	"benchd/worker/bench"
	"benchd/worker/host"
	"benchd/worker/measure"
)

// Arg is the hidden first argument that makes the binary a child.
const Arg = "child"

// A Role says what a child does.
type Role string

// The roles.
const (
	Client  Role = "client"  // measures one fork
	Server  Role = "server"  // serves the kernel's counterpart
	Spinner Role = "spinner" // keeps the CPUs from halting; it has no kernel
)

// A Job is what a child is told to do.
type Job struct {
	Role   Role           `json:"role"`
	Kernel string         `json:"kernel"`
	Params kernels.Params `json:"params"`
	Plan   bench.Plan     `json:"plan"`
	// CPUs are those that the child may run on, with all its threads; none given means those
	// of its parent. For a spinner they are the CPUs to keep awake.
	CPUs       []int  `json:"cpus,omitempty"`
	ServerPID  int    `json:"server_pid,omitempty"`  // for a client: whose CPU time is read too
	Service    string `json:"service,omitempty"`     // for a client: the name of the server outside that it uses
	SpinnerPID int    `json:"spinner_pid,omitempty"` // for a client: whose CPU time is left out of the host's
	Memory     int64  `json:"memory,omitempty"`      // bytes of data the child may have; 0 means no limit
}

// An Event is what a child tells its parent. One field is set.
type Event struct {
	Ready    string          `json:"ready,omitempty"`    // a server's address; the CPUs that a spinner keeps awake
	Doing    *Doing          `json:"doing,omitempty"`    // a client's, before each thing but further slices
	Progress *Progress       `json:"progress,omitempty"` // a client's, after each slice
	Record   *measure.Record `json:"record,omitempty"`   // a client's, at its end
	PeakRSS  *int64          `json:"peak_rss,omitempty"` // with Record: of the client itself
	Failure  *Failure        `json:"failure,omitempty"`  // why there is no record, or no server
}

// Doing is what a client does next, or goes on with.
type Doing struct {
	What     string          `json:"what"`               // as measure.Fork.Doing says it
	Failures *bench.Failures `json:"failures,omitempty"` // the operations that failed so far
}

// Progress is a slice done.
type Progress struct {
	Phase  string  `json:"phase"`
	Slice  int     `json:"slice"`
	Slices int     `json:"slices"`
	Sample float64 `json:"sample"`
}

// A Failure is why a child could not do its job.
type Failure struct {
	Code    string `json:"code"` // as in bench.TrialError
	Message string `json:"message"`
	// Failures are the operations that failed, where they are why there is no record.
	Failures *bench.Failures `json:"failures,omitempty"`
}

// Error gives the message.
func (f *Failure) Error() string { return f.Message }

// Main is the child's whole life: it reads its job from in, does it, and tells out. The
// kernels are those of the binary it runs in. It returns the exit code: 0 when the job's
// end, good or bad, was told.
func Main(families []kernels.Family, in io.Reader, out io.Writer) int {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return 1
	}
	c := &worker{out: json.NewEncoder(out)}
	var job Job
	if err := json.Unmarshal(line, &job); err != nil {
		c.fail("bad_job", fmt.Errorf("read the job: %w", err))
		return 0
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		stop(errParentGone)
	}()
	c.do(ctx, bench.NewCatalog(families), job)
	return 0
}

var errParentGone = errors.New("the parent closed the job")

type worker struct {
	out *json.Encoder
}

// tell writes one event. A parent that does not read any more is noticed by the end of the
// input, so the error says nothing new.
func (c *worker) tell(e Event) { _ = c.out.Encode(e) }

func (c *worker) fail(code string, err error) {
	c.tell(Event{Failure: &Failure{Code: code, Message: err.Error()}})
}

func (c *worker) do(ctx context.Context, catalog *bench.Catalog, job Job) {
	if job.Role == Spinner {
		c.spin(ctx)
		return
	}
	kernel, ok := catalog.Kernel(job.Kernel)
	if !ok {
		c.fail("unknown_kernel", fmt.Errorf("this worker has no kernel %q", job.Kernel))
		return
	}
	if err := limitMemory(job.Memory); err != nil {
		c.fail("no_memory_limit", err)
		return
	}
	spare(kernel.Info(), job.Params)
	switch job.Role {
	case Server:
		c.serve(ctx, kernel, job)
	case Client:
		c.measure(ctx, kernel, job)
	default:
		c.fail("bad_job", fmt.Errorf("there is no role %q", job.Role))
	}
}

// lanesPerCPU is up to how many lanes for each CPU are faster where each waits in system calls
// of its own. With more of them threads and caches change too often, and it is better that one
// thread is told of many answers at once.
const lanesPerCPU = 8

// beside is how many processors of Go's there are beside those of lanes that wait in system
// calls.
const beside = 2

// spare gives the process a processor of Go's for each lane of a kernel that waits in system
// calls, which keeps it, and those beside for the rest.
func spare(info kernels.Info, p kernels.Params) {
	cpus, lanes := runtime.GOMAXPROCS(0), max(1, p.Int(info.Lanes))
	if lanes <= min(info.Blocks, lanesPerCPU*cpus) {
		runtime.GOMAXPROCS(max(cpus, lanes+beside))
	}
}

func (c *worker) serve(ctx context.Context, kernel kernels.Kernel, job Job) {
	s, ok := kernel.(kernels.Server)
	if !ok {
		c.fail("bad_job", fmt.Errorf("the kernel %s has no server", job.Kernel))
		return
	}
	err := s.Serve(ctx, job.Params, func(addr string) { c.tell(Event{Ready: addr}) })
	if err != nil && ctx.Err() == nil {
		c.fail("server_failed", err)
	}
}

func (c *worker) measure(ctx context.Context, kernel kernels.Kernel, job Job) {
	meter, err := host.NewMeter(job.ServerPID, job.SpinnerPID)
	if err != nil {
		c.fail("meter_failed", err)
		return
	}
	defer func() { _ = meter.Close() }()
	rec, err := measure.Fork{
		Kernel: kernel, Params: job.Params, Plan: job.Plan, Meter: meterOf(meter, job.Service), CPUs: job.CPUs,
		Doing: func(what string, failed *bench.Failures) { c.tell(Event{Doing: &Doing{what, failed}}) },
		Progress: func(phase string, slice, slices int, sample float64) {
			c.tell(Event{Progress: &Progress{phase, slice, slices, sample}})
		},
	}.Run(ctx)
	if err != nil {
		c.tell(Event{Failure: failureOf(err)})
		return
	}
	c.tell(Event{Record: &rec, PeakRSS: PeakRSS(0)})
}

// meterOf gives the meter, which says of a server outside that it is one.
func meterOf(m *host.Meter, service string) measure.Meter {
	if service == "" {
		return m
	}
	return outsideMeter{m, service}
}

// An outsideMeter reads the time of a client whose server is a named service.
type outsideMeter struct {
	*host.Meter
	service string
}

// Reasons says why nothing is known of the server.
func (m outsideMeter) Reasons() map[string]string {
	reasons := m.Meter.Reasons()
	reasons[host.ServerReason] = fmt.Sprintf("the service %q is no process of this worker", m.service)
	return reasons
}

// failureOf says why a fork has no record.
func failureOf(err error) *Failure {
	f := &Failure{Code: code(err), Message: err.Error()}
	var failed *measure.FailedError
	if errors.As(err, &failed) {
		f.Failures = &failed.Failures
	}
	return f
}

// code names the reason why a fork has no record.
func code(err error) string {
	switch {
	case errors.Is(err, measure.ErrCheck):
		return "wrong_answer"
	case errors.Is(err, measure.ErrNothing):
		return "operations_failed"
	case errors.Is(err, errParentGone):
		return "parent_gone"
	default:
		return "open_failed"
	}
}
