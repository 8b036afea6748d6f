package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// chain is what the entries so far lead to. Its zero value is the beginning.
type chain struct {
	next     int    // sequence of the next entry
	previous Digest // of the last line
	header   *Header
	// The last generation of the court, and of the audit.
	court, audit generation
	trials       int
	statements   int
	ids          map[string]struct{} // of the cases that have a trial
	audits       int
	closed       bool // the last entry is a closing one
}

// generation is a Generation with the sequence of its entry; 0 before the first.
type generation struct {
	sequence int
	modules  []Part
}

// add puts an entry behind the chain, whose line it came from, or says why it does not fit.
func (c *chain) add(e *Entry, line []byte) error {
	if err := c.fits(e); err != nil {
		return err
	}
	c.follow(e, line)
	return nil
}

// follow continues with an entry that fits.
func (c *chain) follow(e *Entry, line []byte) {
	previous := c.previous
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
	case e.Statement != nil:
		c.statements++
		e.Sequence, e.Previous = c.next-1, previous
	}
}

func (c *chain) fits(e *Entry) error {
	if e.Statement != nil && c.next > 0 {
		return nil // the entry behind it names its line
	}
	kinds := count(e.Header != nil, e.Generation != nil, e.Trial != nil, e.Closing != nil)
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

// count says how many are there.
func count(there ...bool) (n int) {
	for _, is := range there {
		if is {
			n++
		}
	}
	return n
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
		if !parts[i].Digest.Valid() {
			return fmt.Errorf("%q has no digest", parts[i].Name)
		}
		if (parts[i].Signer == "") != (parts[i].Policy == "") {
			return fmt.Errorf("%q has a signer without a policy, or the other way round", parts[i].Name)
		}
		if i > 0 && parts[i-1].Name >= parts[i].Name {
			return fmt.Errorf("%q is not in order", parts[i].Name)
		}
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
	for _, p := range h.Configuration {
		if text, there := h.text(p.Name); there && DigestOf(text) != p.Digest {
			return fmt.Errorf("what it holds as %q has another digest than its configuration says", p.Name)
		}
	}
	return nil
}

// text gives the part of a configuration that the header itself holds.
func (h *Header) text(name string) (text []byte, there bool) {
	var audit AuditHeader
	if h.Audit != nil {
		audit = *h.Audit
	}
	switch name {
	case "pipeline":
		return []byte(h.Pipeline), true
	case "light pipeline":
		return []byte(h.LightPath), true
	case "rules":
		return []byte(h.Rules), true
	case "profile":
		return h.Profile, true
	case "limits of the court":
		return h.Court, true
	case "audit pipeline":
		return []byte(audit.Pipeline), true
	case "rubric":
		return []byte(audit.Rubric), true
	}
	return nil, false
}

// auditResult is what is checked of an audit's result. Its other fields are the business of those who wrote it.
type auditResult struct {
	GlobalScore *float64 `json:"global_score"`
	Results     []struct {
		CriterionID            string  `json:"criterion_id"`
		Weight                 float64 `json:"weight"`
		NumericScore           int     `json:"numeric_score"`
		SecurityViolationFound bool    `json:"security_violation_found"`
	} `json:"results"`
}

// rounding is how far a score of one decimal may be from the mean that it was rounded from.
const rounding = 0.05 + 1e-9

// checkReport rejects two results of one criterion, and a global score that is not the weighted mean of the results (SPEC.md,
// audit_report). Nil is no report.
func checkReport(data json.RawMessage) error {
	if data == nil {
		return nil
	}
	var a auditResult
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("its result: %w", err)
	}
	if a.GlobalScore == nil {
		return nil // an audit that failed has no score
	}
	seen := map[string]bool{}
	var sum, weights float64
	for _, r := range a.Results {
		if seen[r.CriterionID] {
			return fmt.Errorf("its result has two results of the criterion %q", r.CriterionID)
		}
		seen[r.CriterionID] = true
		counted := r.NumericScore
		if r.SecurityViolationFound {
			counted = min(counted, abi.SecurityCap)
		}
		sum += r.Weight * float64(counted)
		weights += r.Weight
	}
	mean := 0.0
	if weights > 0 {
		mean = sum / weights
	}
	if !(math.Abs(*a.GlobalScore-mean) <= rounding) { // NaN is rejected, too
		return fmt.Errorf("its result has the global score %v, and the weighted mean of its results is %.2f", *a.GlobalScore, mean)
	}
	return nil
}

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
	kinds := count(e.Call != nil, e.Merge != "", e.Light != nil)
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
