//go:build linux

package isolate

import "context"

// Strongest is the level that this system allows.
func Strongest() Level { return strongest() }

// RunAt is Run at a level that the test chooses.
func RunAt(ctx context.Context, level Level, c Command) (*Result, error) {
	c.Limits = c.Limits.orDefaults()
	return start(ctx, &order{Command: c, Level: level, Privacy: privacyOf(&c)})
}
