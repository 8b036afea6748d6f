package court

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Visit does the work of a node. The family decides what that is, never the name.
func (t *runner) Visit(_ context.Context, node *pipeline.Node, visit int) (again bool, err error) {
	switch abi.Family(node.Family) {
	case abi.FamilyIndict:
		return false, t.indict(node, visit)
	case abi.FamilyDiscover:
		return false, t.discover(node, visit)
	case abi.FamilyDefend:
		return false, t.defend(node, visit)
	case abi.FamilyHearing:
		return t.hear(node, visit)
	default: // a verdict: New rejects other families
		return false, t.judge(node, visit)
	}
}

// call asks the node's persona for its artifact. check compares the artifact
// with the case and adds what it finds; it must also say when the artifact
// is not of the expected kind.
func (t *runner) call(node *pipeline.Node, p *pipeline.Persona, req *abi.NodeRequest, check func(*abi.Artifact, *abi.Collector) bool) (*abi.Artifact, error) {
	if err := t.enter(p.ID); err != nil {
		return nil, err
	}
	artifact, err := t.invoker.Node(t.nodeCtx, node, p, req, check)
	return artifact, t.timed(err)
}

// keep merges an artifact into the state, which owns it from here on.
func (t *runner) keep(node *pipeline.Node, persona string, artifact *abi.Artifact) error {
	entry := abi.ArtifactEntry{At: t.position(node), Persona: persona, Artifact: *artifact}
	if err := t.state.Adopt(&abi.Update{Artifacts: []abi.ArtifactEntry{entry}}); err != nil {
		return fmt.Errorf("merge the artifact of node %q: %w", node.Name, err)
	}
	return nil
}

// position gives the next place in the append channels for a node.
func (t *runner) position(node *pipeline.Node) abi.Position {
	at := abi.Position{Node: node.Name, Pass: len(t.out.Passes) - 1, Sequence: t.sequence[node.Name]}
	t.sequence[node.Name]++
	return at
}

// persona gives the i-th persona of a node; a checked graph has it.
func (t *runner) persona(node *pipeline.Node, i int) *pipeline.Persona {
	p, _ := t.court.graph.Definition().Persona(node.Personas[i])
	return p
}

func (t *runner) indict(node *pipeline.Node, _ int) error {
	p := t.persona(node, 0)
	a, err := t.call(node, p, t.request(node, p), func(a *abi.Artifact, c *abi.Collector) bool {
		if a.Indictment == nil {
			return false
		}
		mark := c.Mark()
		abi.CheckIndictment(a.Indictment, t.current(), t.evidence, c)
		invoker.NestArtifact(c, mark, "indictment")
		return true
	})
	if err != nil {
		return err
	}
	t.pass.Indictment, t.pass.Exhibits = a.Indictment, t.exhibits(a.Indictment.Evidence)
	return t.keep(node, p.ID, a)
}

func (t *runner) discover(node *pipeline.Node, _ int) error {
	p := t.persona(node, 0)
	req := t.request(node, p)
	a, err := t.call(node, p, req, func(a *abi.Artifact, c *abi.Collector) bool {
		if a.Discovery == nil {
			return false
		}
		mark := c.Mark()
		abi.CheckDiscovery(a.Discovery, t.subject.Labels, abi.ModelSources(req.Completions), t.docs.Contains, c)
		invoker.NestArtifact(c, mark, "discovery")
		return true
	})
	if err != nil {
		return err
	}
	t.pass.Discovery = a.Discovery
	return t.keep(node, p.ID, a)
}

func (t *runner) defend(node *pipeline.Node, _ int) error {
	if err := t.needs(node, t.pass.Indictment != nil, "an indictment"); err != nil {
		return err
	}
	if err := t.contest(node); err != nil {
		return err
	}
	p := t.persona(node, 0)
	a, err := t.call(node, p, t.request(node, p), func(a *abi.Artifact, c *abi.Collector) bool {
		if a.DefenseBrief == nil {
			return false
		}
		mark := c.Mark()
		abi.CheckBrief(a.DefenseBrief, t.pass.Indictment, t.subject.Labels, p.ID, t.pass.Contested, c)
		invoker.NestArtifact(c, mark, "defense_brief")
		return true
	})
	if err != nil {
		return err
	}
	sign(a.DefenseBrief.Challenges, p.ID)
	t.pass.Brief = a.DefenseBrief
	return t.keep(node, p.ID, a)
}

func (t *runner) judge(node *pipeline.Node, _ int) error {
	if err := t.needs(node, t.pass.Indictment != nil, "an indictment"); err != nil {
		return err
	}
	p := t.persona(node, 0)
	req := t.request(node, p)
	req.RemandsLeft = t.remandsLeft()
	a, err := t.call(node, p, req, func(a *abi.Artifact, c *abi.Collector) bool {
		if a.Verdict == nil {
			return false
		}
		mark := c.Mark()
		abi.CheckVerdict(a.Verdict, t.pass.Indictment, t.subject.Labels, c)
		invoker.NestArtifact(c, mark, "verdict")
		return true
	})
	if err != nil {
		return err
	}
	t.pass.Verdict = a.Verdict
	return t.keep(node, p.ID, a)
}

// needs fails a trial whose graph leads to a node before what it builds on is there.
func (t *runner) needs(node *pipeline.Node, there bool, what string) error {
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
