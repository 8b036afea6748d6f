package host_test

import (
	"os"
	"testing"
)

// long says that tests which try many cases try all of them, as `make test-long` does.
func long() bool { return os.Getenv("SHADOWCOURT_LONG") != "" && !raceEnabled && !testing.Short() }
