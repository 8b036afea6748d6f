package pages

import (
	"errors"
	"fmt"
	"sync"
)

// Way is how a memory is reset.
type Way int

// The ways, the cheapest first.
const (
	// Auto is the cheapest way that works here.
	Auto Way = iota
	// Scan asks the kernel which pages were written (PAGEMAP_SCAN, Linux 6.7 and later) and copies them back.
	Scan
	// Discard has the kernel drop the written pages (MADV_DONTNEED): the next call pays with page faults.
	Discard
	// Compare compares every page with the image and copies back what differs. It works everywhere, and shares nothing.
	Compare
	// Fresh resets nothing: whoever opens it makes a new memory each time.
	Fresh
)

func (w Way) String() string {
	names := [...]string{"auto", "scan", "discard", "compare", "fresh"}
	if w < 0 || int(w) >= len(names) {
		return fmt.Sprintf("way %d", int(w))
	}
	return names[w]
}

// ErrUnsupported says that a way does not work on this machine.
var ErrUnsupported = errors.New("not supported here")

// Ways are those that work here, the cheapest first. Compare always does.
func Ways() []Way {
	var ways []Way
	for _, way := range []Way{Scan, Discard, Compare} {
		if _, err := Open(way); err == nil {
			ways = append(ways, way)
		}
	}
	return ways
}

// Pager makes images and memories.
type Pager struct {
	way    Way
	kernel kernel
}

// pagers are those that were opened, one a way. They hold a file descriptor
// each at the most and are never closed: memories of several owners use them.
//
//nolint:gochecknoglobals // the kernel's interface to this process's memory
var pagers struct {
	sync.Mutex
	open map[Way]*Pager
}

// Open gives the process's pager for one way, or for the cheapest that works here. The error wraps ErrUnsupported. Each way is tried on a
// memory of its own first: what a kernel says that it does is not taken on trust.
func Open(way Way) (*Pager, error) {
	if way == Auto {
		return openCheapest(), nil
	}
	if way == Fresh {
		way = Compare
	}
	pagers.Lock()
	defer pagers.Unlock()
	if p, ok := pagers.open[way]; ok {
		return p, nil
	}
	p := &Pager{way: way}
	if way != Compare {
		if err := p.kernel.open(way); err != nil {
			return nil, fmt.Errorf("pages: %s: %w", way, err)
		}
		if err := p.try(); err != nil {
			return nil, errors.Join(fmt.Errorf("pages: %s: %w", way, err), p.kernel.close())
		}
	}
	if pagers.open == nil {
		pagers.open = map[Way]*Pager{}
	}
	pagers.open[way] = p
	return p, nil
}

func openCheapest() *Pager {
	for _, way := range []Way{Scan, Discard} {
		if p, err := Open(way); err == nil {
			return p
		}
	}
	return &Pager{way: Compare}
}

// errWrongBytes is a way that does not do what it says.
var errWrongBytes = errors.New("a page was not reset")

// try writes, and reads, every other page of a memory and resets it.
func (p *Pager) try() error {
	const n = 8
	content := make([]byte, n*pageBytes)
	for i := range content {
		content[i] = byte(1 + i/pageBytes)
	}
	m, err := p.NewMemory(2 * uint64(len(content)))
	if err != nil {
		return err
	}
	defer m.Free()
	image, err := p.NewImage(content)
	if err != nil {
		return err
	}
	defer func() { _ = image.Close() }()
	if err := m.Begin(image); err != nil {
		return err
	}
	for range 2 {
		b := m.Reallocate(image.Size())
		for i := range n {
			if b[i*pageBytes] != byte(1+i) {
				return errWrongBytes
			}
			if i%3 == 0 {
				b[i*pageBytes+i] = 0xff
			}
		}
		if err := m.Reset(); err != nil {
			return err
		}
		if string(b) != string(content) {
			return errWrongBytes
		}
	}
	return nil
}
