package court

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/quotes"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/state"
	"github.com/shadowcourt/shadowcourt/host/internal/walk"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// ErrNoLight: the case has no Light classification and nobody to ask for one.
var ErrNoLight = errors.New("the case has no Light classification and there is no Light to ask")

// The host's own stops of a walk.
var (
	errTTL      = errors.New("the trial's time is over")
	errHandoffs = errors.New("the trial's handoffs are used up")
)

// trial is one case on its way. It is used by one goroutine.
type trial struct {
	court    *Court
	invoker  invoker.Invoker
	light    Light // nil when nobody can answer again
	subject  *abi.Case
	docs     *quotes.Documents
	state    *state.State
	evidence []abi.Evidence // of the state, without what the hearings brought
	profile  *abi.Profile   // what of it can count
	// brought are the items that Light gathered; false are those that it took back.
	brought map[identity]bool
	// lightSpent: Light answered a remand with nothing new.
	lightSpent bool
	// handoffsBefore this pass
	handoffsBefore int
	out            *Outcome
	pass           *Pass
	start          time.Time
	holder         string // persona that has the case
	sequence       map[string]int
	nodeCtx        context.Context //nolint:containedctx // the TTL's context of this trial, beside the walk's with its grace
}

// Try tries a case. Light may be nil: then the case's own classification is
// tried and cannot be remanded. Its error is [ErrNoLight], a *abi.ValidationError
// of the case, the caller's context, or a failure of the host; everything
// else ends in the Outcome.
func (c *Court) Try(ctx context.Context, subject *abi.Case, light Light, modules invoker.Modules) (*Outcome, error) {
	var problems abi.Collector
	if subject.Rules(&problems); !problems.Empty() {
		return nil, problems.Err()
	}
	start := c.now()
	ttl, cancel := context.WithTimeout(ctx, time.Duration(c.limits.TTL))
	defer cancel()
	graced, cancelGraced := context.WithTimeout(ctx, time.Duration(c.limits.TTL)+Grace)
	defer cancelGraced()

	t := &trial{
		court: c, invoker: invoker.Invoker{Modules: modules, Log: c.log}, light: light, subject: subject,
		docs: quotes.Of(subject.Documents), state: state.Watched(invoker.Merged(modules)), out: &Outcome{},
		start: start, nodeCtx: ttl, sequence: make(map[string]int), brought: make(map[identity]bool),
	}
	if err := t.classify(ctx); err != nil || t.out.Status != "" {
		return t.out, err
	}
	if status := activate(&c.limits, t.out.Light.Confidence); status != "" {
		t.settle(status, t.out.Light.Classification, t.out.Light.Confidence)
		if status == Rejected {
			t.out.GapBrief = t.gapBrief(string(Rejected))
		}
		return t.out, nil
	}
	t.out.Activated = true
	t.bring(t.out.Gathered)
	for _, items := range [][]abi.Evidence{subject.Evidence, t.out.Gathered} {
		if err := t.addEvidence("case", items); err != nil {
			return nil, err
		}
	}
	for t.out.Status == "" {
		if err := t.walk(graced); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	t.out.State = t.state.Snapshot()
	return t.out, nil
}

// classify takes Light's first answer. A Light that fails ends the trial.
func (t *trial) classify(ctx context.Context) error {
	switch {
	case t.subject.Light != nil:
		t.out.Light = *t.subject.Light
	case t.light != nil:
		response, err := t.light.Answer(ctx, LightRequest{Case: t.subject})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			err = t.checkAnswer(&response, nil)
		}
		if err != nil {
			t.lightFailed(err)
			return nil
		}
		t.out.Light, t.out.Gathered = response.Answer, response.Evidence
	default:
		return ErrNoLight
	}
	return nil
}

// lightFailed is a mistrial for which Light is to blame, or the module that
// plays it.
func (t *trial) lightFailed(err error) {
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Cause: CauseLight, Node: "light", Persona: "light", Message: err.Error()}
		if invalid, ok := errors.AsType[*abi.ValidationError](err); ok {
			f.Problems = invalid.Problems
		}
	}
	t.out.Failure = f
	t.mistrial(f.Cause)
}

// current is Light's latest answer.
func (t *trial) current() *abi.LightAnswer {
	if n := len(t.out.LightAfter); n > 0 {
		return &t.out.LightAfter[n-1]
	}
	return &t.out.Light
}

// walk takes the case through the graph once and draws the consequence.
func (t *trial) walk(ctx context.Context) error {
	t.out.Passes = append(t.out.Passes, Pass{Light: *t.current()})
	t.pass, t.handoffsBefore = &t.out.Passes[len(t.out.Passes)-1], t.out.Handoffs
	t.holder = ""
	t.profile = t.court.domain.Standing(t.subject, t.evidence)
	walker := walk.New(t.court.graph, t, t, walk.Config{Ended: t.overdue})
	walked, err := walker.Walk(ctx)
	t.pass.Steps = invoker.Steps(walked)
	t.out.Path = append(t.out.Path, walked.Path()...)
	if err != nil {
		return t.stopped(err)
	}
	return t.ended(walked)
}

// ended draws the consequence of the end that the walk reached.
func (t *trial) ended(walked *walk.Outcome) error {
	verdict := t.pass.Verdict
	last := walked.Steps[len(walked.Steps)-1]
	switch walked.End {
	case pipeline.EndRemand:
		return t.remand()
	case pipeline.EndMistrial:
		t.mistrial(t.mistrialCause(last.EdgeID))
	case pipeline.EndGapBrief:
		t.acquit()
	default:
		t.decided(verdict, last.Node)
	}
	return nil
}

// decided ends a trial at `_done`: the verdict says how.
func (t *trial) decided(verdict *abi.Verdict, node string) {
	switch {
	case verdict == nil:
		t.fail(&Failure{Cause: invoker.CauseGraph, Node: node, Message: "the walk is done and there is no verdict"})
	case verdict.Decision == abi.Affirm:
		t.settle(Affirmed, verdict.FinalClassification, verdict.Confidence)
	case verdict.Decision == abi.Amend:
		t.settle(Amended, verdict.FinalClassification, verdict.Confidence)
	case verdict.Decision == abi.Acquit:
		t.acquit()
	case verdict.Decision == abi.Mistrial:
		t.mistrial(CauseJudge)
	default:
		t.mistrial(CauseRemands)
	}
}

// mistrialCause says which limit an edge to `_mistrial` stands for.
func (t *trial) mistrialCause(edge string) Cause {
	e, ok := t.court.graph.Edge(edge)
	switch {
	case ok && e.FromAny() && t.expired():
		return CauseTTL
	case ok && e.FromAny():
		return CauseHandoffs
	default:
		return CauseJudge
	}
}

// stopped draws the consequence of a walk that failed.
func (t *trial) stopped(err error) error {
	var failure *Failure
	var noEdge *walk.NoEdgeError
	switch {
	case errors.Is(err, errTTL):
		t.hostMistrial(CauseTTL)
	case errors.Is(err, errHandoffs):
		t.hostMistrial(CauseHandoffs)
	case errors.As(err, &failure):
		t.fail(failure)
	case errors.As(err, &noEdge):
		t.lastNode(noEdge)
	case errors.Is(err, walk.ErrStepLimit):
		t.mistrial(invoker.CauseSteps)
	default:
		return err
	}
	return nil
}

// lastNode: no edge fired and there is no next node.
func (t *trial) lastNode(noEdge *walk.NoEdgeError) {
	if v := t.pass.Verdict; v != nil && v.Decision == abi.Remand {
		t.mistrial(CauseRemands)
		return
	}
	t.out.Failure = &Failure{Cause: invoker.CauseNoEdge, Node: noEdge.Node, Message: noEdge.Error()}
	t.mistrial(invoker.CauseNoEdge)
}

// hostMistrial is a mistrial by a limit that the host enforces itself. The
// path names the graph's own edge for it, where it has one.
func (t *trial) hostMistrial(cause Cause) {
	want := map[Cause]string{CauseTTL: "HD10", CauseHandoffs: "HD11"}[cause]
	arrival := pipeline.EndMistrial
	for _, e := range t.court.graph.AnyEdges() {
		if e.Evaluator == want && e.To == pipeline.EndMistrial {
			arrival = e.ID + ":" + pipeline.EndMistrial
			break
		}
	}
	t.out.Path = append(t.out.Path, arrival)
	t.mistrial(cause)
}

// fail is a mistrial that a module, or the graph, is to blame for.
func (t *trial) fail(f *Failure) {
	t.out.Failure = f
	t.out.Path = append(t.out.Path, pipeline.EndMistrial)
	t.mistrial(f.Cause)
}

func (t *trial) mistrial(cause Cause) {
	t.out.Cause = cause
	t.settle(Mistrial, "", t.current().Confidence)
	t.out.GapBrief = t.gapBrief(string(cause))
}

func (t *trial) acquit() {
	confidence := t.current().Confidence
	if v := t.pass.Verdict; v != nil {
		confidence = v.Confidence
	}
	t.settle(Acquitted, "", confidence)
	t.out.GapBrief = t.gapBrief(causeAcquitted)
}

// settle ends the case. Rejected cases carry no classification.
func (t *trial) settle(status Status, classification string, confidence float64) {
	t.out.Status, t.out.Confidence = status, confidence
	if status != Rejected {
		t.out.Classification = classification
	}
	if t.pass != nil {
		t.out.Verdict = t.pass.Verdict
	}
}

// addEvidence merges items into the state and refreshes the view of them.
func (t *trial) addEvidence(channel string, items []abi.Evidence) error {
	if len(items) == 0 {
		return nil
	}
	if err := t.state.Apply(&abi.Update{Evidences: map[string][]abi.Evidence{channel: items}}); err != nil {
		return fmt.Errorf("merge the evidence: %w", err)
	}
	t.refreshEvidence()
	return nil
}

// expired says whether the TTL is over, by the injected clock or in real time.
func (t *trial) expired() bool {
	return t.over(t.nodeCtx.Err() != nil || t.court.now().Sub(t.start) >= time.Duration(t.court.limits.TTL))
}

// overdue ends a walk between two steps when the grace is over, too.
func (t *trial) overdue(graced context.Context) error {
	if t.over(graced.Err() != nil) {
		return errTTL
	}
	return nil
}

// over has the trail say what counts of what the clock says.
func (t *trial) over(now bool) bool { return invoker.Over(t.invoker.Modules, now) }

// enter hands the case to a persona.
func (t *trial) enter(persona string) error {
	if t.expired() {
		return errTTL
	}
	if t.holder != "" && t.holder != persona {
		if t.out.Handoffs >= t.court.limits.MaxHandoffs {
			return errHandoffs
		}
		t.out.Handoffs++
	}
	t.holder = persona
	return nil
}

// remandsLeft is how often the verdict may still remand. It may not where a
// trial as long as this one would run out of handoffs.
func (t *trial) remandsLeft() int {
	taken, rest := t.out.Handoffs-t.handoffsBefore, t.court.limits.MaxHandoffs-t.out.Handoffs
	if t.out.Remands == 0 {
		taken++ // nobody had the case when the first pass began
	}
	if t.light == nil || t.lightSpent || taken > rest {
		return 0
	}
	return max(0, t.court.limits.MaxRemands-t.out.Remands)
}
