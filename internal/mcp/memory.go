package mcp

import (
	"context"
	"sync"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// Memory is a casebook that agents correct while a server tries cases. Each trial sees one snapshot from its begin to its end, the
// latest when it began. Safe for concurrent use.
type Memory struct {
	book *casebook.Book

	mu     sync.Mutex
	latest *snapshot
}

// snapshot is a state of the book, which is closed after its last use.
type snapshot struct {
	host.Casebook
	of   *casebook.Snapshot
	uses int
}

// NewMemory takes a first snapshot of a book, which stays the caller's. The caller closes the memory before the book, and after the
// server.
func NewMemory(ctx context.Context, book *casebook.Book) (*Memory, error) {
	m := &Memory{book: book}
	return m, m.refresh(ctx)
}

// refresh makes what the book has now the latest snapshot.
func (m *Memory) refresh(ctx context.Context) error {
	of, err := m.book.Snapshot(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	before := m.latest
	m.latest = &snapshot{Casebook: run.Casebook(of), of: of, uses: 1}
	m.mu.Unlock()
	m.release(before)
	return nil
}

// remember keeps an entry, and lets the trials that begin from now on see it.
func (m *Memory) remember(ctx context.Context, entry casebook.Entry) error {
	if _, err := m.book.Remember(ctx, casebook.Run{Entries: []casebook.Entry{entry}}); err != nil {
		return err
	}
	return m.refresh(ctx)
}

// Close closes the latest snapshot. No trial may run.
func (m *Memory) Close() {
	m.mu.Lock()
	latest := m.latest
	m.latest = nil
	m.mu.Unlock()
	m.release(latest)
}

// hold gives the latest snapshot, for its user to release.
func (m *Memory) hold() *snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest.uses++
	return m.latest
}

func (m *Memory) release(s *snapshot) {
	if s == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.uses--; s.uses == 0 {
		_ = s.of.Close() // nothing was written
	}
}

// with is a host whose trials see the latest snapshot, until end is called. The memory may be nil.
func (m *Memory) with(h *host.Host) (seeing *host.Host, end func()) {
	if m == nil {
		return h, func() {}
	}
	s := m.hold()
	return h.WithCasebook(s.Casebook), func() { m.release(s) }
}
