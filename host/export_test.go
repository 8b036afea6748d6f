package host

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox"

// WithReset has calls made pristine in one way, which must work here.
func WithReset(config Config, reset sandbox.Reset) Config {
	config.reset = reset
	return config
}
