package host

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// Looker gives what Follow does at a tick.
func Looker(h followed, w Watch) func(context.Context) {
	return newFollower(context.Background(), h, w).look
}

// WithReset has calls made pristine in one way, which must work here.
func WithReset(config Config, reset sandbox.Reset) Config {
	config.reset = reset
	return config
}
