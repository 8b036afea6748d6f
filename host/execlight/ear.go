package execlight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ear listens to what a program writes, all the time: what it writes while nothing is asked is noticed, and never taken for an answer to
// what is asked next.
type ear struct {
	answer chan heard // of what is asked
	most   int        // bytes of a line

	mu      sync.Mutex
	line    []byte // so far
	waiting bool   // for an answer
	state   error  // errUnasked or errEnded: there will be no more answers
}

// heard is a line, or err.
type heard struct {
	line []byte
	cut  bool // the program ended, or closed its output, before the line did
	err  error
}

var (
	errUnasked = errors.New("it wrote what nobody had asked for")
	errEnded   = errors.New("it ended without an answer")
)

// newEar waits for a first answer already.
func newEar(most int) *ear { return &ear{answer: make(chan heard, 1), most: most, waiting: true} }

// expect says that the next line is an answer. The error is errUnasked or errEnded, and then there will be none.
func (e *ear) expect() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = e.state == nil
	return e.state
}

// unasked says whether there is more than what was asked for.
func (e *ear) unasked() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Is(e.state, errUnasked)
}

// listen reads until the end, or until it makes no sense to go on.
func (e *ear) listen(from io.Reader) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if !e.hear(piece[:n], err != nil) { // a pipe that was closed is an end, too
			return
		}
	}
}

// hear takes what was read and says whether to go on.
func (e *ear) hear(piece []byte, end bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(piece) > 0 {
		head, rest, whole := bytes.Cut(piece, []byte("\n"))
		e.line, piece = append(e.line, head...), rest
		switch blank := len(bytes.TrimSpace(e.line)) == 0; {
		case !blank && !e.waiting:
			e.state = errUnasked
			return false
		case len(e.line) > e.most:
			e.give(heard{err: fmt.Errorf("its answer is longer than %d bytes", e.most)})
			e.state = errUnasked // the rest of it
			return false
		case !whole:
		case blank:
			e.line = nil
		default:
			e.give(heard{line: e.line})
		}
	}
	if !end {
		return true
	}
	e.state = errEnded
	switch {
	case !e.waiting:
	case len(bytes.TrimSpace(e.line)) > 0:
		e.give(heard{line: e.line, cut: true})
	default:
		e.give(heard{err: errEnded})
	}
	return false
}

// give hands out what is waited for, if anything is.
func (e *ear) give(h heard) {
	if e.waiting {
		e.answer <- h // it has room for one
	}
	e.waiting, e.line = false, nil
}
