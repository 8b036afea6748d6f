package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/capability"
)

// light plays the personas of the Light path. What it is not told it does as
// if it had found nothing.
func light(r *abi.NodeRequest, how string) (*abi.Artifact, *abi.Failure) {
	switch r.Family {
	case abi.FamilyRecall:
		return recall(r, how)
	case abi.FamilyTriage:
		return &abi.Artifact{Triage: triage(how)}, nil
	case abi.FamilyResolve:
		return &abi.Artifact{Resolve: &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "all", Reason: "as told"}}}}, nil
	case abi.FamilyInvestigate:
		return investigate(r, how)
	case abi.FamilyCorrelate:
		return correlate(r, how)
	case abi.FamilyReview:
		d := &abi.ReviewDecision{Decision: abi.Approve, Confidence: 0.5}
		if how != "" {
			d.Decision = abi.ReviewOutcome(how)
		}
		return &abi.Artifact{Review: d}, nil
	default:
		return &abi.Artifact{Report: report(r, how)}, nil
	}
}

func recall(r *abi.NodeRequest, how string) (*abi.Artifact, *abi.Failure) {
	v := &abi.RecallResult{Reasoning: "as told"}
	switch how {
	case "hit":
		v.Match, v.PriorCase, v.Classification, v.Confidence = true, "earlier", r.Case.Labels[0], 0.9
	case "perhaps":
		v.Match, v.PriorCase, v.Classification, v.Confidence = true, "earlier", r.Case.Labels[0], 0.5
	case "correlate": // what this persona is not granted, or not here
		if _, failure := capability.Correlate(abi.CorrelateQuery{Text: "any", Limit: 1}); failure != nil {
			return nil, failure
		}
	case "ask":
		for range 2 {
			cases, failure := capability.Recall(abi.RecallQuery{Limit: 3})
			if failure != nil {
				return nil, failure
			}
			for _, c := range cases {
				v.Match, v.PriorCase, v.Classification, v.Confidence, v.Reasoning = true, c.CaseID, c.Classification, c.Confidence, c.Subject
				v.Confirmed = c.Confirmed
			}
		}
	}
	return &abi.Artifact{Recall: v}, nil
}

func triage(how string) *abi.TriageResult {
	v := &abi.TriageResult{SymptomCategory: abi.SymptomUnknown, Severity: abi.GapLow, Candidates: []string{"one", "two"}}
	switch how {
	case "infrastructure", "flake":
		v.SymptomCategory = abi.SymptomCategory(how)
	case "skip":
		v.SkipInvestigation = true
	case "single":
		v.Candidates = v.Candidates[:1]
	}
	return v
}

func investigate(r *abi.NodeRequest, how string) (*abi.Artifact, *abi.Failure) {
	found := abi.Evidence{SourceRef: "seen", Content: "nothing", RelevanceConfidence: 0.7, Supports: r.Case.Labels[1], Element: abi.Lightning}
	if len(r.Case.Documents) > 0 {
		found.SourceRef, found.Content = r.Case.Documents[0].Name, r.Case.Documents[0].Text
	}
	v := &abi.InvestigateArtifact{Summary: "as told", Classification: r.Case.Labels[1], ConvergenceScore: 0.3}
	switch how {
	case "converge":
		v.ConvergenceScore, v.Evidence = 0.9, []abi.Evidence{found}
	case "doubt":
		v.Evidence = []abi.Evidence{found}
	case "elsewhere":
		v.Classification = "no such label"
	case "earlier":
		found.SourceRef = "casebook:9"
		v.Evidence = []abi.Evidence{found}
	case "fresh": // something new in each pass
		found.Content = "pass with feedback"
		if r.File.Feedback == nil {
			found.Content = "first pass"
		}
		v.ConvergenceScore, v.Evidence = 0.9, []abi.Evidence{found}
	case "rethink": // another item in each pass, until there is none
		found.Content = [...]string{"third pass", "second pass", "first pass"}[min(r.File.LoopsLeft, 2)]
		v.Evidence = []abi.Evidence{found}
	case "source":
		answer, failure := capability.Source(abi.SourceQuery{Text: "any", Limit: 1})
		if failure != nil {
			return nil, failure
		}
		for _, f := range answer.Frames {
			v.Summary = f.Path
		}
	}
	return &abi.Artifact{Investigate: v}, nil
}

func correlate(r *abi.NodeRequest, how string) (*abi.Artifact, *abi.Failure) {
	v := &abi.CorrelateResult{Reasoning: "as told"}
	if how == "duplicate" {
		v.IsDuplicate, v.LinkedCase, v.Classification, v.Confidence = true, "earlier", r.Case.Labels[2], 0.83
	}
	if how == "bad" { // a query that is rejected
		if _, failure := capability.Correlate(abi.CorrelateQuery{Limit: 1000}); failure != nil {
			return nil, failure
		}
	}
	if how == "fail" {
		return nil, guest.Fail("no_idea", "I would rather not")
	}
	return &abi.Artifact{Correlate: v}, nil
}

func report(r *abi.NodeRequest, how string) *abi.LightReport {
	v := &abi.LightReport{Classification: r.Case.Labels[0], Confidence: 0.65, Summary: "as told"}
	if r.File.Investigate != nil && r.File.Investigate.Classification != "" {
		v.Classification = r.File.Investigate.Classification
	}
	if how == "loud" {
		v.Confidence = 0.99
	}
	f := r.File.Feedback
	if f == nil || how == "mute" {
		return v
	}
	v.Remand = &abi.RemandAnswer{}
	for _, q := range f.Questions {
		reply := abi.RemandReply{QuestionID: q.ID, Status: abi.NotFound}
		if r.File.Investigate != nil && len(r.File.Investigate.Evidence) > 0 {
			reply.Status, reply.Evidence = abi.Found, r.File.Investigate.Evidence
		}
		v.Remand.Answers = append(v.Remand.Answers, reply)
	}
	for _, item := range f.Challenged {
		v.Remand.Challenged = append(v.Remand.Challenged, abi.ChallengedReply{EvidenceIndex: item.EvidenceIndex, Status: abi.ItemStands})
	}
	return v
}
