package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// chain is what the entries so far lead to. Its zero value is the beginning.
type chain struct {
	next       int    // sequence of the next entry
	previous   Digest // of the last line
	header     *Header
	generation int // sequence of the last generation; 0 before the first
	modules    []Part
	trials     int
	closed     bool // the last entry is a closing one
}

// add puts an entry behind the chain, whose line it came from, or says why it
// does not fit.
func (c *chain) add(e *Entry, line []byte) error {
	if err := c.fits(e); err != nil {
		return err
	}
	c.follow(e, line)
	return nil
}

// follow goes on to an entry that fits.
func (c *chain) follow(e *Entry, line []byte) {
	c.next++
	c.previous = DigestOf(line)
	c.closed = false
	switch {
	case e.Header != nil:
		c.header = e.Header
	case e.Generation != nil:
		c.generation, c.modules = e.Sequence, e.Generation.Modules
	case e.Trial != nil:
		c.trials++
		e.Trial.Modules = c.modules
	case e.Closing != nil:
		c.closed = true
	}
}

func (c *chain) fits(e *Entry) error {
	kinds := 0
	for _, there := range []bool{e.Header != nil, e.Generation != nil, e.Trial != nil, e.Closing != nil} {
		if there {
			kinds++
		}
	}
	switch {
	case e.Sequence != c.next:
		return fmt.Errorf("it says that it is entry %d", e.Sequence)
	case e.Previous != c.previous:
		return errors.New("it was not written behind the entry before it: another digest")
	case kinds != 1:
		return fmt.Errorf("it has %d contents in place of one", kinds)
	case (e.Header != nil) != (c.next == 0):
		return errors.New("the header is the first entry, and no other")
	}
	switch {
	case e.Header != nil:
		return checkHeader(e.Header)
	case e.Generation != nil:
		return checkParts(e.Generation.Modules)
	case e.Trial != nil:
		return c.checkTrial(e.Trial)
	}
	if e.Closing.Trials != c.trials {
		return fmt.Errorf("it closes a record of %d trials, and there are %d", e.Closing.Trials, c.trials)
	}
	return nil
}

func checkHeader(h *Header) error {
	if h.Format != Format {
		return fmt.Errorf("a record of the format %q: this program reads format %s", h.Format, Format)
	}
	if !slices.Contains([]Contents{ContentsReplay, ContentsBytes, ContentsDigests}, h.Contents) {
		return fmt.Errorf("a record with the contents %q", h.Contents)
	}
	return nil
}

// checkParts wants each name once, in order.
func checkParts(parts []Part) error {
	for i := range parts {
		if !parts[i].Digest.valid() {
			return fmt.Errorf("%q has no digest", parts[i].Name)
		}
		if i > 0 && parts[i-1].Name >= parts[i].Name {
			return fmt.Errorf("%q is not in order", parts[i].Name)
		}
	}
	return nil
}

func (c *chain) checkTrial(t *Trial) error {
	if c.generation == 0 || t.Generation != c.generation {
		return fmt.Errorf("its generation of modules is entry %d, and the last one is entry %d", t.Generation, c.generation)
	}
	if t.Result != nil && DigestOf(t.Result) != t.ResultDigest {
		return errors.New("its result has another digest")
	}
	for i := range t.Contents {
		content := &t.Contents[i]
		if DigestOf(content.Bytes) != content.Digest {
			return fmt.Errorf("its content %d has another digest", i)
		}
		if i > 0 && strings.Compare(string(t.Contents[i-1].Digest), string(content.Digest)) >= 0 {
			return fmt.Errorf("its content %d is not in order", i)
		}
	}
	for i := range t.Events {
		if err := checkEvent(&t.Events[i]); err != nil {
			return fmt.Errorf("its event %d: %w", i, err)
		}
	}
	return nil
}

func checkEvent(e *Event) error {
	kinds := 0
	for _, there := range []bool{e.Call != nil, e.Merge != "", e.Light != nil} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("it has %d contents in place of one", kinds)
	}
	return nil
}
