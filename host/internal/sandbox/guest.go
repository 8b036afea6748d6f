package sandbox

import (
	"context"
	"math/rand/v2"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

const maxStderrBytes = 4 << 10

// guestState is the host's side of one instance: what its clock and its random
// stream have come to, what it wrote, what it may spend. It is a part of what
// pristine means.
//
// One goroutine at a time uses it, the one that calls the instance.
type guestState struct {
	standIns
	stderr []byte
	meter  meter
	uses   uses
	desk   Desk
	memory *pages.Memory
	kernel *kernel // nil but for a guest of Extism
}

// standIns are what a guest has instead of the machine's clock and randomness.
type standIns struct {
	clock  uint64 // nanoseconds, see clock.go
	seeded bool
	random rand.ChaCha8
}

func newStandIns() standIns { return standIns{clock: clockStart} }

// write keeps the beginning of what a guest writes to its standard error.
func (s *guestState) write(b []byte) {
	if room := maxStderrBytes - len(s.stderr); room > 0 {
		s.stderr = append(s.stderr, b[:min(room, len(b))]...)
	}
}

type guestKey struct{}

// with gives the context that every call into the instance must carry: host
// functions find the state there.
func (s *guestState) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, guestKey{}, s)
}

func guestOf(ctx context.Context) *guestState {
	s, ok := ctx.Value(guestKey{}).(*guestState)
	if !ok {
		panic("sandbox: an instance was called without its context")
	}
	return s
}
