//go:build !linux && !darwin

package testcmd

import (
	"context"
	"os/exec"
)

// attach leaves the command to be killed when its context ends.
func attach(context.Context, *exec.Cmd) (shared bool, end func()) { return false, func() {} }
