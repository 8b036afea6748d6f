package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/knowledge"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// tally is how far a run came. Results come in the order of the docket, so
// that a number says which cases were tried: ids don't, once they are redacted.
type tally struct {
	Cases int `json:"cases"`
	// Docket is a digest over these cases, in their order; empty if there are none.
	Docket string `json:"docket"`
	// stopped: a case before failed, so that the results are no beginning of the docket.
	stopped bool
}

// add takes note of a case.
func (t *tally) add(entry *docket.Entry) {
	own := sha256.Sum256(codec.AppendCase(nil, &entry.Case))
	var truth docket.Truth
	if entry.Truth != nil {
		truth = *entry.Truth
	}
	sum := sha256.Sum256(slices.Concat([]byte(t.Docket), own[:], []byte(truth.Classification+"\x00"+string(truth.ExpectedVerdict))))
	t.Cases++
	t.Docket = "sha256:" + hex.EncodeToString(sum[:])
}

// note takes note of what came of an entry. Behind a case that has no result
// nothing counts: such a run can't be gone on with.
func (t *tally) note(tried *host.Tried) {
	switch {
	case tried.Entry.Case.ID == "": // a line that is no case
	case tried.Err != nil:
		t.stopped = true
	case !t.stopped:
		t.add(&tried.Entry)
	}
}

// untried leaves out what was tried before, and takes note of it. A docket
// that does not begin with what was tried ends there, with earlier.err.
func (r *tryRun) untried(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	if len(r.resumed.tried) == 0 {
		return entries
	}
	passed := r.resumed.passed
	if r.resumed.recorded != nil {
		passed = r.resumed.passedInRecord
	}
	return func(yield func(docket.Entry, error) bool) {
		var so tally
		for entry, err := range entries {
			if err == nil {
				var before *verdict
				if before, r.earlier.err = passed(&so, &entry, r.redactor); r.earlier.err != nil {
					return
				}
				if before != nil {
					r.pass(&entry, before)
					continue
				}
			}
			if !yield(entry, err) {
				return
			}
		}
		if so.Cases < len(r.resumed.tried) {
			r.earlier.err = r.resumed.otherDocket("it ends after " + count(so.Cases, "case", "cases"))
		}
	}
}

// pass takes note of a case that was tried before.
func (r *tryRun) pass(entry *docket.Entry, v *verdict) {
	r.earlier.matched = r.match.matches(&docket.Result{Final: v.final, Audit: v.audit}) || r.earlier.matched
	if r.book != nil {
		r.earlier.entries = append(r.earlier.entries, knowledge.Entry(&entry.Case, entry.Truth, &v.final))
	}
}

// passed gives what came of a case in the earlier run, nil for one behind those that were tried.
func (r *resumption) passed(so *tally, entry *docket.Entry, redactor *docket.Redactor) (*verdict, error) {
	if so.Cases == len(r.tried) {
		return nil, nil //nolint:nilnil // it was not tried
	}
	before := &r.tried[so.Cases]
	so.add(entry)
	switch {
	case redactor.Text(entry.Case.ID) != before.id:
		return nil, r.otherDocket(fmt.Sprintf("case %d is %q, and was %q", so.Cases, redactor.Text(entry.Case.ID), before.id))
	case so.Cases == len(r.tried) && so.Docket != r.reached.Docket:
		return nil, r.otherDocket("their contents were changed since")
	}
	return before, nil
}

// passedInRecord goes by the ids and digests of a record, which is never redacted.
func (r *resumption) passedInRecord(so *tally, entry *docket.Entry, _ *docket.Redactor) (*verdict, error) {
	if so.Cases == len(r.tried) {
		return nil, nil //nolint:nilnil // it was not tried
	}
	number, before := so.Cases, &r.tried[so.Cases]
	so.Cases++
	switch {
	case entry.Case.ID != before.id:
		return nil, r.otherDocket(fmt.Sprintf("case %d is %q, and was %q", number+1, entry.Case.ID, before.id))
	case !sameCase(entry.Case, r.recorded[before.id]):
		return nil, r.otherDocket(fmt.Sprintf("case %d, %q, was changed since", number+1, before.id))
	}
	return before, nil
}

// sameCase holds a case against the digest of the one that was tried: its
// documents cut, and without an answer where Light was asked.
func sameCase(c abi.Case, tried record.Digest) bool {
	c.Documents = slices.Clone(c.Documents)
	docket.CutDocuments(c.Documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	if record.DigestOf(codec.AppendCase(nil, &c)) == tried {
		return true
	}
	c.Light = nil
	return record.DigestOf(codec.AppendCase(nil, &c)) == tried
}

func (r *resumption) otherDocket(why string) error {
	return fmt.Errorf("--resume: the docket does not begin with the %s of %s: %s", count(len(r.tried), "case", "cases"), r.from, why)
}

// fault is what is wrong with the docket, unless the reading was interrupted.
func (e *earlier) fault(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the run says that it was interrupted
	}
	return inputError(e.err)
}
