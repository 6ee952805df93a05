//go:build unix

package child

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// killGroup kills the child and all that it started.
func killGroup(cmd *exec.Cmd) {
	// An error means that the group is gone already.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// tryLock takes the lock of an open file. It belongs to the open file, not to the process:
// children that inherit the descriptor hold it too.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// pass lets a child inherit the lock.
func (l *Lock) pass(cmd *exec.Cmd) {
	if l != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, l.file)
	}
}
