package sandbox

import (
	"context"
	"math/rand/v2"

	"github.com/tetratelabs/wazero/experimental"
)

const maxStderrBytes = 4 << 10

// guestState is the host's side of one instance: what its clock, its random
// stream and its memory have come to. It is a part of what pristine means: an
// instance begins with a new one.
//
// One goroutine at a time uses it, the one that calls the instance.
type guestState struct {
	clock  uint64 // nanoseconds, see clock.go
	random *rand.ChaCha8
	stderr []byte
	memory guestMemory
}

func newGuestState(memoryBytes int64) *guestState {
	return &guestState{clock: clockStart, memory: guestMemory{limit: uint64(memoryBytes)}}
}

// write keeps the beginning of what a guest writes to its standard error.
func (s *guestState) write(b []byte) {
	if room := maxStderrBytes - len(s.stderr); room > 0 {
		s.stderr = append(s.stderr, b[:min(room, len(b))]...)
	}
}

type guestKey struct{}

// with gives the context that every call into the instance must carry: host
// functions find the state there, and wazero the memory.
func (s *guestState) with(ctx context.Context) context.Context {
	ctx = experimental.WithMemoryAllocator(ctx, &s.memory)
	return context.WithValue(ctx, guestKey{}, s)
}

func guestOf(ctx context.Context) *guestState {
	s, ok := ctx.Value(guestKey{}).(*guestState)
	if !ok {
		panic("sandbox: an instance was called without its context")
	}
	return s
}

// guestMemory is the linear memory of an instance. wazero's own would refuse
// growth as well, but not say afterwards that it did, and could hold twice the
// limit while it grows.
type guestMemory struct {
	buf     []byte
	limit   uint64
	reserve uint64 // what the module is known to grow to while it initializes
	refused bool   // growth beyond the limit was asked for
}

// Allocate implements experimental.MemoryAllocator. An instance has one memory.
func (m *guestMemory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. Memory never shrinks, so
// what lies between length and capacity was never written and is zero.
func (m *guestMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.refused = true
		return nil
	}
	if size > uint64(cap(m.buf)) {
		capacity := min(max(size, m.reserve, uint64(cap(m.buf))*3/2), m.limit)
		grown := make([]byte, size, capacity)
		copy(grown, m.buf)
		m.buf = grown
	}
	m.buf = m.buf[:size]
	return m.buf
}

// Free implements experimental.LinearMemory. The instance is closed only when
// no call runs in it, so nothing refers to the bytes any more.
func (m *guestMemory) Free() { m.buf = nil }
