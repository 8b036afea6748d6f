//go:build linux || darwin

package testcmd

import (
	"context"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// attach sees to it that an end of the command's context interrupts the runner and all that it started once. In front of a terminal
// they stay in this program's process group, where they may read from the terminal: Ctrl-C reaches them as it reaches this program, so
// that nothing is sent unless the context around that of the command has not ended. Otherwise they have a group of their own. The
// function that it returns kills what is left of that. In front of a terminal, shared is true.
func attach(around context.Context, cmd *exec.Cmd) (shared bool, end func()) {
	if inFront() {
		cmd.Cancel = func() error {
			if around.Err() == nil {
				return cmd.Process.Signal(syscall.SIGTERM)
			}
			return nil
		}
		return true, func() {}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	return false, func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
}

// inFront says whether this program's process group is the one that its terminal sends Ctrl-C to.
func inFront() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
