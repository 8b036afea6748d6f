package host

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Audited is what came of one opinion of a file: an Audit, or an Err that says
// why there is none.
type Audited struct {
	Entry docket.OpinionEntry
	Audit *trial.Audit
	Err   error
}

// AuditAll audits opinions with a number of workers (0: one for each
// processor) and gives them back in order. An error of an entry is passed on in
// its place.
func (a *Auditor) AuditAll(ctx context.Context, entries iter.Seq2[docket.OpinionEntry, error], workers int) iter.Seq[Audited] {
	in := func(yield func(Audited) bool) {
		for entry, err := range entries {
			if !yield(Audited{Entry: entry, Err: err}) {
				return
			}
		}
	}
	return ordered(ctx, in, workers, func(ctx context.Context, one Audited) Audited {
		if one.Err != nil {
			return one
		}
		e := &one.Entry
		var o *audit.Outcome
		o, one.Err = a.Audit(ctx, audit.Subject{Opinion: e.Opinion, Evidence: e.Evidence, Documents: e.Documents})
		if one.Err == nil {
			one.Audit = AuditOf(o)
			one.Audit.Source, one.Audit.Line, one.Audit.Item = e.Source, e.Line, e.Item
			one.Audit.CutDocuments = docket.CutAgain(e.Cut, one.Audit.CutDocuments)
		}
		return one
	})
}

// AuditTrials audits the opinion of every verdict of trials, and puts it into
// their results, and into their records where they have one. court is the name
// of the court. Trials pass in order. When the context ends no further one is
// begun, and the sequence ends before one whose audit was interrupted.
func (a *Auditor) AuditTrials(ctx context.Context, trials iter.Seq[Tried], court string, workers int) iter.Seq[Tried] {
	audited := ordered(ctx, trials, workers, func(ctx context.Context, tried Tried) Tried {
		if tried.Err != nil || tried.Trial == nil {
			return tried
		}
		var trail *trail
		if tried.Record != nil {
			trail = newTrail(tried.Record.Kept)
		}
		if err := a.auditTrial(ctx, tried.Trial, tried.Record, court, trail); err != nil {
			return Tried{Entry: tried.Entry, Err: err}
		}
		return tried
	})
	return func(yield func(Tried) bool) {
		for tried := range audited {
			if tried.Trial == nil && ctx.Err() != nil || !yield(tried) {
				return
			}
		}
	}
}

// auditTrial audits the opinion of a verdict, if there is one. trail is nil
// where there is no record.
func (a *Auditor) auditTrial(ctx context.Context, trial *trial.Trial, recorded *record.Trial, court string, trail *trail) error {
	subject, ok := OpinionOf(trial, court)
	if !ok {
		return nil
	}
	o, modules, err := a.audited(ctx, subject, trail)
	if err != nil {
		return err
	}
	trial.Result.Audit = AuditOf(o)
	if trail == nil {
		return nil
	}
	return trail.endAudit(recorded, court, modules, trial.Result.Audit)
}

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

// Configuration lists all that audits depend on besides the opinions, as that
// of a Host: the pipeline, the rubric, the limits and the modules in force.
func (a *Auditor) Configuration(ctx context.Context) ([]Part, error) {
	graph, rubric, err := a.texts()
	if err != nil {
		return nil, err
	}
	parts := []Part{
		{"audit pipeline", digest(graph)},
		{"rubric", digest(rubric)},
		{"limits of audit calls", digest(fmt.Appendf(nil, "%+v", a.host.engine.Limits()))},
	}
	digests := a.Modules(ctx)
	for _, need := range a.needs() {
		parts = append(parts, Part{"audit module " + need.Module, digests[need.Module]})
	}
	return parts, nil
}
