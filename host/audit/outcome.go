package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Subject is an opinion with what it can be checked against.
type Subject struct {
	Opinion abi.JudicialOpinion
	// Evidence of the case, if there is any.
	Evidence []abi.Evidence
	// Documents of the case, if there are any. Names differ.
	Documents []abi.Document
}

// Outcome is all that is known of an opinion after it was audited. It is the same for the same opinion, rubric and modules, however their
// calls were ordered.
type Outcome struct {
	// Rubric is its name.
	Rubric            string
	CaseID, CourtName string
	Report            abi.AuditReport
	// Findings are the criteria in the order of the rubric.
	Findings []Finding
	// Errors are the branches that failed, by node and branch.
	Errors []abi.NodeError
	// Path of the traversal, as in a trial.
	Path []string
	// Modules maps collectors and judges to the digests of their modules.
	Modules map[string]string
	// Fuel that all calls used, nil where it is not metered.
	Fuel *uint64
	// Cut are the documents that were looked at in part only.
	Cut []Cut
	// State after the last merge.
	State abi.Snapshot
}

// Cut says how many of a document's bytes were looked at.
type Cut struct {
	Document    string
	Bytes, Kept int
}

// Conclude derives the report from the findings. The error is a *abi.ValidationError: it would be a fault of this package.
func Conclude(r *Rubric, findings []Finding, errs []abi.NodeError) (abi.AuditReport, error) {
	report := abi.AuditReport{Results: make([]abi.CriterionResult, len(findings))}
	for i := range findings {
		report.Results[i] = findings[i].Result
	}
	weights := r.ScoreWeights()
	report.GlobalScore = GlobalScore(report.Results, weights)
	report.Summary = summary(r, findings, errs, report.GlobalScore)
	return report, CheckReport(&report, weights)
}

// summary says in a few sentences what a reader has to know.
func summary(r *Rubric, findings []Finding, errs []abi.NodeError, score float64) string {
	var violated, overruled, dissent, degraded, low []string
	for i := range findings {
		f := &findings[i]
		id := f.Result.CriterionID
		if f.Result.SecurityViolationFound {
			violated = append(violated, id)
		}
		if f.Dissent != "" {
			dissent = append(dissent, id)
		}
		if f.Degraded {
			degraded = append(degraded, id)
		}
		if f.Result.NumericScore <= 2 {
			low = append(low, id)
		}
		for j := range f.Voices {
			if f.Voices[j].Standing == Overruled {
				overruled = append(overruled, f.Voices[j].Judge+" on "+id)
			}
		}
	}
	lines := []string{Score(score) + " of 5 over " + counted(len(findings), "criterion", "criteria") + " of " + r.Name + "."}
	for _, line := range []struct {
		what string
		ids  []string
	}{
		{"Security violation: ", violated},
		{"Overruled by the facts: ", overruled},
		{"Weak: ", low},
		{"The judges were apart on: ", dissent},
		{"Judged by fewer than the rubric names: ", degraded},
	} {
		if len(line.ids) > 0 {
			lines = append(lines, line.what+strings.Join(line.ids, ", ")+".")
		}
	}
	if len(errs) > 0 {
		lines = append(lines, counted(len(errs), "branch", "branches")+" of the audit failed.")
	}
	return strings.Join(lines, " ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Facts are what the host knows of the evidence that judges may cite: what is there, and what stands in the documents. The zero value knows
// nothing; it is filled by one goroutine and read by any number.
type Facts struct {
	refs map[string]fact
}

// fact is what is known of the items of one source_ref.
type fact struct {
	stands   bool   // one of them at least is not absent
	document string // that claims it, for one that is absent
}

// Add says of an item what was found when its content was looked up in the documents; document is the one that the item names.
func (f *Facts) Add(sourceRef string, status abi.QuoteStatus, document string) {
	if f.refs == nil {
		f.refs = make(map[string]fact)
	}
	known := f.refs[sourceRef]
	known.stands = known.stands || status != abi.QuoteAbsent
	known.document = cmp.Or(known.document, document)
	f.refs[sourceRef] = known
}

// missing says why an item can't be cited; empty if it can. An item that does not stand can be accused of a violation, and not relied on.
func (f *Facts) missing(sourceRef string, accused bool) string {
	switch known, there := f.refs[sourceRef]; {
	case !there:
		return "which is not in the evidence"
	case !known.stands && !accused:
		return "which does not stand in " + quoted(known.document)
	default:
		return ""
	}
}

// overrules says why an opinion does not count; empty if it does. A violation is one that stands: whoever alleges it has to say of what.
func (f *Facts) overrules(o *abi.CriterionOpinion) string {
	cited := slices.Sorted(slices.Values(o.CitedEvidence))
	for _, ref := range slices.Compact(cited) {
		if why := f.missing(ref, o.SecurityViolationFound); why != "" {
			return "it cites " + quoted(ref) + ", " + why
		}
	}
	if o.SecurityViolationFound && len(cited) == 0 {
		return "it alleges a security violation, and cites nothing that has one"
	}
	return ""
}
