package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// programs shares compiled modules between the engines of a process. A module of the Go toolchain is 12 MB of machine code, and half a
// second of work; a process may have a host, candidates, replays and audits on the same modules. Safe for concurrent use.
type programs struct {
	mu      sync.Mutex
	entries map[programKey]*programEntry
}

// sharedPrograms is the process's own.
//
//nolint:gochecknoglobals // what is compiled once a process has no other owner
var sharedPrograms = programs{entries: map[programKey]*programEntry{}}

// programKey is all that a program depends on: calls into programs with equal keys can't be told apart.
type programKey struct {
	code     Digest
	warm     Digest
	cacheDir string // of the engine, which expects to find its modules there
	limits   Limits // without those that only decide whether a module is loaded
	reset    Reset
	metering Metering
}

func (e *Engine) programKey(code Digest, warm []Warm) programKey {
	key := programKey{code: code, warm: warmDigest(warm), limits: e.limits, reset: e.reset, metering: e.meter}
	key.limits.ModuleBytes, key.limits.InputBytes, key.limits.CompileTime = 0, 0, 0
	if e.cache != nil {
		key.cacheDir = e.cache.dir
	}
	return key
}

func warmDigest(warm []Warm) Digest {
	h := sha256.New()
	for _, w := range warm {
		for _, part := range [][]byte{[]byte(w.Call), w.Request} {
			_ = binary.Write(h, binary.LittleEndian, uint64(len(part))) // a hash has no errors
			_, _ = h.Write(part)
		}
	}
	return Digest(h.Sum(nil))
}

// programEntry is a program, or its making.
type programEntry struct {
	key      programKey
	users    int                // loads that wait and modules that are loaded; guarded by programs.mu
	cancel   context.CancelFunc // of the making
	compiled chan struct{}      // closed when the compiler is done
	done     chan struct{}      // closed when program or err is there
	program  *program
	err      error
}

// acquire counts a user of the program with that key, to be released once.
// first says that the caller has to make it, and then finish the entry.
func (s *programs) acquire(key programKey) (entry *programEntry, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.entries[key]
	if !ok {
		entry = &programEntry{key: key, cancel: func() {}, compiled: make(chan struct{}), done: make(chan struct{})}
		s.entries[key] = entry
	}
	entry.users++
	return entry, !ok
}

// finish gives the waiting users the program, or the error. A failure is not kept: the next load tries again.
func (s *programs) finish(ctx context.Context, entry *programEntry, p *program, err error) {
	s.mu.Lock()
	entry.program, entry.err = p, err
	close(entry.done)
	abandoned := entry.users == 0
	if err != nil {
		s.forget(entry)
	}
	s.mu.Unlock()
	if abandoned && p != nil {
		_ = p.close(ctx)
	}
}

// release ends a use. The last one closes the program; while it is still being made, finish does.
func (s *programs) release(ctx context.Context, entry *programEntry) error {
	s.mu.Lock()
	entry.users--
	last := entry.users == 0
	if last {
		s.forget(entry)
	}
	made := entry.program
	s.mu.Unlock()
	if !last {
		return nil
	}
	entry.cancel()
	if made == nil {
		return nil
	}
	return made.close(ctx)
}

func (s *programs) forget(entry *programEntry) {
	if s.entries[entry.key] == entry {
		delete(s.entries, entry.key)
	}
}

// await waits for the program of an entry, and gives up with the context's
// cause when the context or the time for compiling ends. The caller stays a user.
func (entry *programEntry) await(ctx context.Context, limits Limits) error {
	compiling, cancel := context.WithTimeoutCause(ctx, limits.CompileTime, errCompileTime)
	defer cancel()
	select {
	case <-entry.compiled:
	case <-compiling.Done():
		return context.Cause(compiling)
	}
	select {
	case <-entry.done:
		return entry.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errCompileTime is the cause of a context that ended by Limits.CompileTime.
var errCompileTime = errors.New("compile time limit")

// collecting is set while a collection is due.
//
//nolint:gochecknoglobals // there is one collector a process
var collecting atomic.Bool

// collectAfter is how long machine code may outlive its program. A process that closes its programs because it ends needs no collection.
const collectAfter = 100 * time.Millisecond

// collect has the machine code of closed programs unmapped soon. wazero does that in finalizers, and the collector counts no mapped memory:
// left alone it may not run for two minutes, while gigabytes of code wait for it. Programs that are closed in a row share a collection.
func collect() {
	if !collecting.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(collectAfter, func() {
		collecting.Store(false) // what is closed from here on may miss this one
		runtime.GC()
	})
}
