package child

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// isolate gives the child a process group of its own, so that a Ctrl-C at the terminal
// reaches its parent only.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills the child.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// tryLock takes the lock of an open file. On Windows it belongs to this process alone; its
// children end when it does.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

// pass does nothing: the parent holds the lock for its children.
func (l *Lock) pass(*exec.Cmd) {}
