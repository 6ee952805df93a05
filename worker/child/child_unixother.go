//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// isolate gives the child a process group of its own. It ends with its parent because its
// input does.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
