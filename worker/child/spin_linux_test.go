package child_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchd/worker/child"
	"benchd/worker/host"
)

// look tells the CPUs that each thread of this process may run on, the number of CPUs that
// the runtime sees, and so what a placed child is.
func look() string {
	return fmt.Sprintf("%s of %d", strings.Join(allowed(os.Getpid()), " "), runtime.NumCPU())
}

// allowed gives the distinct lists of CPUs of a process's threads.
func allowed(pid int) []string {
	return distinct(pid, "status", func(text string) string {
		for line := range strings.Lines(text) {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				return strings.TrimSpace(list)
			}
		}
		return "?"
	})
}

// distinct gives what the files of all threads of a process tell, each once.
func distinct(pid int, file string, tell func(string) string) []string {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, file))
	var told []string
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil { // a thread may end in between
			told = append(told, tell(string(text)))
		}
	}
	slices.Sort(told)
	return slices.Compact(told)
}

// A child has the CPUs it was given from its first instruction: its runtime counts them, and
// none of its threads has others. The thread of the parent is as it was.
func TestPlacement(t *testing.T) {
	all := host.AllowedCPUs()
	for _, row := range []struct {
		name string
		cpus []int
		want string
	}{
		{"free", nil, fmt.Sprintf("%s of %d", host.FormatCPUs(all), len(all))},
		{"the first", all[:1], fmt.Sprintf("%d of 1", all[0])},
		{"the last", all[len(all)-1:], fmt.Sprintf("%d of 1", all[len(all)-1])},
		{"all by number", all, fmt.Sprintf("%s of %d", host.FormatCPUs(all), len(all))},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, e := start(t, child.Job{Role: child.Server, Kernel: "test.look", CPUs: row.cpus})
			if e.Ready != row.want {
				t.Errorf("the child has CPU %s, want %s", e.Ready, row.want)
			}
		})
	}
	if got := allowed(os.Getpid()); !slices.Equal(got, []string{host.FormatCPUs(all)}) {
		t.Errorf("after it the parent's threads have %v, want all %s", got, host.FormatCPUs(all))
	}
}

func TestPlacementRefused(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		cpus []int
		want string
	}{
		{"a CPU that is not there", []int{8191}, "put a thread on CPU 8191"},
		{"one there and one not", []int{host.AllowedCPUs()[0], 8191}, "the system allows CPU"},
		{"no number of a CPU", []int{-1}, "numbered from 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := child.Starter{Exe: exe}.Start(t.Context(), child.Job{Role: child.Server, Kernel: "test.look", CPUs: row.cpus}, nil)
			if err == nil {
				p.Kill()
			}
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error %v, want %q", err, row.want)
			}
		})
	}
}

// idle lists the CPUs on which a thread of policy SCHED_IDLE is pinned and running.
func idle(t *testing.T, pid int) []int {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for _, name := range names {
		tid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil || attr.Policy != unix.SCHED_IDLE {
			continue
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(tid, &set); err != nil {
			t.Fatal(err)
		}
		if set.Count() != 1 {
			t.Errorf("an idle thread may run on %d CPUs, want one", set.Count())
		}
		for n := range 1024 {
			if set.IsSet(n) {
				cpus = append(cpus, n)
			}
		}
	}
	slices.Sort(cpus)
	return cpus
}

func TestSpinner(t *testing.T) {
	p, e := start(t, child.Job{Role: child.Spinner})
	all := host.AllowedCPUs()
	if e.Ready != host.CPUList() {
		t.Errorf("the spinner keeps CPU %s awake, want %s", e.Ready, host.CPUList())
	}
	if got := idle(t, p.PID()); !slices.Equal(got, all) {
		t.Errorf("threads of the lowest priority are on CPU %v, want %v", got, all)
	}
	p.Stop(10 * time.Second)
	if f := p.Died(); f.Message != "the child ended without an answer" {
		t.Errorf("the spinner did not end by itself: %v", f)
	}
}

func TestSpinnerOnSome(t *testing.T) {
	last := host.AllowedCPUs()[len(host.AllowedCPUs())-1:]
	p, e := start(t, child.Job{Role: child.Spinner, CPUs: last})
	if got := idle(t, p.PID()); e.Ready != host.FormatCPUs(last) || !slices.Equal(got, last) {
		t.Errorf("the spinner keeps CPU %s awake and its threads are on %v, want %v", e.Ready, got, last)
	}
}

// turn uses a CPU for a while and returns the part of it that it got.
func turn(d time.Duration) float64 {
	var before, after unix.Timespec
	begun := time.Now()
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &before)
	for time.Since(begun) < d {
		for i := range 1000 {
			runtime.KeepAlive(i)
		}
	}
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &after)
	return float64(after.Nano()-before.Nano()) / float64(time.Since(begun))
}

// A process beside the spinner gets its CPU as if the spinner were not there. What other
// processes of the machine take is the same with and without it, so the test tries often
// and believes the best.
func TestSpinnerGivesWay(t *testing.T) {
	cpu := host.AllowedCPUs()[len(host.AllowedCPUs())-1]
	start(t, child.Job{Role: child.Spinner})
	best := 0.0
	for deadline := time.Now().Add(30 * time.Second); best < 0.9 && time.Now().Before(deadline); {
		part := make(chan float64)
		go func() {
			runtime.LockOSThread()
			if err := host.PinThread(cpu); err != nil {
				t.Error(err)
			}
			part <- turn(200 * time.Millisecond)
		}()
		best = max(best, <-part)
	}
	if best < 0.9 {
		t.Errorf("a process got %.0f %% of a CPU beside the spinner, want nearly all", 100*best)
	}
}

// The host's busy time is told without the spinner's.
func TestMeterLeavesOutSpinner(t *testing.T) {
	p, _ := start(t, child.Job{Role: child.Spinner})
	with, err := host.NewMeter(0, p.PID())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = with.Close() }()
	all, err := host.NewMeter(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = all.Close() }()
	spun0, err := host.ProcessCPU(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	busy0, rest0 := *all.Read().System, *with.Read().System
	time.Sleep(500 * time.Millisecond)
	rest1, busy1 := *with.Read().System, *all.Read().System
	spun1, err := host.ProcessCPU(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	got, want := rest1-rest0, busy1-busy0-(spun1-spun0)
	if diff := (got - want).Abs(); diff > 100*time.Millisecond {
		t.Errorf("without the spinner the host was busy for %v, with it %v, and it spun for %v", got, busy1-busy0, spun1-spun0)
	}
	p.Kill()
	if r := with.Read(); r.System != nil || !strings.Contains(with.Reasons()[host.SystemReason], "spinner") {
		t.Errorf("busy time %v after the spinner is gone, reasons %v", r.System, with.Reasons())
	}
}

// parentEnv makes the test binary a parent that starts a spinner and tells its id.
const parentEnv = "CHILD_TEST_PARENT"

func beParent() {
	exe, _ := os.Executable()
	p, err := child.Starter{Exe: exe}.Start(context.Background(), child.Job{Role: child.Spinner}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	<-p.Events() // it spins
	fmt.Println(p.PID())
	time.Sleep(time.Minute)
}

// The spinner does not outlive a parent that is killed.
func TestSpinnerEndsWithParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, err2 := strconv.Atoi(strings.TrimSpace(line))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the spinner is not there: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out) // comes to its end when nobody holds it open any more
	_ = cmd.Wait()                  // it was killed
	for deadline := time.Now().Add(30 * time.Second); gone(pid) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the spinner %d outlives its parent", pid)
		}
	}
}

// gone returns an error once the process is no more, or is only waiting to be reaped.
func gone(pid int) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err
	}
	if _, after, _ := strings.Cut(string(text), ") "); strings.HasPrefix(after, "Z") {
		return os.ErrProcessDone
	}
	return nil
}
