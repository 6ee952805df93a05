//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"benchd/api/client"
	"benchd/worker/bench"
)

// TestInterrupt is Ctrl-C at `benchd run`: the run is canceled in good order and no process
// is left behind.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := begin(t, "run", "soap.echo", "--slices", "60", "--slice", "1s", "--limit", "3m", "-o", os.DevNull)
	var children []int
	within(t, 30*time.Second, "server and client run", func() bool { children = p.children(); return len(children) == 2 })
	p.signal(os.Interrupt)
	if code := p.wait(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d\n%s", code, exitInterrupted, p.log())
	}
	gone(t, children)
}

// TestTwoRunsAtOnce: the second waits for the host's lock, and says so.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	first := begin(t, "run", "soap.echo", "--slices", "60", "--slice", "1s", "--limit", "3m", "-o", os.DevNull)
	within(t, 30*time.Second, "the first measures", func() bool { return len(first.children()) == 2 })
	second := begin(t, "run", "scimark.fft", "--slices", "6", "--slice", "10ms", "-o", os.DevNull)
	within(t, 30*time.Second, "the second says why it waits", func() bool {
		return strings.Contains(second.log(), "waiting: another measurement holds host")
	})
	first.signal(os.Interrupt)
	if code := second.wait(); code != exitOK {
		t.Errorf("exit code %d\n%s", code, second.log())
	}
}

// TestReaderGoesAway: whoever reads the table may leave; the result is written all the same.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.json")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" run scimark.fft --slices 6 --slice 10ms -o "$1" | true`, exe, out)
	cmd.Env = append(os.Environ(), "BENCHD_TEST_MAIN=1", "BENCHD_LOCK="+lockOf(t))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
}

// TestGateUnread: the gate of a comparison stays shut though nobody reads its table.
func TestGateUnread(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code := filepath.Join(t.TempDir(), "code")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `{ sleep 1; "$0" compare testdata/results/base.json testdata/results/slow.json --fail-on worse; echo $? > "$1"; } | true`, exe, code)
	cmd.Env = append(os.Environ(), "BENCHD_TEST_MAIN=1")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got, err := os.ReadFile(code); err != nil || strings.TrimSpace(string(got)) != "1" {
		t.Errorf("the exit code is %q, %v, want 1", got, err)
	}
}

// TestServeKilled is a power cut: the children of a killed service die with it, and after the
// restart what ran is lost, what was queued is measured, and results are still there.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := begin(t, "serve", "--addr", "127.0.0.1:0", "--data", data)
	done := submit(t, p.client(), short)
	reaches(t, p.client(), done.ID, bench.Succeeded, time.Minute)
	ran := submit(t, p.client(), long)
	queued := submit(t, p.client(), short)
	measuring(t, p.client(), ran.ID)
	children := p.children()
	p.kill()
	gone(t, children)

	p = begin(t, "serve", "--addr", "127.0.0.1:0", "--data", data)
	run := reaches(t, p.client(), ran.ID, bench.Lost, time.Minute)
	if e := run.Trials[0].Error; e == nil || e.Message == "" {
		t.Errorf("the lost trial does not say why: %+v", run.Trials[0])
	}
	reaches(t, p.client(), queued.ID, bench.Succeeded, time.Minute)
	result, err := p.client().Result(t.Context(), done.ID)
	if err != nil || result.Trials[0].Score == nil {
		t.Errorf("the result of before is gone: %v", err)
	}
}

// TestInterleavedKilled is a power cut in the middle of a run whose trials are measured in
// turn: those that were begun are lost, none is measured again, and the host goes on.
func TestInterleavedKilled(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := begin(t, "serve", "--addr", "127.0.0.1:0", "--data", data)
	const turns = `{"cases":[{"kernel":"scimark.fft"},{"kernel":"scimark.sor"},{"kernel":"scimark.lu"}],
		"plan":{"order":"interleaved","forks":20,"warmup":"0s","slices":10,"slice":"100ms"}}`
	ran := submit(t, p.client(), turns)
	within(t, time.Minute, "every trial had a turn", func() bool {
		run, err := p.client().Run(t.Context(), ran.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range run.Trials {
			if tr.State != bench.Running || tr.Phase == nil {
				return false
			}
		}
		return true
	})
	queued := submit(t, p.client(), short)
	children := p.children()
	p.kill()
	gone(t, children)

	p = begin(t, "serve", "--addr", "127.0.0.1:0", "--data", data)
	run := reaches(t, p.client(), ran.ID, bench.Lost, 2*time.Minute)
	for _, tr := range run.Trials {
		if tr.State != bench.Lost || tr.Attempt != 1 {
			t.Errorf("trial %s is %s at attempt %d", tr.ID, tr.State, tr.Attempt)
		}
	}
	reaches(t, p.client(), queued.ID, bench.Succeeded, time.Minute)
}

// TestServeStopped is SIGTERM: exit code 0, the trial at work is lost and not run again, and
// the queued one goes on after a restart.
func TestServeStopped(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := begin(t, "serve", "--addr", "127.0.0.1:0", "--data", data)
	ran := submit(t, p.client(), long)
	queued := submit(t, p.client(), short)
	measuring(t, p.client(), ran.ID)
	children := p.children()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.log())
	}
	gone(t, children)
	p = begin(t, "serve", "--addr", "127.0.0.1:0", "--data", data)
	run := reaches(t, p.client(), ran.ID, bench.Lost, time.Minute)
	if run.Trials[0].Attempt > 1 {
		t.Errorf("the trial was started %d times", run.Trials[0].Attempt)
	}
	reaches(t, p.client(), queued.ID, bench.Succeeded, time.Minute)
}

// TestCancel: the run is canceling at once, canceled when its processes are gone, and the
// next one is measured.
func TestCancel(t *testing.T) {
	t.Parallel()
	p := begin(t, "serve", "--addr", "127.0.0.1:0", "--data", t.TempDir())
	run := submit(t, p.client(), long)
	next := submit(t, p.client(), short)
	measuring(t, p.client(), run.ID)
	children := p.children()
	got, err := p.client().Cancel(t.Context(), run.ID)
	if err != nil || got.State != bench.Canceling {
		t.Fatalf("the canceled run is %s, %v", got.State, err)
	}
	reaches(t, p.client(), run.ID, bench.Canceled, 20*time.Second)
	for _, pid := range children {
		if syscall.Kill(pid, 0) == nil && !zombie(pid) {
			t.Errorf("the run is canceled and its process %d is still there", pid)
		}
	}
	reaches(t, p.client(), next.ID, bench.Succeeded, 30*time.Second)
	if _, err := p.client().Cancel(t.Context(), run.ID); bench.AsError(err) == nil || bench.AsError(err).Code != "final_state" {
		t.Errorf("canceled twice: %v", err)
	}
}

// children lists the child processes of the process, live ones only.
func (p *process) children() []int {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		p.t.Skip("only Linux lists a process's children simply")
	}
	return childrenOf(p.cmd.Process.Pid)
}

func childrenOf(pid int) []int {
	var pids []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range tasks {
		b, _ := os.ReadFile(f)
		for _, s := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(s); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// gone waits until none of the processes is there any more.
func gone(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Fatal("there were no children to watch")
	}
	within(t, 10*time.Second, "the children are gone", func() bool {
		for _, pid := range pids {
			if syscall.Kill(pid, 0) == nil && !zombie(pid) {
				return false
			}
		}
		return true
	})
}

// zombie tells whether a process has ended and only waits to be reaped.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z")
}

// long and short are requests whose trial takes a minute and a moment.
const (
	long  = `{"cases":[{"kernel":"soap.echo"}],"plan":{"forks":1,"warmup":0,"slices":60,"slice":"1s"}}`
	short = `{"cases":[{"kernel":"scimark.fft"}],"plan":{"forks":1,"warmup":0,"slices":6,"slice":"20ms"}}`
)

func submit(tb testing.TB, c *client.Client, body string) bench.Run {
	tb.Helper()
	run, err := c.Submit(tb.Context(), []byte(body), "")
	if err != nil {
		tb.Fatal(err)
	}
	return run
}

// reaches waits until a run is in a state.
func reaches(tb testing.TB, c *client.Client, id string, state bench.State, d time.Duration) bench.Run {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	defer cancel()
	var last bench.Run
	for {
		run, err := c.Run(ctx, id)
		if err != nil {
			tb.Fatalf("the run is %s, not %s: %v", last.State, state, err)
		}
		if run.State == state {
			return run
		}
		if run.State.Final() {
			tb.Fatalf("the run is %s, not %s: %+v", run.State, state, run)
		}
		last = run
		time.Sleep(50 * time.Millisecond)
	}
}

// measuring waits until a run's trial is at work in its child.
func measuring(tb testing.TB, c *client.Client, id string) {
	tb.Helper()
	within(tb, 30*time.Second, "the trial measures", func() bool {
		run, err := c.Run(tb.Context(), id)
		if err != nil {
			tb.Fatal(err)
		}
		for _, tr := range run.Trials {
			if tr.Phase != nil && tr.Phase.Name == "measure" {
				return true
			}
		}
		return false
	})
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
