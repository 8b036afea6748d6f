package court

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// askJudges has the judges of the rubric score its criteria. On the second visit
// those that were apart are asked again, and told what the others said.
func (t *auditTrial) askJudges(ctx context.Context, node *pipeline.Node, visit int) (again bool, err error) {
	evidence := t.evidence()
	var apart map[string][]audit.Voice
	if visit > 1 {
		apart = t.voices()
		maps.DeleteFunc(apart, func(_ string, voices []audit.Voice) bool { return audit.Dissent(voices) == "" })
	}
	var branches []branch
	for i := range t.audit.rubric.Judges {
		judge := &t.audit.rubric.Judges[i]
		criteria := t.audit.scored[judge.ID]
		items := evidence
		if visit > 1 {
			criteria = slices.DeleteFunc(slices.Clone(criteria), func(c *audit.Criterion) bool { return !counts(apart[c.ID], judge.ID) })
			items = slices.Concat(evidence, t.dissent(judge, criteria, apart))
		}
		if len(criteria) > 0 {
			branches = append(branches, t.judgeBranch(node, judge, criteria, items))
		}
	}
	if err := t.fanOut(ctx, node, visit, maxBranches, branches); err != nil || visit > 1 {
		return false, err
	}
	for id, voices := range t.voices() {
		if summary := audit.Dissent(voices); summary != "" {
			t.dissents[id] = summary
		}
	}
	if len(t.dissents) == 0 || node.Rounds == 1 {
		clear(t.dissents)
		return false, nil
	}
	metadata := make(map[string]string, len(t.dissents))
	for id, summary := range t.dissents {
		metadata[dissentName+":"+id] = summary
	}
	return true, t.state.Apply(&abi.Update{Metadata: metadata})
}

// judgeBranch is the branch of one judge: one call for all of its criteria.
func (t *auditTrial) judgeBranch(node *pipeline.Node, judge *audit.Judge, criteria []*audit.Criterion, evidence []abi.Evidence) branch {
	req := judgeRequest(judge, criteria)
	req.Opinion, req.Evidence = t.opinion.Opinion, evidence
	return branch{who: judge.ID, run: func(v *invoker) (*abi.Update, error) {
		opinions, err := v.judge(t.ttl, node, judge.Module, req)
		if err != nil {
			return nil, err
		}
		judgements := make(map[string]map[string]abi.CriterionOpinion, len(opinions))
		for i := range opinions {
			o := opinions[i]
			o.CriterionID = criteria[i].ID
			judgements[o.CriterionID] = map[string]abi.CriterionOpinion{judge.ID: o}
		}
		return &abi.Update{Judgements: judgements}, nil
	}}
}

// evidence is what all judges get: the items of the state, and what the host
// found about them. It begins the facts.
func (t *auditTrial) evidence() []abi.Evidence {
	snapshot := t.state.Snapshot()
	items, found := []abi.Evidence{}, []abi.Evidence{}
	seen := make(map[[2]string]bool)
	fact := func(ref, what string) {
		if key := [2]string{ref, what}; !seen[key] {
			seen[key] = true
			found = append(found, abi.Evidence{SourceRef: forensicsName + ":" + ref, Content: what, RelevanceConfidence: 1})
			t.facts.Add(forensicsName+":"+ref, abi.QuoteStands, "")
		}
	}
	for _, channel := range slices.Sorted(maps.Keys(snapshot.Evidences)) {
		for _, item := range snapshot.Evidences[channel] {
			items = append(items, item)
			status, document := t.status(channel, &item)
			t.facts.Add(item.SourceRef, status, document)
			if status != abi.QuoteUnclaimed {
				fact(item.SourceRef, string(status)+" in "+document)
			}
		}
	}
	return slices.Concat(items, found)
}

// status of an item in the documents of the case. What collectors quote was
// looked up already; what they quote from the opinion does not count.
func (t *auditTrial) status(channel string, item *abi.Evidence) (abi.QuoteStatus, string) {
	if channel == channelCase {
		status, document := t.caseQuotes.Quote(t.names.origin(item.SourceRef), item.Content)
		return status, t.names.name(document)
	}
	document := strings.TrimPrefix(channel, channelDocument)
	if document == opinionName {
		return abi.QuoteUnclaimed, ""
	}
	return abi.QuoteStands, document
}

// voices are the opinions of each criterion as they are now.
func (t *auditTrial) voices() map[string][]audit.Voice {
	snapshot := t.state.Snapshot()
	all := make(map[string][]audit.Voice)
	for i := range t.audit.rubric.Criteria {
		c := &t.audit.rubric.Criteria[i]
		j := audit.Judgement{Opinions: snapshot.Judgements[c.ID], Facts: &t.facts}
		all[c.ID] = j.Voices(c)
	}
	return all
}

// counts says whether a judge has an opinion that counts.
func counts(voices []audit.Voice, judge string) bool {
	return slices.ContainsFunc(voices, func(v audit.Voice) bool {
		return v.Judge == judge && v.Standing == audit.Counts
	})
}

// dissent states as evidence what the others said of criteria.
func (t *auditTrial) dissent(judge *audit.Judge, criteria []*audit.Criterion, voices map[string][]audit.Voice) []abi.Evidence {
	var items []abi.Evidence
	for _, c := range criteria {
		for _, v := range voices[c.ID] {
			if v.Judge == judge.ID || v.Standing != audit.Counts {
				continue
			}
			ref := dissentName + ":" + c.ID + ":" + v.Judge
			t.facts.Add(ref, abi.QuoteUnclaimed, "")
			items = append(items, abi.Evidence{
				SourceRef: ref, Content: strconv.Itoa(v.Opinion.NumericScore) + " of 5: " + audit.OneLine(v.Opinion.Argument),
				RelevanceConfidence: v.Opinion.RelevanceConfidence, Supports: judge.As(c.ID),
			})
		}
	}
	return items
}

// judgeRequest begins the request to a judge: who is asked, and for what.
func judgeRequest(judge *audit.Judge, criteria []*audit.Criterion) *abi.JudgeRequest {
	req := &abi.JudgeRequest{Judge: judge.ID, Params: Params(judge.With), Criteria: make([]abi.Criterion, len(criteria))}
	for i, c := range criteria {
		req.Criteria[i] = abi.Criterion{CriterionID: judge.As(c.ID), Category: c.Category, Description: c.Description}
	}
	return req
}

// probeOpinion is what judges are probed with.
const probeOpinion = "The court affirms the charge, because the log says so, with a confidence of 0.5."

// Probe finds parameters of the rubric that a judge's module rejects, before any opinion is audited. Each judge with
// parameters is asked for its opinion on a sentence: one that fails with them, and not without, rejects them. The error is a
// pipeline.Errors with every such judge, by its place in the rubric; or the context's.
func (a *Audit) Probe(ctx context.Context) error {
	modules, release, err := a.orInForce(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	var faults pipeline.Errors
	for i := range a.rubric.Judges {
		judge := &a.rubric.Judges[i]
		if len(judge.With) == 0 {
			continue
		}
		v := newSession(&a.config.Services, a.Runtime, modules, &abi.Case{ID: trial.Unnamed}, nil).invoker(a.graph)
		if why := rejectsParams(ctx, v, judge, a.rubric.ScoredBy(judge.ID)); why != "" {
			path := "judges[" + strconv.Quote(judge.ID) + "].with"
			at := a.rubric.Position(path)
			faults = append(faults, &pipeline.Error{
				File: a.rubric.File(), Line: at.Line, Column: at.Column, Path: path, Code: audit.CodeParameters,
				Message: "the module " + judge.Module + " rejects them: " + why,
			})
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b *pipeline.Error) int { return cmp.Compare(a.Line, b.Line) })
	return faults
}

// rejectsParams tells why a judge fails with its parameters; empty if it does
// not, or fails without them as well.
func rejectsParams(ctx context.Context, v *invoker, judge *audit.Judge, criteria []*audit.Criterion) string {
	request := judgeRequest(judge, criteria)
	request.Opinion = abi.JudicialOpinion{Text: probeOpinion, CaseID: trial.Unnamed, CourtName: trial.Unnamed}
	request.Evidence = []abi.Evidence{}
	const probe = "probe" // in place of a node
	with, err := v.judgeOnce(ctx, probe, judge.Module, request)
	if err != nil || with.Failure == nil {
		return ""
	}
	request.Params = nil
	if without, err := v.judgeOnce(ctx, probe, judge.Module, request); err != nil || without.Failure != nil {
		return ""
	}
	return with.Failure.Code + ": " + with.Failure.Message
}
