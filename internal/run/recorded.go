package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run/journal"
)

// recorded is a trial of an earlier run, as its record has it.
type recorded struct {
	id     string
	of     record.Digest // of its case
	result []byte
}

// resumes says whether results of an earlier run come from the record.
func (r *recording) resumes() bool { return r != nil && r.resumed }

// Left says whether the record has trials that Passed did not give yet.
func (r *recording) Left() bool { return r.passed < len(r.before) }

// Passed gives the result of the next case of the record, whose ids and digests are never redacted.
func (r *recording) Passed(entry *docket.Entry) (*trial.Trial, string, error) {
	before := &r.before[r.passed]
	r.passed++
	if entry.Case.ID != before.id || !sameCase(entry.Case, before.of) {
		return nil, "", &journal.DocketError{Case: r.passed, ID: entry.Case.ID, Was: before.id}
	}
	t := &trial.Trial{Truth: entry.Truth, Case: entry.Case}
	if err := json.Unmarshal(before.result, &t.Result); err != nil {
		return nil, "", fmt.Errorf("the result of %q: %w", before.id, err)
	}
	before.result = nil
	t.Stand(entry.Members)
	return t, "", nil
}

// sameCase compares a case with the digest of the one that was tried: its
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
