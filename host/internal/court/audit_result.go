package court

import (
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// AuditOf states an outcome as results and reports want it.
func AuditOf(o *audit.Outcome) *trial.Audit {
	a := &trial.Audit{
		CaseID: o.CaseID, CourtName: o.CourtName, Rubric: o.Rubric, GlobalScore: o.Report.GlobalScore, Summary: o.Report.Summary,
		Results: make([]trial.AuditResult, len(o.Findings)), Errors: make([]trial.AuditError, len(o.Errors)),
		CutDocuments: make([]trial.DocumentCut, len(o.Cut)), Degraded: len(o.Errors) > 0, Modules: o.Modules, Fuel: o.Fuel,
	}
	if len(o.State.Opinions) > 0 {
		a.Opinion = o.State.Opinions[0].Opinion.Text
	}
	a.Cited = cited(o)
	for i, c := range o.Cut {
		a.CutDocuments[i] = trial.DocumentCut{Name: c.Document, Bytes: c.Bytes, Kept: c.Kept}
	}
	for i := range o.Findings {
		a.Results[i] = auditResult(&o.Findings[i])
		a.SecurityViolationFound = a.SecurityViolationFound || a.Results[i].SecurityViolationFound
		a.Degraded = a.Degraded || a.Results[i].Degraded
	}
	for i := range o.Errors {
		e := &o.Errors[i]
		a.Errors[i] = trial.AuditError{
			Node: e.At.Node, Pass: e.At.Pass, Persona: e.Persona, Module: e.Digest, Cause: e.Cause, Detail: e.Detail,
		}
	}
	return a
}

// cited gives the items that judges cite, in the order of the evidence.
func cited(o *audit.Outcome) []trial.CitedItem {
	refs := make(map[string]bool)
	for i := range o.Findings {
		for _, v := range o.Findings[i].Voices {
			if v.Opinion != nil {
				for _, ref := range v.Opinion.CitedEvidence {
					refs[ref] = true
				}
			}
		}
	}
	var list []trial.CitedItem
	for _, channel := range slices.Sorted(maps.Keys(o.State.Evidences)) {
		for _, e := range o.State.Evidences[channel] {
			item := trial.CitedItem{SourceRef: e.SourceRef, Content: e.Content}
			if refs[e.SourceRef] && !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
	}
	return list
}

func auditResult(f *audit.Finding) trial.AuditResult {
	r := trial.AuditResult{
		CriterionID: f.Result.CriterionID, Category: f.Result.Category, NumericScore: f.Result.NumericScore,
		Reasoning: f.Result.Reasoning, RelevanceConfidence: f.Result.RelevanceConfidence,
		SecurityViolationFound: f.Result.SecurityViolationFound, Degraded: f.Degraded,
		Description: f.Description, Weight: f.Weight, Share: f.Share,
		Judges: make([]trial.AuditJudge, len(f.Voices)),
	}
	if f.Dissent != "" {
		r.Dissent = &f.Dissent
	}
	for i := range f.Voices {
		r.Judges[i] = auditJudge(&f.Voices[i])
	}
	return r
}

func auditJudge(v *audit.Voice) trial.AuditJudge {
	j := trial.AuditJudge{Judge: v.Judge, Lead: v.Lead, Standing: string(v.Standing), CitedEvidence: []string{}}
	if v.Why != "" {
		j.Why = &v.Why
	}
	if o := v.Opinion; o != nil {
		j.NumericScore, j.Argument = &o.NumericScore, o.Argument
		j.CitedEvidence = append(j.CitedEvidence, o.CitedEvidence...)
		j.RelevanceConfidence, j.SecurityViolationFound = o.RelevanceConfidence, o.SecurityViolationFound
	}
	return j
}
