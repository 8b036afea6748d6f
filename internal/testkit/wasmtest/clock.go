package wasmtest

import (
	"sync/atomic"
	"time"
)

// Ticking is a clock that goes on by a step whenever it is read, and never by itself. What a call may last is then a number of readings,
// the same on every machine under every load. Safe for concurrent use.
func Ticking(step time.Duration) func() time.Time {
	var now atomic.Int64
	return func() time.Time { return time.Unix(0, now.Add(int64(step))) }
}
