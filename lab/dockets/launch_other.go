//go:build !linux

package main

import (
	"os"
	"os/exec"
)

// launch runs a test binary as it is; where this isn't Linux, no fault of the environment can be made.
func launch(fault string, args []string) int {
	if fault != "" {
		_ = os.WriteFile(os.Getenv(noteEnv), []byte(fault+": this needs Linux"), 0o600)
		return 125
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

func asGroup(*exec.Cmd) {}
