package trial

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

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

// Unnamed stands for a case and a court that an opinion does not name.
const Unnamed = "Unknown"

// StandardInput is the Source of an opinion that was read from the standard input.
const StandardInput = "-"

// Name tells audits apart for people: the case, or where an opinion stands that names none.
func (a *Audit) Name() string {
	if a.CaseID != "" && a.CaseID != Unnamed {
		return a.CaseID
	}
	if place := a.place(filepath.Base(a.Source)); place != "" {
		return place
	}
	return Unnamed
}

// Place is where the opinion was read, as `opinions.jsonl:3` or `opinions.json item 3`; empty where that is not known.
func (a *Audit) Place() string { return a.place(a.Source) }

func (a *Audit) place(file string) string {
	switch a.Source {
	case "":
		return ""
	case StandardInput:
		file = "standard input"
	}
	switch {
	case a.Item > 0:
		return file + " item " + strconv.Itoa(a.Item)
	case a.Line > 0:
		return file + ":" + strconv.Itoa(a.Line)
	}
	return file
}

// Apart is Place where Name does not say it already, or empty.
func (a *Audit) Apart() string {
	if place := a.Place(); place != a.Name() {
		return place
	}
	return ""
}

// Court is the name of the court, empty where the opinion names none.
func (a *Audit) Court() string {
	if a.CourtName == Unnamed {
		return ""
	}
	return a.CourtName
}

// Criteria are those of audits, in order. Audits by one rubric have the same.
func Criteria(audits []*Audit) []string {
	var list []string
	for _, a := range audits {
		for i := range a.Results {
			if id := a.Results[i].CriterionID; !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}

// Result gives the result of a criterion, nil where there is none.
func (a *Audit) Result(criterion string) *AuditResult {
	i := slices.IndexFunc(a.Results, func(r AuditResult) bool { return r.CriterionID == criterion })
	if i < 0 {
		return nil
	}
	return &a.Results[i]
}

// SharePercent shows the share of a criterion in the global score, as `18%`; empty where it is not known.
func (r *AuditResult) SharePercent() string {
	if !(r.Share > 0) { // NaN too
		return ""
	}
	return strconv.FormatFloat(100*min(r.Share, 1), 'f', 0, 64) + "%"
}

// Score shows the global score, with one decimal always.
func (a *Audit) Score() string { return strconv.FormatFloat(a.GlobalScore, 'f', 1, 64) }

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
		case words == "":
		case strings.Contains(words, r.CriterionID):
			flags = append(flags, words)
		default:
			flags = append(flags, r.CriterionID+": "+words)
		}
	}
	return flags
}
