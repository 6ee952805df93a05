package child

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"benchd/worker/bench"
	"benchd/worker/host"
)

// A Starter starts children.
type Starter struct {
	Exe string // the binary to run, this one
	// Env is all that a child sees of the environment, each "NAME=value".
	Env []string
}

// A Process is a child as its parent sees it.
type Process struct {
	cmd    *exec.Cmd
	low    bool // it runs at the lowest priority
	job    io.WriteCloser
	events chan Event
	errout *head
	done   chan struct{} // closed once the child is reaped and its output read
	err    error         // of Wait; valid once done is closed
}

// maxLine bounds an event: a record of a thousand slices with its histogram is well below.
const maxLine = 64 << 20

// Start starts a child with a job. The lock's descriptor, if any, is inherited. The child
// sees the starter's environment and where temporary files go, and nothing of the
// operator's, so that no secret and no setting of the runtime travels into what is measured.
// It has a process group of its own, and dies with this process.
func (s Starter) Start(ctx context.Context, job Job, lock *Lock) (*Process, error) {
	// Its end is the caller's to ask for, by Stop or Kill, which also reap it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), s.Exe, Arg)
	cmd.Env = append([]string{"TMPDIR=" + os.TempDir()}, s.Env...)
	cmd.Dir = os.TempDir()
	isolate(cmd)
	if job.Role == Spinner {
		cmd.Env = append(cmd.Env, spinnerEnv)
		leadSession(cmd)
	}
	lock.pass(cmd)
	p := &Process{cmd: cmd, low: job.Role == Spinner, events: make(chan Event, 16), errout: &head{}, done: make(chan struct{})}
	cmd.Stderr = p.errout
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	p.job = in
	started := make(chan error)
	go p.live(out, job.CPUs, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	b, err := json.Marshal(job)
	if err == nil {
		_, err = in.Write(append(b, '\n'))
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("give a child its job: %w", err)
	}
	return p, nil
}

// live starts the child on its CPUs, reads its events and reaps it, all on one thread: on
// Linux a child that shall die with its parent dies with the *thread* that started it.
func (p *Process) live(out io.Reader, cpus []int, started chan<- error) {
	runtime.LockOSThread()
	same, err := p.start(cpus)
	if same { // else the thread ends with this goroutine
		defer runtime.UnlockOSThread()
	}
	started <- err
	if err != nil {
		return
	}
	defer close(p.done)
	scan := bufio.NewScanner(out)
	scan.Buffer(make([]byte, 64<<10), maxLine)
	var bad error
	for scan.Scan() {
		var e Event
		if bad = json.Unmarshal(scan.Bytes(), &e); bad != nil {
			break
		}
		p.events <- e
	}
	close(p.events)
	_, _ = io.Copy(io.Discard, out) // the reader must come to its end before Wait
	p.err = errors.Join(bad, scan.Err(), p.cmd.Wait())
}

// start starts the child, which inherits the CPUs of the thread that does it. It tells
// whether the thread is again as it was.
func (p *Process) start(cpus []int) (same bool, err error) {
	if len(cpus) == 0 {
		return true, p.cmd.Start()
	}
	back, err := host.PlaceThread(cpus)
	if err != nil {
		return true, err
	}
	err = p.cmd.Start()
	return back() == nil, err
}

// PID returns the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended tells whether the child is gone and reaped.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Done is closed once the child is gone and reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// EndsWithin waits for a time until the child is gone and reaped, and tells whether it is.
func (p *Process) EndsWithin(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// Events are what the child tells; the channel is closed when its output ends. They must be
// read, or the child is killed: a child waits for its parent to read.
func (p *Process) Events() <-chan Event { return p.events }

// Kill ends the child and everything it started at once, and returns when it is reaped.
func (p *Process) Kill() {
	p.raise()
	killGroup(p.cmd)
	p.drain()
}

// Stop asks the child to end by closing its job, kills it when it has not after the grace,
// and returns when it is reaped.
func (p *Process) Stop(grace time.Duration) {
	p.raise()
	_ = p.job.Close()
	timer := time.AfterFunc(grace, func() { killGroup(p.cmd) })
	defer timer.Stop()
	p.drain()
}

// raise lets a child of the lowest priority run, since to end is work too.
func (p *Process) raise() {
	if p.low {
		// If the child is gone, or the kernel will not, it ends as it can.
		_ = host.RaiseSession(p.PID())
	}
}

func (p *Process) drain() {
	for range p.events {
	}
	<-p.done
	_ = p.job.Close()
}

// Usage tells what the child used. It is valid once the child was stopped or killed; the
// peak memory is what the child or PeakRSS told, since the kernel's own figure for a child
// begins with its parent's.
func (p *Process) Usage(peak *int64) bench.Usage {
	u := bench.Usage{MaxRSS: peak}
	if st := p.cmd.ProcessState; st != nil {
		u.User, u.System = st.UserTime().Seconds(), st.SystemTime().Seconds()
	}
	return u
}

// Died describes how the child ended without telling, for the trial's error. It is valid
// once the child was stopped or killed.
func (p *Process) Died() *Failure {
	msg := "the child ended without an answer"
	if how := p.how(); how != "" {
		msg += ": " + how
	}
	return &Failure{Code: "child_died", Message: msg}
}

// Ending describes how a child ended that nobody had asked to: "signal: killed", or what it
// told of itself. It is valid once the child is gone.
func (p *Process) Ending() string {
	for e := range p.events {
		if e.Failure != nil {
			return e.Failure.Message
		}
	}
	return cmp.Or(p.how(), "without a word")
}

// how is what the system says of the child's end, and the child itself.
func (p *Process) how() string {
	var parts []string
	if p.err != nil {
		parts = append(parts, p.err.Error())
	}
	if s := p.errout.reason(); s != "" {
		parts = append(parts, "it wrote: "+s)
	}
	return strings.Join(parts, "; ")
}

// Stderr is the beginning of what the child wrote to its standard error, for the log.
func (p *Process) Stderr() string { return p.errout.String() }

// Await reads events until one satisfies want, the child ends, or ctx does.
func (p *Process) Await(ctx context.Context, want func(Event) bool) (Event, bool, error) {
	for {
		select {
		case e, ok := <-p.events:
			if !ok {
				return Event{}, false, nil
			}
			if want(e) {
				return e, true, nil
			}
		case <-ctx.Done():
			return Event{}, false, context.Cause(ctx)
		}
	}
}

// head keeps the first bytes written to it: a program of Go that dies says why in its first
// lines and then shows where.
type head struct {
	mu  sync.Mutex
	buf []byte
}

const headSize = 16 << 10

// Write keeps what there is room for and takes the rest without keeping it.
func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = append(h.buf, b[:min(len(b), headSize-len(h.buf))]...)
	return len(b), nil
}

// String returns what was kept.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(h.buf), "?"))
}

// reason returns the lines before the first empty one, where a stack begins, on one line.
func (h *head) reason() string {
	text, _, _ := strings.Cut(h.String(), "\n\n")
	lines := strings.Split(text, "\n")
	return strings.Join(lines[:min(len(lines), 4)], " ")
}
