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

// evidence is what all judges get: the items of the state, and what the host found about them. It begins the facts.
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

// rejectsParams tells why a judge fails with its parameters; empty if it does not, or fails without them as well.
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

// Keys of the channel evidences: the case's own, and what collectors quote, by
// the document, so that one line that two of them quote is one item.
const (
	channelCase     = "case"
	channelDocument = "document:"
)

// collect has the personas of a node read the documents.
func (t *auditTrial) collect(ctx context.Context, node *pipeline.Node, visit int) error {
	labels := make([]string, len(t.audit.rubric.Criteria))
	for i := range labels {
		labels[i] = t.audit.rubric.Criteria[i].ID
	}
	branches := make([]branch, len(node.Personas))
	for i, id := range node.Personas {
		persona, _ := t.graph.Definition().Persona(id)
		at := abi.Position{Node: node.Name, Pass: visit, Sequence: i}
		branches[i] = branch{who: id, run: func(v *invoker) (*abi.Update, error) {
			req := &abi.NodeRequest{
				Node: node.Name, Family: abi.FamilyCollect, Persona: identity(persona),
				Case: abi.CaseView{Labels: labels, Documents: t.documents}, Params: Params(node.With),
			}
			artifact, err := v.node(t.ttl, node, persona, req, func(a *abi.Artifact, c *abi.Collector) {
				mark := c.Mark()
				abi.CheckDiscovery(a.Discovery, labels, abi.ModelSources(req.Completions), t.quotes.Contains, c)
				c.Nest(mark, abi.Field("discovery"))
			})
			if err != nil {
				return nil, err
			}
			return &abi.Update{
				Evidences: t.evidenceOf(artifact.Discovery),
				Artifacts: []abi.ArtifactEntry{{At: at, Persona: id, Artifact: *artifact}},
			}, nil
		}}
	}
	limit := 1
	if node.Parallel {
		limit = maxBranches
	}
	return t.fanOut(ctx, node, visit, limit, branches)
}

// evidenceOf states findings as evidence. The place is the host's: where the quote stands.
func (t *auditTrial) evidenceOf(d *abi.Discovery) map[string][]abi.Evidence {
	items := make(map[string][]abi.Evidence)
	for i := range d.Findings {
		f := &d.Findings[i]
		ref := f.Document
		if line := t.quotes.Line(f.Document, f.Quote); line > 0 {
			ref += ":L" + strconv.Itoa(line)
		}
		key := channelDocument + f.Document
		items[key] = append(items[key], abi.Evidence{SourceRef: ref, Content: f.Quote, RelevanceConfidence: f.Strength, Supports: f.Supports})
	}
	return items
}

// Names of the host's own in source_refs of the evidence that judges get. What comes from elsewhere can't bear them: see foreignNames.
const (
	// opinionName is the document of that name: the text under audit.
	opinionName = "opinion"
	// forensicsName is what the host found when it looked an item up.
	forensicsName = "forensics"
	// dissentName is what another judge said in the first round.
	dissentName = "dissent"
)

// foreignMark stands before a name of the host's own that comes from elsewhere.
const foreignMark = "item:"

func reserved(ref string) bool {
	name, _, _ := strings.Cut(ref, ":")
	return slices.Contains([]string{opinionName, forensicsName, dissentName}, name)
}

// foreignNames names what comes from elsewhere so that it can't speak as the host.
type foreignNames struct{ mark string }

// foreignTo finds a mark that makes no name of a subject that is there already: foreignMark, as often as it takes.
func foreignTo(s *audit.Subject) foreignNames {
	marks := 1
	taken := func(name string) {
		n := 0
		for rest := name; ; n++ {
			if reserved(rest) {
				marks = max(marks, n+1)
			}
			var marked bool
			if rest, marked = strings.CutPrefix(rest, foreignMark); !marked {
				return
			}
		}
	}
	for i := range s.Documents {
		taken(s.Documents[i].Name)
	}
	for i := range s.Evidence {
		taken(s.Evidence[i].SourceRef)
	}
	return foreignNames{strings.Repeat(foreignMark, marks)}
}

// name is the name by which collectors and judges know a document or a source.
func (f foreignNames) name(ref string) string {
	if reserved(ref) {
		return f.mark + ref
	}
	return ref
}

// origin is what a name was elsewhere.
func (f foreignNames) origin(name string) string {
	if ref, marked := strings.CutPrefix(name, f.mark); marked && reserved(ref) {
		return ref
	}
	return name
}

// documents of the case, by these names. They differ as those of the case do.
func (f foreignNames) documents(s *audit.Subject) []abi.Document {
	list := slices.Clone(s.Documents)
	for i := range list {
		list[i].Name = f.name(list[i].Name)
	}
	return list
}
