//go:build !unix

package execlight

import "os/exec"

func shell(command string) *exec.Cmd {
	return exec.Command("cmd", "/C", command) //nolint:noctx // it outlives the request that starts it
}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
