package record

import (
	"encoding/json"
	"slices"
)

// AuditHeader is what the audits of a record depend on besides opinions and modules.
type AuditHeader struct {
	// Pipeline is the graph of the audit in YAML, Rubric the rubric.
	Pipeline string     `json:"pipeline"`
	Rubric   string     `json:"rubric"`
	Limits   CallLimits `json:"limits"`
}

// Audit is what happened when the opinion of a trial's verdict was audited. It
// stands in the entry of the trial, so that neither is there without the other;
// messages that are kept of it are among the contents of the trial.
type Audit struct {
	// Generation is the sequence of the entry with the modules of collectors and judges.
	Generation int `json:"generation"`
	// Court is the name of the court, as the opinion states it.
	Court string `json:"court"`
	// Events are calls, and the state after each node: those of branches stand in
	// the order of the pipeline and of the rubric, in whichever they came.
	Events []Event `json:"events"`
	// ResultDigest is that of the audit as the line of the result has it.
	ResultDigest Digest `json:"result_digest"`
	// Result is that audit, a JSON object; absent with ContentsDigests.
	Result json.RawMessage `json:"result,omitempty"`

	// Modules are what the audit had, by name. They stand in the Generation.
	Modules []Part `json:"-"`
}

// Calls are the calls among the events.
func (a *Audit) Calls() []*Call { return calls(a.Events) }

// Attach puts an audit into the entry of its trial, and what is kept of it
// beside what is kept of the trial.
func (t *Trial) Attach(a *Audit, kept []Content) {
	t.Audit = a
	t.Contents = slices.Concat(t.Contents, kept)
	slices.SortStableFunc(t.Contents, compareContents)
	t.Contents = slices.CompactFunc(t.Contents, func(a, b Content) bool { return a.Digest == b.Digest })
}

// Line is the line of the result with its audit, without a line feed; nil
// where the record does not hold it.
func (t *Trial) Line() []byte {
	if t.Audit == nil || len(t.Result) == 0 {
		return t.Result
	}
	return slices.Concat(t.Result[:len(t.Result)-1], []byte(`,"audit":`), t.Audit.Result, []byte{'}'})
}
