//go:build !linux

package launch

import (
	"errors"
	"os"
	"os/exec"
)

// Run runs a test binary as it is; where this isn't Linux, no fault of the environment can be made.
func Run(fault string, args []string) int {
	if fault != "" {
		_ = os.WriteFile(os.Getenv(NoteEnv), []byte(fault+": this needs Linux"), 0o600)
		return 125
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return 1
	}
	return 0
}

// Private does nothing here.
func Private() error { return nil }

// Break breaks nothing here.
func Break(string) (func() error, error) { return nil, errors.New("this needs Linux") }
