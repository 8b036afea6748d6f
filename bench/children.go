package main

import (
	"context"
	"io"
)

// children are what this program does in a process of its own, where memory is
// measured.
func children() map[string]func(ctx context.Context, args []string, stdout io.Writer) error {
	return nil
}
