package trial

import "strconv"

// Audit is the result of auditing one opinion, with a stable JSON form: equal audits give equal bytes. Empty lists are
// written as [], missing values as null.
type Audit struct {
	// Source is the file that the opinion was read from, Line its line from 1; empty and 0 where neither is known.
	Source string `json:"source,omitempty"`
	Line   int    `json:"line,omitempty"`
	// Item is its place in a JSON list, from 1; 0 where it is in none.
	Item      int    `json:"item,omitempty"`
	CaseID    string `json:"case_id"`
	CourtName string `json:"court_name"`
	// Rubric is its name.
	Rubric string `json:"rubric"`
	// GlobalScore is in [0, 5], with one decimal.
	GlobalScore float64 `json:"global_score"`
	// SecurityViolationFound in one of the results.
	SecurityViolationFound bool `json:"security_violation_found"`
	// Degraded: a collector or a judge failed, or a judge does not count.
	Degraded bool   `json:"degraded"`
	Summary  string `json:"summary"`
	// Results are one for each criterion, in the order of the rubric.
	Results []AuditResult `json:"results"`
	// CutDocuments are those of which a part only was looked at.
	CutDocuments []DocumentCut `json:"cut_documents"`
	// Errors are the branches that failed.
	Errors []AuditError `json:"errors"`
	// Modules maps collectors and judges to the digests of their modules.
	Modules map[string]string `json:"modules"`
	// Fuel that all calls used, nil where it is not metered.
	Fuel *uint64 `json:"fuel"`
	// Opinion is the text that was audited, for reports; empty where it is not known.
	Opinion string `json:"-"`
	// Cited are the items that judges cite, for reports, each once.
	Cited []CitedItem `json:"-"`
}

// CitedItem is an item of evidence that a judge cites.
type CitedItem struct{ SourceRef, Content string }

// AuditResult is the result of one criterion.
type AuditResult struct {
	CriterionID string `json:"criterion_id"`
	Category    string `json:"category"`
	// Description is what the rubric asks; empty where it does not say.
	Description string `json:"description"`
	// Weight in the global score: that of the category times that of the criterion. Share is its part of all weights, in
	// [0, 1]; 0 in results that are older than it.
	Weight                 float64 `json:"weight"`
	Share                  float64 `json:"share"`
	NumericScore           int     `json:"numeric_score"`
	Reasoning              string  `json:"reasoning"`
	RelevanceConfidence    float64 `json:"relevance_confidence"`
	SecurityViolationFound bool    `json:"security_violation_found"`
	// Degraded: fewer judges count than the rubric names.
	Degraded bool `json:"degraded"`
	// Dissent is what the judges said who were apart before they were asked again; nil where they were not.
	Dissent *string `json:"dissent"`
	// Judges in the order of the rubric.
	Judges []AuditJudge `json:"judges"`
}

// AuditJudge is what one judge said of a criterion.
type AuditJudge struct {
	Judge string `json:"judge"`
	Lead  bool   `json:"lead"`
	// Standing is counts, overruled or missing; Why says why it is not the first.
	Standing string  `json:"standing"`
	Why      *string `json:"why"`
	// NumericScore is nil for a judge that is missing, and Argument empty.
	NumericScore           *int     `json:"numeric_score"`
	Argument               string   `json:"argument"`
	CitedEvidence          []string `json:"cited_evidence"`
	RelevanceConfidence    float64  `json:"relevance_confidence"`
	SecurityViolationFound bool     `json:"security_violation_found"`
}

// AuditError is a branch of the audit that failed.
type AuditError struct {
	Node    string `json:"node"`
	Pass    int    `json:"pass"`
	Persona string `json:"persona"`
	// Module is its digest, empty if it is not the module that failed.
	Module string `json:"module"`
	Cause  string `json:"cause"`
	Detail string `json:"detail"`
}

// MarshalJSON writes the audit as JSON that may go to a terminal.
func (a Audit) MarshalJSON() ([]byte, error) {
	type plain Audit
	p := plain(a)
	p.Results, p.CutDocuments, p.Errors = append([]AuditResult{}, a.Results...), append([]DocumentCut{}, a.CutDocuments...), append([]AuditError{}, a.Errors...)
	if p.Modules == nil {
		p.Modules = map[string]string{}
	}
	return encode(p)
}

// DocumentCut says how much of a long document was used: its beginning and its end.
type DocumentCut struct {
	Name string `json:"name"`
	// Bytes of the document, and those of them that were used.
	Bytes int `json:"bytes"`
	Kept  int `json:"kept_bytes"`
}

// String is a sentence for people.
func (c DocumentCut) String() string {
	return c.Name + " was cut: of its " + strconv.Itoa(c.Bytes) + " bytes, the first and the last were looked at, " + strconv.Itoa(c.Kept) + " together"
}
