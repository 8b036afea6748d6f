package gotest

import (
	"cmp"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// DefaultHeldBytes is how much of the documents of cases waits for further runs of their tests.
const DefaultHeldBytes = 64 << 20

// maxRunTests is of how many tests the runs are counted; of those beyond it nothing is told.
const maxRunTests = 1 << 18

// testKey is a test of a package.
type testKey struct{ pack, test string }

// history counts the runs of tests, and holds the cases until all runs are known: with -count a test runs several times, and
// those who run failed tests again append the events of a second go to those of the first.
type history struct {
	runs  map[testKey]*report.Runs
	held  []heldCase
	bytes int
}

// heldCase is a case that waits for what further runs of its test bring.
type heldCase struct {
	docket.Entry
	test testKey
}

func (h *heldCase) size() int { return len(h.Case.Documents[0].Text) }

// ended notes that a test passed or failed.
func (h *history) ended(test testKey, passed bool) {
	r := h.runs[test]
	if r == nil {
		if len(h.runs) >= maxRunTests {
			return
		}
		r = &report.Runs{}
		h.runs[test] = r
	}
	r.Add(passed)
}

// hold keeps a case for later.
func (s *reading) hold(c heldCase) {
	s.history.held = append(s.history.held, c)
	s.history.bytes += c.size()
	s.release(cmp.Or(max(0, s.reader.HeldBytes), DefaultHeldBytes))
}

// releasePackage gives the cases of a package on.
func (s *reading) releasePackage(path string) {
	h := &s.history
	var others []heldCase
	for _, c := range h.held {
		if c.test.pack == path {
			s.handOn(c)
		} else {
			others = append(others, c)
		}
	}
	h.held = others
}

// release gives the oldest cases on until no more than most bytes wait.
func (s *reading) release(most int) {
	h := &s.history
	for len(h.held) > 0 && (h.bytes > most || most == 0) && !s.stopped {
		c := h.held[0]
		h.held[0] = heldCase{}
		h.held = h.held[1:]
		s.handOn(c)
	}
}

// handOn gives on a case that waited, with what is known of the runs of its test.
func (s *reading) handOn(c heldCase) {
	h := &s.history
	h.bytes -= c.size()
	if s.stopped {
		return
	}
	if r := h.runs[c.test]; r != nil && c.test.test != "" {
		r.Tell(&c.Case)
	}
	s.stopped = !s.yield(c.Entry, nil)
}
