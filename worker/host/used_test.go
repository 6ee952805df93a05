package host_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"benchd/worker/host"
)

// burnEnv makes the test binary a process that uses half a second of CPU time, waits for the
// end of its input and ends.
const burnEnv = "HOST_TEST_BURN"

func beBurner() {
	m, err := host.NewMeter(0)
	if err != nil {
		os.Exit(1)
	}
	for m.Read().Self < 500*time.Millisecond {
		for i := range 100000 {
			runtime.KeepAlive(i)
		}
	}
	_, _ = os.Stdout.Write([]byte("!"))
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// What a process used counts while it lives and after it was reaped, and never twice.
func TestUsedOverTheEndOfAProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("another process's CPU time is read on linux only")
	}
	used := func(pids ...int) time.Duration {
		t.Helper()
		d, err := host.ReapedAndLiving(pids)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), burnEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	before := used()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	living := used(cmd.Process.Pid)
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	reaped, apart := used(cmd.Process.Pid), used()
	if grown := living - before; grown < 500*time.Millisecond || grown > 5*time.Second {
		t.Errorf("while the process lives its use adds %v, want its 0.5 s", grown)
	}
	for _, after := range []time.Duration{reaped, apart} {
		if grown := after - living; grown < -20*time.Millisecond || grown > 400*time.Millisecond {
			t.Errorf("its end adds %v, want next to nothing", grown)
		}
	}
}

// BenchmarkWatch prints which part of a core a watch of two seconds uses, its start and its
// end included. It needs a while: a watch that ends at once would show the start alone.
func BenchmarkWatch(b *testing.B) {
	m, err := host.NewMeter(0)
	if err != nil {
		b.Skip(err)
	}
	defer func() { _ = m.Close() }()
	begun, before := time.Now(), m.Read().Self
	for b.Loop() {
		w := host.NewWatch(host.WatchOptions{})
		w.Start(b.Context(), func() []int { return []int{os.Getpid()} })
		time.Sleep(2 * time.Second)
		w.Stop()
	}
	b.ReportMetric(100*float64(m.Read().Self-before)/float64(time.Since(begun)), "%-of-a-core")
}
