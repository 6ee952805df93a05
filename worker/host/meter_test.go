package host_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchd/worker/host"
)

// sleepEnv makes the test binary a process that sleeps, for tests that need another process.
const sleepEnv = "HOST_TEST_SLEEP"

func TestMain(m *testing.M) {
	if os.Getenv(sleepEnv) != "" {
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	if os.Getenv(burnEnv) != "" {
		beBurner()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// burn uses CPU time of this process until its own meter has seen d.
func burn(t *testing.T, m *host.Meter, d time.Duration) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for start := m.Read().Self; m.Read().Self-start < d; {
		if time.Now().After(deadline) {
			t.Fatalf("%v of CPU time were not used within a minute", d)
		}
		for i, x := 0, 1.0; i < 1e5; i++ {
			x *= 1.0000001
			runtime.KeepAlive(x)
		}
	}
}

// A server that is this very process has the CPU time of this process, read by another way.
func TestMeterSelfIsServer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another process's CPU time is read on linux only")
	}
	m, err := host.NewMeter(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	before := m.Read()
	burn(t, m, 200*time.Millisecond)
	after := m.Read()

	self, server := after.Self-before.Self, *after.Server-*before.Server
	if diff := (self - server).Abs(); diff > 50*time.Millisecond {
		t.Errorf("self %v, the same process as server %v", self, server)
	}
	// The host was at least as busy as this process, up to the ticks it is counted in.
	if system := *after.System - *before.System; system < self-60*time.Millisecond {
		t.Errorf("self %v, all CPUs of the host %v", self, system)
	}
	if len(m.Reasons()) > 0 {
		t.Errorf("reasons %v for figures that are there", m.Reasons())
	}
}

func TestMeterWithoutServer(t *testing.T) {
	m, err := host.NewMeter(0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if r := m.Read(); r.Server != nil {
		t.Errorf("server used %v, there is none", *r.Server)
	}
	if reason := m.Reasons()[host.ServerReason]; reason != "there is no server process" {
		t.Errorf("reason %q", reason)
	}
}

// ended starts a process, waits for its end and returns its id.
func ended(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestMeterServerGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another process's CPU time is read on linux only")
	}
	if _, err := host.NewMeter(ended(t)); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("error %v, want %v", err, os.ErrProcessDone)
	}
}

// A server that ends between two readings makes its figure null, with the reason.
func TestMeterServerEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another process's CPU time is read on linux only")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sleepEnv+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m, err := host.NewMeter(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Read().Server == nil {
		t.Errorf("no CPU time of a living server: %v", m.Reasons())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if r := m.Read(); r.Server != nil {
		t.Errorf("server that ended used %v", *r.Server)
	}
	if reason := m.Reasons()[host.ServerReason]; !strings.Contains(reason, "process already finished") {
		t.Errorf("reason %q", reason)
	}
}

func TestProcessCPUBadID(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30} {
		if d, err := host.ProcessCPU(pid); err == nil {
			t.Errorf("process %d used %v, want an error", pid, d)
		}
	}
}

func BenchmarkMeter(b *testing.B) {
	m, err := host.NewMeter(os.Getpid())
	if err != nil {
		b.Skip(err)
	}
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		m.Read()
	}
}
