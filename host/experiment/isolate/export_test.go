//go:build linux

package isolate

import (
	"context"
	"os"
	"path/filepath"
)

// Strongest is the level that this system allows.
func Strongest(ctx context.Context) Level { return strongest(ctx) }

// RunAt is Run at a level that the test chooses.
func RunAt(ctx context.Context, level Level, c Command) (*Result, error) {
	c.Limits = c.Limits.orDefaults()
	for _, dir := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(c.Scratch, dir), 0o700); err != nil {
			return nil, err
		}
	}
	return start(ctx, &order{Command: c, Level: level})
}
