package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// errNoAudits: the header says nothing of audits.
var errNoAudits = errors.New("it is of an audit, and by its header the record has none")

func (c *chain) checkTrial(t *Trial) error {
	if err := c.checkID(t.ID); err != nil {
		return err
	}
	if err := c.court.checkOf(t.Generation); err != nil {
		return err
	}
	if err := checkResult(t.Result, t.ResultDigest); err != nil {
		return err
	}
	for i := range t.Contents {
		content := &t.Contents[i]
		if DigestOf(content.Bytes) != content.Digest {
			return fmt.Errorf("its content %d has another digest", i)
		}
		if i > 0 && compareContents(t.Contents[i-1], *content) >= 0 {
			return fmt.Errorf("its content %d is not in order", i)
		}
	}
	for i := range t.Events {
		if err := checkEvent(&t.Events[i]); err != nil {
			return fmt.Errorf("its event %d: %w", i, err)
		}
	}
	if t.Audit == nil {
		return nil
	}
	if err := c.checkAudit(t.Audit); err != nil {
		return fmt.Errorf("its audit: %w", err)
	}
	return nil
}

func (c *chain) checkAudit(a *Audit) error {
	if c.header.Audit == nil {
		return errNoAudits
	}
	if err := c.audit.checkOf(a.Generation); err != nil {
		return err
	}
	if err := checkResult(a.Result, a.ResultDigest); err != nil {
		return err
	}
	if err := checkReport(a.Result); err != nil {
		return err
	}
	if (a.Result == nil) != (c.header.Contents == ContentsDigests) {
		return fmt.Errorf("its result is there or not, against the contents %q", c.header.Contents)
	}
	for i := range a.Events {
		e := &a.Events[i]
		if err := checkEvent(e); err != nil {
			return fmt.Errorf("its event %d: %w", i, err)
		}
		if e.Light != nil {
			return fmt.Errorf("its event %d: Light has no part in an audit", i)
		}
	}
	return nil
}

// checkOf says whether it is the generation of a trial or of an audit.
func (g *generation) checkOf(sequence int) error {
	if g.sequence == 0 || sequence != g.sequence {
		return fmt.Errorf("its generation of modules is entry %d, and the last one is entry %d", sequence, g.sequence)
	}
	return nil
}

func checkResult(result json.RawMessage, digest Digest) error {
	if !digest.Valid() {
		return errors.New("its result has no digest")
	}
	if result != nil && DigestOf(result) != digest {
		return errors.New("its result has another digest")
	}
	return nil
}

func compareContents(a, b Content) int { return strings.Compare(string(a.Digest), string(b.Digest)) }

func checkEvent(e *Event) error {
	kinds := 0
	for _, there := range []bool{e.Call != nil, e.Merge != "", e.Light != nil} {
		if there {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("it has %d contents in place of one", kinds)
	case e.Merge != "" && !e.Merge.Valid():
		return errors.New("the state has no digest")
	case e.Call != nil:
		return checkCall(e.Call)
	}
	return nil
}

// checkCall wants a digest of the input, and of an output unless the call failed.
func checkCall(c *Call) error {
	if !c.Input.Valid() || c.Output != "" && !c.Output.Valid() || (c.Output == "") != (c.Failure != nil) {
		return errors.New("a call without the digests of what it got and gave")
	}
	for _, u := range c.Uses {
		if !u.Request.Valid() || !u.Answer.Valid() {
			return fmt.Errorf("a use of %s without digests", u.Capability)
		}
	}
	return nil
}
