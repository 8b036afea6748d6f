package court

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Visit does the work of a node. The family decides what that is, never the name.
func (t *Trial) Visit(_ context.Context, node *pipeline.Node, visit int) (again bool, err error) {
	family := abi.Family(node.Family)
	if family == abi.FamilyHearing {
		return t.hear(node, visit)
	}
	if family == abi.FamilyDefend || family == abi.FamilyVerdict {
		if err := needs(node, t.pass.Indictment != nil, "an indictment"); err != nil {
			return false, err
		}
	}
	if family == abi.FamilyDefend {
		if err := t.contest(node); err != nil {
			return false, err
		}
	}
	p := t.persona(node, 0)
	req := t.request(node, p)
	if family == abi.FamilyVerdict {
		req.RemandsLeft = t.remandsLeft()
	}
	a, err := t.ask(node, p, req, func(a *abi.Artifact, c *abi.Collector) { t.check(a, p, req, c) })
	if err != nil {
		return false, err
	}
	t.take(a, p)
	_, err = t.keep(node, len(t.out.Passes)-1, p.ID, a)
	return false, err
}

// request is what the node's masks let a persona see.
func (t *Trial) request(node *pipeline.Node, p *pipeline.Persona) *abi.NodeRequest {
	req, complete := t.nodeRequest(node, p, t.subject, &t.court.domain)
	if complete {
		return req
	}
	req.Case = abi.CaseView{
		Subject: t.subject.Subject, Labels: t.subject.Labels, Light: t.current(), Evidence: t.evidence, Signals: t.signals,
	}
	req.Profile = t.profile
	req.Indictment, req.Exhibits = t.pass.Indictment, t.pass.Exhibits
	req.Discovery, req.Contested = t.pass.Discovery, t.pass.Contested
	req.DefenseBrief, req.Hearing = t.pass.Brief, t.pass.Hearing
	return req
}

// ask hands the case to a persona, for its artifact. check compares the artifact with the case.
func (t *Trial) ask(node *pipeline.Node, p *pipeline.Persona, req *abi.NodeRequest, check func(*abi.Artifact, *abi.Collector)) (*abi.Artifact, error) {
	if err := t.enter(p.ID); err != nil {
		return nil, err
	}
	artifact, err := t.node(t.ttl, node, p, req, check)
	return artifact, t.timed(err)
}

// check compares the artifact of a node with the case; paths begin at its field.
func (t *Trial) check(a *abi.Artifact, p *pipeline.Persona, req *abi.NodeRequest, c *abi.Collector) {
	mark, field := c.Mark(), ""
	switch {
	case a.Indictment != nil:
		field = "indictment"
		abi.CheckIndictment(a.Indictment, t.current(), t.evidence, c)
	case a.Discovery != nil:
		field = "discovery"
		abi.CheckDiscovery(a.Discovery, t.subject.Labels, abi.ModelSources(req.Completions), t.docs.Contains, c)
	case a.DefenseBrief != nil:
		field = "defense_brief"
		abi.CheckBrief(a.DefenseBrief, t.pass.Indictment, t.subject.Labels, p.ID, t.pass.Contested, c)
	case a.HearingTurn != nil:
		field = "hearing_turn"
		abi.CheckTurn(a.HearingTurn, len(t.pass.Indictment.Evidence), t.subject.Labels, p.ID, t.pass.Contested, t.stands, c)
	case a.Verdict != nil:
		field = "verdict"
		abi.CheckVerdict(a.Verdict, t.pass.Indictment, t.subject.Labels, c)
	}
	c.Nest(mark, abi.Field(field))
}

// take puts an artifact into the pass.
func (t *Trial) take(a *abi.Artifact, p *pipeline.Persona) {
	switch {
	case a.Indictment != nil:
		t.pass.Indictment, t.pass.Exhibits = a.Indictment, t.exhibits(a.Indictment.Evidence)
	case a.Discovery != nil:
		t.pass.Discovery = a.Discovery
	case a.DefenseBrief != nil:
		sign(a.DefenseBrief.Challenges, p.ID)
		t.pass.Brief = a.DefenseBrief
	case a.Verdict != nil:
		t.pass.Verdict = a.Verdict
	}
}

// exhibits says what the host knows of each item of an indictment.
func (t *Trial) exhibits(items []abi.IndictmentItem) []abi.Exhibit {
	list := make([]abi.Exhibit, len(items))
	for i := range items {
		status, document := t.docs.Quote(items[i].SourceRef, items[i].Content)
		list[i] = abi.Exhibit{EvidenceIndex: i, Quote: status, Document: document}
		if e := abi.FindEvidence(t.evidence, items[i].SourceRef, items[i].Content); e != nil {
			list[i].RelevanceConfidence = e.RelevanceConfidence
		}
	}
	return list
}

// Ask puts the edges of a node to the modules that evaluate them.
func (t *Trial) Ask(ctx context.Context, node *pipeline.Node, edges []*pipeline.Edge) ([]traverse.Answer, error) {
	answers, err := t.edges(ctx, node, edges, abi.EdgeRequest{
		Artifact: t.last, Remands: t.result.Remands, MaxRemands: t.result.Remands + t.remandsLeft(),
		Limits: abi.Limits{
			TTLExceeded: t.expired(), Handoffs: t.result.Handoffs + 1, MaxHandoffs: t.court.limits.MaxHandoffs,
		},
	})
	return answers, t.timed(err)
}

// needs fails a trial whose graph leads to a node before what it builds on is there.
func needs(node *pipeline.Node, there bool, what string) error {
	if there {
		return nil
	}
	return trial.NewFailure(trial.CauseGraph, node.Name, "", "pipeline", "", "the graph leads here before there is "+what)
}

// sign writes the speaker's name under challenges that have none.
func sign(challenges []abi.Challenge, speaker string) {
	for i := range challenges {
		if challenges[i].By == "" {
			challenges[i].By = speaker
		}
	}
}
