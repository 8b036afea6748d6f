package record

import (
	"errors"
	"fmt"
)

// chain is what the entries so far lead to. Its zero value is the beginning.
type chain struct {
	next     int    // sequence of the next entry
	previous Digest // of the last line
	header   *Header
	// The last generation of the court, and of the audit.
	court, audit generation
	trials       int
	ids          map[string]struct{} // of the cases that have a trial
	audits       int
	closed       bool // the last entry is a closing one
}

// generation is a Generation with the sequence of its entry; 0 before the first.
type generation struct {
	sequence int
	modules  []Part
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

// follow continues with an entry that fits.
func (c *chain) follow(e *Entry, line []byte) {
	c.next++
	c.previous = DigestOf(line)
	c.closed = false
	switch {
	case e.Header != nil:
		c.header = e.Header
	case e.Generation != nil && e.Generation.Audit:
		c.audit = generation{e.Sequence, e.Generation.Modules}
	case e.Generation != nil:
		c.court = generation{e.Sequence, e.Generation.Modules}
	case e.Trial != nil:
		c.trials++
		if c.ids == nil {
			c.ids = make(map[string]struct{})
		}
		c.ids[e.Trial.ID] = struct{}{}
		e.Trial.Modules, e.Trial.Kept = c.court.modules, c.header.Contents
		if e.Trial.Audit != nil {
			c.audits++
			e.Trial.Audit.Modules = c.audit.modules
		}
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
	case e.Generation != nil && e.Generation.Audit && c.header.Audit == nil:
		return errNoAudits
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

// checkID rejects a second trial of a case: the ids of a docket are unique.
func (c *chain) checkID(id string) error {
	if _, twice := c.ids[id]; twice {
		return fmt.Errorf("a second trial of the case %q", id)
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
