package docket

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
)

// Audit is what came of the audit of an opinion: what programs get, and all that a report shows. Equal audits give equal
// bytes. Empty lists are written as [], what is not there as null.
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
	// Dissent is what the judges said who were apart before they were asked once more; nil where they were not.
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
	if p.Results == nil {
		p.Results = []AuditResult{}
	}
	if p.CutDocuments == nil {
		p.CutDocuments = []DocumentCut{}
	}
	if p.Errors == nil {
		p.Errors = []AuditError{}
	}
	if p.Modules == nil {
		p.Modules = map[string]string{}
	}
	return encode(p)
}

// Score shows the global score, with one decimal always.
func (a *Audit) Score() string { return strconv.FormatFloat(a.GlobalScore, 'f', 1, 64) }

// Flagged says whether a reader has to look at a result before all: a violation, a dissent, a judge that does not count.
func (r *AuditResult) Flagged() bool {
	return r.SecurityViolationFound || r.Degraded || r.Dissent != nil
}

// Flags says in words what is special about a result, in the order of weight.
func (r *AuditResult) Flags() []string {
	var flags []string
	if r.SecurityViolationFound {
		flags = append(flags, "security violation")
	}
	for i := range r.Judges {
		if j := &r.Judges[i]; j.Standing != "counts" {
			flags = append(flags, j.Judge+" "+j.Standing)
		}
	}
	if r.Dissent != nil {
		flags = append(flags, "dissent")
	}
	return flags
}

// Flags says in words what is special about the results, each with its criterion.
func (a *Audit) Flags() []string {
	var flags []string
	for i := range a.Results {
		r := &a.Results[i]
		words := strings.Join(r.Flags(), ", ")
		switch {
		case !r.Flagged():
		case strings.Contains(words, r.CriterionID):
			flags = append(flags, words)
		default:
			flags = append(flags, r.CriterionID+": "+words)
		}
	}
	return flags
}

// Audit gives a redacted copy, as Trial does.
func (r *Redactor) Audit(a *Audit) *Audit {
	if r == nil {
		return a
	}
	m := textMap{text: r.Text, vocabulary: func(s string) string { return s }, markup: r.markup}
	return m.audit(a)
}

// Inert gives a copy in which every text is inert, as that of a trial does.
func (a *Audit) Inert() *Audit {
	m := textMap{text: inert.Block, vocabulary: inert.Line, markup: inertMarkup}
	return m.audit(a)
}

func (m *textMap) audit(a *Audit) *Audit {
	out := &Audit{}
	m.copy(reflect.ValueOf(out).Elem(), reflect.ValueOf(a).Elem())
	return out
}

// AuditWriter takes audits one by one, in order. Close writes what comes at the end, and does not close what is below.
// Writers are not safe for concurrent use.
type AuditWriter interface {
	Write(a *Audit) error
	Close() error
}

// OpinionEntry is an opinion to audit, with what it can be checked against and where it stands.
type OpinionEntry struct {
	Opinion   abi.JudicialOpinion
	Evidence  []abi.Evidence
	Documents []abi.Document
	// Source is the name of the file, Line its line from 1; 0 for a file that is one opinion.
	Source string
	Line   int
	// Item is its place in a JSON list, from 1; 0 where it is in none.
	Item int
	// Cut are the documents that were cut when they were read.
	Cut []DocumentCut
}
