//go:build !linux && !darwin

package isolate

import "context"

func run(context.Context, *Command) (*Result, error) { return nil, ErrUnsupported }

func canView() bool { return false }

func hides() bool { return false }

// OneFileSystem is not known here.
func OneFileSystem(string, string) bool { return false }

// MayWrite is not known here.
func MayWrite(string) bool { return false }
