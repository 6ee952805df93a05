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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"benchd/kernels"
	"benchd/worker/bench"
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

// Each lane of a kernel that blocks has a processor of Go's on one CPU too, with two to spare,
// where the kernel says that so many can block and they are not too many for the CPU. Others
// have what there is.
func TestSpare(t *testing.T) {
	one := host.AllowedCPUs()[:1]
	for _, row := range []struct {
		clients, want string
	}{{"1", "3"}, {"4", "6"}, {"8", "10"}, {"9", "1"}, {"17", "1"}} {
		t.Run(row.clients, func(t *testing.T) {
			_, e := start(t, child.Job{Role: child.Server, Kernel: "test.block", CPUs: one, Params: kernels.Params{"clients": row.clients}})
			if e.Ready != row.want {
				t.Errorf("%s threads of Go may run at once, want %s", e.Ready, row.want)
			}
		})
	}
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
		{"free", nil, fmt.Sprintf("%s of %d", bench.FormatCPUs(all), len(all))},
		{"the first", all[:1], fmt.Sprintf("%d of 1", all[0])},
		{"the last", all[len(all)-1:], fmt.Sprintf("%d of 1", all[len(all)-1])},
		{"all by number", all, fmt.Sprintf("%s of %d", bench.FormatCPUs(all), len(all))},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, e := start(t, child.Job{Role: child.Server, Kernel: "test.look", CPUs: row.cpus})
			if e.Ready != row.want {
				t.Errorf("the child has CPU %s, want %s", e.Ready, row.want)
			}
		})
	}
	if got := allowed(os.Getpid()); !slices.Equal(got, []string{bench.FormatCPUs(all)}) {
		t.Errorf("after it the parent's threads have %v, want all %s", got, bench.FormatCPUs(all))
	}
}

// A refused placement leaves no thread of the parent behind on fewer CPUs.
func TestPlacementRefused(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		all := bench.FormatCPUs(host.AllowedCPUs())
		if got := allowed(os.Getpid()); !slices.Equal(got, []string{all}) {
			t.Errorf("after it the parent's threads have %v, want all %s", got, all)
		}
	}()
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

// threads lists the ids of a process's threads.
func threads(t *testing.T, pid int) []int {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, name := range names {
		tid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, tid)
	}
	return ids
}

// idle lists the CPUs on which a thread is pinned that has the policy SCHED_IDLE. No thread
// of a spinner has another.
func idle(t *testing.T, pid int) []int {
	t.Helper()
	var cpus []int
	for _, tid := range threads(t, pid) {
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil {
			t.Fatal(err)
		}
		if attr.Policy != unix.SCHED_IDLE {
			t.Errorf("a thread of the spinner has the policy %d, want %d", attr.Policy, unix.SCHED_IDLE)
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(tid, &set); err != nil {
			t.Fatal(err)
		}
		for n := range 1024 {
			if set.Count() == 1 && set.IsSet(n) {
				cpus = append(cpus, n)
			}
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus)
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
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", p.PID()))
	if err == nil && !strings.Contains(string(text), "nice 19") {
		t.Errorf("the spinner's session has the share %s, want that of nice 19", text)
	}
	p.Stop(time.Minute) // on a busy host the last to run
	if f := p.Died(); f.Message != "the child ended without an answer" {
		t.Errorf("the spinner did not end by itself: %v", f)
	}
}

func TestSpinnerOnSome(t *testing.T) {
	last := host.AllowedCPUs()[len(host.AllowedCPUs())-1:]
	p, e := start(t, child.Job{Role: child.Spinner, CPUs: last})
	if got := idle(t, p.PID()); e.Ready != bench.FormatCPUs(last) || !slices.Equal(got, last) {
		t.Errorf("the spinner keeps CPU %s awake and its threads are on %v, want %v", e.Ready, got, last)
	}
}

// turned tells the CPU time of a process's threads that are pinned on a CPU.
func turned(t *testing.T, pid, cpu int) time.Duration {
	t.Helper()
	var sum time.Duration
	for _, tid := range threads(t, pid) {
		var set unix.CPUSet
		if unix.SchedGetaffinity(tid, &set) != nil || set.Count() != 1 || !set.IsSet(cpu) {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
		if err != nil {
			t.Skipf("the kernel does not tell the CPU time of threads: %v", err)
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// While a thread has work on a CPU, the spinner's there gets next to nothing of it, whatever
// else the machine does.
func TestSpinnerGivesWay(t *testing.T) {
	cpu := host.AllowedCPUs()[len(host.AllowedCPUs())-1]
	p, _ := start(t, child.Job{Role: child.Spinner})
	begun := make(chan struct{})
	ended := make(chan error)
	var stop atomic.Bool
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		back, err := host.PlaceThread([]int{cpu})
		close(begun)
		for !stop.Load() {
			runtime.KeepAlive(stop.Load())
		}
		if err == nil {
			err = back()
		}
		ended <- err
	}()
	<-begun
	before, since := turned(t, p.PID(), cpu), time.Now()
	time.Sleep(time.Second)
	spun, elapsed := turned(t, p.PID(), cpu)-before, time.Since(since)
	stop.Store(true)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// Against an ordinary process it is 3 in 1000, against one of the least niceness 1 in 6; a
	// thread of ordinary priority would take half.
	if part := float64(spun) / float64(elapsed); part > 0.25 {
		t.Errorf("the spinner took %.0f %% of a CPU on which a process had work, want next to nothing", 100*part)
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
