//go:build unix

package execlight

import (
	"os/exec"
	"syscall"
)

// shell is a command line in a process group of its own, so that whom it starts ends with it, and a Ctrl-C reaches it through us.
func shell(command string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", command) //nolint:noctx,gosec // it outlives the request that starts it; the command is the user's own
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// kill kills the group, and the program itself should it have left that.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Process.Kill()
}
