package sandbox

import (
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// The clock of a guest is a stand-in: it advances by a fixed step with each reading, and jumps over what the guest would sleep. A guest
// that waits gets its timeout at once; a guest that counts time finds the same in every run.
//
// Every call begins at clockCall. What runs before, the start of the module and its warm calls, has the day before that to itself, so that
// a monotonic clock never goes back and yet a call cannot tell how much of that day was used.
const (
	clockStart = 1_000_000_000                  // when the module starts, on the monotonic clocks, in nanoseconds
	clockCall  = 86_400 * 1_000_000_000         // when a call begins
	clockStep  = 1_000                          // a microsecond a reading
	clockEpoch = 946_684_800 * 1_000_000_000    // the wall clock is at 2000-01-01T00:00:00Z where the monotonic clocks are at 0
	clockEnd   = 1<<62 - clockEpoch - clockStep // it stands still there, 116 years later
)

// The clocks of preview1.
const (
	clockRealtime  = 0
	clockMonotonic = 1
	clockProcess   = 2
	clockThread    = 3
)

func (s *guestState) now(clock uint32) uint64 {
	if clock == clockRealtime {
		return clockEpoch + s.clock
	}
	return s.clock
}

// advance moves the clock by some nanoseconds, up to where it stands still.
func (s *guestState) advance(by uint64) {
	s.clock += min(by, s.clockEnd-s.clock)
}

// clockTime takes (clock, precision, pointer to the time).
func clockTime(s *guestState, memory api.Memory, stack []uint64) uint64 {
	clock := uint32(stack[0])
	if clock > clockThread {
		return errnoInval
	}
	s.advance(clockStep)
	return written(memory.WriteUint64Le(uint32(stack[2]), s.now(clock)))
}

func clockResolution(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) > clockThread {
		return errnoInval
	}
	return written(memory.WriteUint64Le(uint32(stack[1]), clockStep))
}

// A subscription of poll_oneoff is 48 bytes: user data, a tag at 8, and for a clock its id at 16, the timeout at 24, flags at 40. An event
// is 32 bytes: user data, an errno at 8, the tag at 10.
const (
	subscriptionBytes = 48
	eventBytes        = 32
	tagClock          = 0
	flagAbsolute      = 1
	maxSubscriptions  = 128 // a runtime waits for a few
)

// pollOneoff takes (subscriptions, events, how many, pointer to the number of events). It does not wait: the clocks that come first fire,
// and the time is then what they waited for. Streams are always ready.
func pollOneoff(s *guestState, memory api.Memory, stack []uint64) uint64 {
	count := uint32(stack[2])
	if count == 0 || count > maxSubscriptions {
		return errnoInval
	}
	view, ok := memory.Read(uint32(stack[0]), count*subscriptionBytes)
	if !ok {
		return errnoFault
	}
	s.meter.charge(uint64(count) * subscriptionFuel)
	subscriptions := s.polled[:copy(s.polled[:], view)] // events may overlap them
	wait := s.shortestWait(subscriptions)
	fired := uint32(0)
	for sub := subscriptions; len(sub) > 0; sub = sub[subscriptionBytes:] {
		if sub[8] == tagClock && s.wait(sub) > wait {
			continue
		}
		event := &s.event
		clear(event[:])
		copy(event[:8], sub[:8])
		event[10] = sub[8]
		if !memory.Write(uint32(stack[1])+fired*eventBytes, event[:]) {
			return errnoFault
		}
		fired++
	}
	s.advance(wait)
	return written(memory.WriteUint32Le(uint32(stack[3]), fired))
}

func (s *guestState) shortestWait(subscriptions []byte) uint64 {
	shortest := uint64(math.MaxUint64)
	for sub := subscriptions; len(sub) > 0; sub = sub[subscriptionBytes:] {
		if sub[8] != tagClock {
			return 0
		}
		shortest = min(shortest, s.wait(sub))
	}
	return shortest
}

// wait is how long a clock subscription waits from now on.
func (s *guestState) wait(sub []byte) uint64 {
	timeout := binary.LittleEndian.Uint64(sub[24:])
	if le32(sub[40:])&flagAbsolute == 0 {
		return timeout
	}
	now := s.now(le32(sub[16:]))
	return timeout - min(timeout, now)
}

// randomSeed begins the random stream of every call: ChaCha8 as specified, so that the stream outlives versions of Go.
const randomSeed = "shadowcourt random stream, v1.00"

// randomGet takes (pointer, length).
func randomGet(s *guestState, memory api.Memory, stack []uint64) uint64 {
	b, ok := memory.Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		return errnoFault
	}
	if !s.seeded {
		s.random.Seed([32]byte([]byte(randomSeed)))
		s.seeded = true
	}
	s.meter.charge(uint64(len(b)) * randomByteFuel)
	_, _ = s.random.Read(b) // never fails
	return errnoSuccess
}

func le32(b []byte) uint32       { return binary.LittleEndian.Uint32(b) }
func putLE64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
