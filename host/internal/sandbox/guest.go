package sandbox

import (
	"context"
	"math/rand/v2"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

const maxStderrBytes = 4 << 10

// guestState is the host's side of one instance: its clock and its random stream,
// what it wrote, what it may spend. It is a part of what pristine means.
//
// One goroutine at a time uses it, the one that calls the instance.
type guestState struct {
	standIns
	stderr []byte
	meter  meter
	uses   uses
	broker Broker
	memory *pages.Memory

	// what poll_oneoff reads and writes, here so that it makes no garbage
	polled [maxSubscriptions * subscriptionBytes]byte
	event  [eventBytes]byte

	kernel *kernel // nil but for a guest of Extism
}

// standIns are what a guest has instead of the machine's clock and randomness.
// They begin again with every call, and with every phase before the first one.
type standIns struct {
	clock    uint64 // nanoseconds, see clock.go
	clockEnd uint64 // where it stands still
	seeded   bool
	random   rand.ChaCha8
}

// standInsOfStart are those of a module that starts.
func standInsOfStart() standIns { return standIns{clock: clockStart, clockEnd: clockCall} }

// ofWarming gives those of a warm call: its clock goes on where the one before it ended.
func (s standIns) ofWarming() standIns { return standIns{clock: s.clock, clockEnd: clockCall} }

// standInsOfCall are those of every call, whatever ran before it.
func standInsOfCall() standIns { return standIns{clock: clockCall, clockEnd: clockEnd} }

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
