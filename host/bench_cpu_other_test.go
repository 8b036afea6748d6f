//go:build !unix

package host_test

import (
	"testing"
	"time"
)

// cpuTime is not known here.
func cpuTime(*testing.B) time.Duration { return 0 }
