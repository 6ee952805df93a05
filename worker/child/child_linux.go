package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives the child a process group of its own and lets the kernel kill it when the
// thread that started it ends.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// leadSession gives the child a session of its own instead, which is a process group too.
func leadSession(cmd *exec.Cmd) {
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Setsid = false, true
}

// limitMemory bounds the private writable memory of this process, which is what Go's heap is
// made of. Memory that is only reserved does not count (Linux 4.7 and later).
func limitMemory(bytes int64) error {
	if bytes <= 0 {
		return nil
	}
	limit := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("limit the memory of the child to %d bytes: %w", bytes, err)
	}
	return nil
}

// PeakRSS reads the peak resident memory of a process, of this one for id 0, in bytes. It
// reads VmHWM and not the usage that wait reports, which a child inherits from its parent.
func PeakRSS(pid int) *int64 {
	who := "self"
	if pid != 0 {
		who = strconv.Itoa(pid)
	}
	b, err := os.ReadFile("/proc/" + who + "/status")
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kb, err := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			if err != nil {
				return nil
			}
			kb *= 1024
			return &kb
		}
	}
	return nil
}
