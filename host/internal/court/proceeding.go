package court

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// proceeding is what the court, a Light path and an audit have in common: calls of modules over one graph, whose responses are merged
// into a state.
type proceeding struct {
	*invoker
	state    *state.State
	sequence map[string]int // of the next artifact, by node
	last     *abi.Artifact  // of the node that was visited last, for its edges
}

// keep merges an artifact into the state, which owns it from here on.
func (p *proceeding) keep(node *pipeline.Node, pass int, persona string, artifact *abi.Artifact) (abi.ArtifactEntry, error) {
	entry := abi.ArtifactEntry{At: p.position(node, pass), Persona: persona, Artifact: *artifact}
	p.last = artifact
	if err := p.state.Adopt(&abi.Update{Artifacts: []abi.ArtifactEntry{entry}}); err != nil {
		return entry, fmt.Errorf("merge the artifact of node %q: %w", node.Name, err)
	}
	return entry, nil
}

// position gives the next place in the append channels for a node.
func (p *proceeding) position(node *pipeline.Node, pass int) abi.Position {
	at := abi.Position{Node: node.Name, Pass: pass, Sequence: p.sequence[node.Name]}
	p.sequence[node.Name]++
	return at
}

// gather merges items of evidence into a channel of the state.
func (p *proceeding) gather(channel string, items []abi.Evidence) error {
	if len(items) == 0 {
		return nil
	}
	if err := p.state.Apply(&abi.Update{Evidences: map[string][]abi.Evidence{channel: items}}); err != nil {
		return fmt.Errorf("merge the evidence of %s: %w", channel, err)
	}
	return nil
}

// persona gives the i-th persona of a node; a checked graph has it.
func (p *proceeding) persona(node *pipeline.Node, i int) *pipeline.Persona {
	persona, _ := p.graph.Definition().Persona(node.Personas[i])
	return persona
}

// nodeRequest begins the request to a persona at a node. Behind the mask of discovery all but labels and documents is left out, so that
// it is not in the bytes, and the request is complete.
func (p *proceeding) nodeRequest(node *pipeline.Node, by *pipeline.Persona, subject *abi.Case, d *domain) (req *abi.NodeRequest, complete bool) {
	req = &abi.NodeRequest{Node: node.Name, Family: node.Family, Persona: identity(by), Params: Params(node.With)}
	if !slices.Contains(node.Masks, pipeline.MaskDiscovery) {
		return req, false
	}
	req.Case = abi.CaseView{Labels: subject.Labels, Documents: subject.Documents}
	req.Profile = p.has(d.whole()) // what stands in the case is not known
	return req, true
}

// identity is a persona as modules see it.
func identity(p *pipeline.Persona) abi.Persona {
	return abi.Persona{
		Name: p.ID, Colour: p.Colour, Element: p.Element, Role: string(p.Role), Alignment: p.Alignment,
	}
}

// itemKey is what makes an item of evidence the same as another.
type itemKey struct{ sourceRef, content string }

func keyOf(e *abi.Evidence) itemKey { return itemKey{e.SourceRef, e.Content} }

// without are the items that are not in a list.
func without(items, list []abi.Evidence) []abi.Evidence {
	return slices.DeleteFunc(slices.Clone(items), func(e abi.Evidence) bool { return abi.FindEvidence(list, e.SourceRef, e.Content) != nil })
}

// checkReplies checks the items of the answers to a remand; paths begin at "remand".
func checkReplies(answer *abi.RemandAnswer, c *abi.Collector, check func(items []abi.Evidence)) {
	for i := range answer.Answers {
		mark := c.Mark()
		check(answer.Answers[i].Evidence)
		nest(c, mark, abi.Index(i), abi.Field("answers"), abi.Field("remand"))
	}
}

// nest prepends steps to the paths of all problems since mark, the innermost first.
func nest(c *abi.Collector, mark int, steps ...abi.PathElement) {
	for _, step := range steps {
		c.Nest(mark, step)
	}
}

// Visit does the work of a node. The family decides what that is, never the name.
func (t *Trial) Visit(_ context.Context, node *pipeline.Node, visit int) (again bool, err error) {
	family := node.Family
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
		challenges[i].By = cmp.Or(challenges[i].By, speaker)
	}
}

// timeLimit ends contexts after some time, in which waiting for experiments does not count. It is safe for concurrent use.
type timeLimit struct {
	mu     sync.Mutex
	timers []*limitTimer
	cancel []context.CancelCauseFunc
	paused time.Duration
	now    func() time.Time
}

// limitTimer ends one context. It has run since a moment of the monotonic clock, and has some time left from there.
type limitTimer struct {
	timer *time.Timer
	since time.Time
	left  time.Duration
}

// context gives a context that ends after some time, or with free.
func (l *timeLimit) context(parent context.Context, after time.Duration) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	t := &limitTimer{timer: time.AfterFunc(after, func() { cancel(context.DeadlineExceeded) }), since: time.Now(), left: after} //nolint:forbidigo // beside a timer of real time
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timers, l.cancel = append(l.timers, t), append(l.cancel, cancel)
	return ctx
}

// free ends all contexts.
func (l *timeLimit) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range l.timers {
		t.timer.Stop()
		l.cancel[i](context.Canceled)
	}
}

// pause stops the time until the function that it gives is called. A limit that has passed stays passed.
func (l *timeLimit) pause() (resume func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := l.now()
	var stopped []*limitTimer
	for _, t := range l.timers {
		if t.timer.Stop() {
			t.left -= time.Since(t.since)
			stopped = append(stopped, t)
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.paused += l.now().Sub(start)
		for _, t := range stopped {
			t.since = time.Now() //nolint:forbidigo // beside a timer of real time
			t.timer.Reset(max(t.left, 0))
		}
	}
}

// pausedFor is how long the time stood still, by the clock of the trial.
func (l *timeLimit) pausedFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paused
}
