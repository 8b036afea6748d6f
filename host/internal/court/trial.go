package court

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/state"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

// ErrNoLight: the case has no Light classification and nobody to ask for one.
var ErrNoLight = errors.New("the case has no Light classification and there is no Light to ask")

// The host's own stops of a traversal.
var (
	errTTL      = errors.New("the trial's time is over")
	errHandoffs = errors.New("the trial's handoffs are used up")
)

// runner tries one case. It is used by one goroutine.
type runner struct {
	court    *Court
	invoker  invoker.Invoker
	light    Light // nil when nobody can answer again
	subject  *abi.Case
	docs     *quotes.Documents
	state    *state.State
	evidence []abi.Evidence // of the state, without what the hearings brought
	profile  *abi.Profile   // what of it can count
	signals  []int          // of the profile, that stand in the documents
	// answers of Light, the first one first; gathered is the evidence that came with the first.
	answers  []abi.LightAnswer
	gathered []abi.Evidence
	// brought are the items that Light gathered; false are those that it took back.
	brought map[identity]bool
	// lightSpent: Light answered a remand with nothing new.
	lightSpent bool
	// handoffsBefore this pass
	handoffsBefore int
	out            *trial.Trial
	result         *trial.Result // of out
	pass           *trial.Pass
	start          time.Time
	limit          *timeLimit
	holder         string // persona that has the case
	sequence       map[string]int
	nodeCtx        context.Context //nolint:containedctx // the TTL's context of this trial, beside the traversal's with its grace
}

// Try tries a case. Light may be nil: then the case's own classification is
// tried and cannot be remanded. Its error is [ErrNoLight], a *abi.ValidationError
// of the case, the caller's context, or a failure of the host; everything
// else ends in the trial. Its result lacks modules, fuel and timings, and the passes
// lack their calls.
func (c *Court) Try(ctx context.Context, subject *abi.Case, light Light, modules invoker.Modules) (*trial.Trial, error) {
	var problems abi.Collector
	subject.Rules(&problems)
	abi.CheckSubmitted(subject, &problems)
	if !problems.Empty() {
		return nil, problems.Err()
	}
	start := c.now()
	limit := &timeLimit{now: c.now}
	pausing := invoker.WithPause(ctx, limit.pause)
	ttl, freeTTL := limit.context(pausing, time.Duration(c.limits.TTL))
	defer freeTTL()
	graced, freeGraced := limit.context(pausing, time.Duration(c.limits.TTL)+Grace)
	defer freeGraced()

	t := &runner{
		court: c, invoker: invoker.Invoker{Modules: modules, Log: c.log}, light: light, subject: subject,
		docs: quotes.Of(subject.Documents), state: state.Watched(invoker.Merged(modules)),
		out:   &trial.Trial{Case: *subject, Result: trial.Result{ID: subject.ID, LightAfter: []trial.Answer{}}},
		start: start, limit: limit, nodeCtx: ttl, sequence: make(map[string]int), brought: make(map[identity]bool),
	}
	t.result = &t.out.Result
	if err := t.classify(ctx); err != nil || t.ended() {
		return t.out, err
	}
	first := t.current()
	if status := activate(&c.limits, first.Confidence); status != "" {
		t.settle(status, first.Classification, first.Confidence)
		if status == trial.Rejected {
			t.result.GapBrief = trial.NewGapBrief(t.gapBrief(string(trial.Rejected)))
		}
		return t.out, nil
	}
	t.result.Activated = true
	t.bring(t.gathered)
	for _, items := range [][]abi.Evidence{subject.Evidence, t.gathered} {
		if err := t.addEvidence("case", items); err != nil {
			return nil, err
		}
	}
	for !t.ended() {
		if err := t.traverse(graced); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
	}
	return t.out, nil
}

// classify takes Light's first answer. A Light that fails ends the trial.
func (t *runner) classify(ctx context.Context) error {
	switch {
	case t.subject.Light != nil:
		t.answers = append(t.answers, *t.subject.Light)
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
		t.answers, t.gathered = append(t.answers, response.Answer), t.withoutItemsOfCase(response.Evidence)
	default:
		return ErrNoLight
	}
	first := t.answers[0]
	t.result.Light = &trial.Answer{Classification: first.Classification, Confidence: first.Confidence}
	t.out.Case.Light = &first
	if len(t.gathered) > 0 {
		t.out.Case.Evidence = slices.Concat(t.subject.Evidence, t.gathered)
	}
	return nil
}

// ended says whether the case has its final status.
func (t *runner) ended() bool { return t.result.Final.Status != "" }

// lightFailed is a mistrial that Light caused, or the module that plays it.
func (t *runner) lightFailed(err error) {
	var f *trial.Failure
	if !errors.As(err, &f) {
		f = trial.NewFailure(trial.CauseLight, "light", "light", "", "", err.Error())
		if invalid, ok := errors.AsType[*abi.ValidationError](err); ok {
			f.Problems = trial.NewProblems(invalid.Problems)
		}
	}
	t.result.Error = f
	t.mistrial(f.Code)
}

// current is Light's latest answer; empty where it gave none.
func (t *runner) current() *abi.LightAnswer {
	if n := len(t.answers); n > 0 {
		return &t.answers[n-1]
	}
	return &abi.LightAnswer{}
}

// traverse takes the case through the graph once and draws the consequence.
func (t *runner) traverse(ctx context.Context) error {
	t.out.Passes = append(t.out.Passes, trial.Pass{Light: *t.current()})
	t.pass, t.handoffsBefore = &t.out.Passes[len(t.out.Passes)-1], t.result.Handoffs
	t.holder = ""
	t.profile, t.signals = t.court.domain.Standing(t.subject, t.evidence)
	traversal := traverse.New(t.court.graph, t, t, traverse.Config{Ended: t.overdue})
	outcome, err := traversal.Run(ctx)
	t.pass.Steps = invoker.Steps(outcome)
	t.result.Path = append(t.result.Path, outcome.Path()...)
	if err != nil {
		return t.stopped(err)
	}
	return t.conclude(outcome)
}

// conclude draws the consequence of the end that the traversal reached.
func (t *runner) conclude(outcome *traverse.Outcome) error {
	verdict := t.pass.Verdict
	last := outcome.Steps[len(outcome.Steps)-1]
	switch outcome.End {
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
func (t *runner) decided(verdict *abi.Verdict, node string) {
	switch {
	case verdict == nil:
		t.fail(trial.NewFailure(trial.CauseGraph, node, "", "", "", "the traversal is done and there is no verdict"))
	case verdict.Decision == abi.Affirm:
		t.settle(trial.Affirmed, verdict.FinalClassification, verdict.Confidence)
	case verdict.Decision == abi.Amend:
		t.settle(trial.Amended, verdict.FinalClassification, verdict.Confidence)
	case verdict.Decision == abi.Acquit:
		t.acquit()
	case verdict.Decision == abi.Mistrial:
		t.mistrial(trial.CauseJudge)
	default:
		t.mistrial(trial.CauseRemandsExhausted)
	}
}

// mistrialCause says which limit an edge to `_mistrial` stands for.
func (t *runner) mistrialCause(edge string) trial.Cause {
	e, ok := t.court.graph.Edge(edge)
	switch {
	case ok && e.FromAny() && t.expired():
		return trial.CauseTTL
	case ok && e.FromAny():
		return trial.CauseHandoffs
	default:
		return trial.CauseJudge
	}
}

// stopped draws the consequence of a traversal that failed.
func (t *runner) stopped(err error) error {
	var failure *trial.Failure
	var noEdge *traverse.NoEdgeError
	switch {
	case errors.Is(err, errTTL):
		t.hostMistrial(trial.CauseTTL)
	case errors.Is(err, errHandoffs):
		t.hostMistrial(trial.CauseHandoffs)
	case errors.As(err, &failure):
		t.fail(failure)
	case errors.As(err, &noEdge):
		t.lastNode(noEdge)
	case errors.Is(err, traverse.ErrStepLimit):
		t.mistrial(trial.CauseStepLimit)
	default:
		return err
	}
	return nil
}

// lastNode: no edge fired and there is no next node.
func (t *runner) lastNode(noEdge *traverse.NoEdgeError) {
	if v := t.pass.Verdict; v != nil && v.Decision == abi.Remand {
		t.mistrial(trial.CauseRemandsExhausted)
		return
	}
	t.result.Error = trial.NewFailure(trial.CauseNoEdge, noEdge.Node, "", "", "", noEdge.Error())
	t.mistrial(trial.CauseNoEdge)
}

// hostMistrial is a mistrial by a limit that the host enforces itself. The
// path names the graph's own edge for it, where it has one.
func (t *runner) hostMistrial(cause trial.Cause) {
	want := map[trial.Cause]string{trial.CauseTTL: "HD10", trial.CauseHandoffs: "HD11"}[cause]
	arrival := pipeline.EndMistrial
	for _, e := range t.court.graph.AnyEdges() {
		if e.Evaluator == want && e.To == pipeline.EndMistrial {
			arrival = e.ID + ":" + pipeline.EndMistrial
			break
		}
	}
	t.result.Path = append(t.result.Path, arrival)
	t.mistrial(cause)
}

// fail is a mistrial that a module, or the graph, is to blame for.
func (t *runner) fail(f *trial.Failure) {
	t.result.Error = f
	t.result.Path = append(t.result.Path, pipeline.EndMistrial)
	t.mistrial(f.Code)
}

func (t *runner) mistrial(cause trial.Cause) {
	t.result.Final.Cause = cause
	t.settle(trial.Mistrial, "", t.current().Confidence)
	t.result.GapBrief = trial.NewGapBrief(t.gapBrief(string(cause)))
}

func (t *runner) acquit() {
	confidence := t.current().Confidence
	if v := t.pass.Verdict; v != nil {
		confidence = v.Confidence
	}
	t.settle(trial.Acquitted, "", confidence)
	t.result.GapBrief = trial.NewGapBrief(t.gapBrief(causeAcquitted))
}

// settle ends the case. Rejected cases carry no classification.
func (t *runner) settle(status trial.Status, classification string, confidence float64) {
	final := &t.result.Final
	final.Status, final.Confidence = status, confidence
	if status != trial.Rejected {
		final.Classification = classification
	}
	if t.pass != nil {
		t.result.Verdict = trial.NewRuling(t.pass.Verdict)
	}
}

// addEvidence merges items into the state and refreshes the view of them.
func (t *runner) addEvidence(channel string, items []abi.Evidence) error {
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
func (t *runner) expired() bool {
	return t.over(t.nodeCtx.Err() != nil || t.court.now().Sub(t.start)-t.limit.pausedFor() >= time.Duration(t.court.limits.TTL))
}

// overdue ends a traversal between two steps when the grace is over, too.
func (t *runner) overdue(graced context.Context) error {
	if t.over(graced.Err() != nil) {
		return errTTL
	}
	return nil
}

// over has the trail say what counts of what the clock says.
func (t *runner) over(now bool) bool { return invoker.Over(t.invoker.Modules, now) }

// enter hands the case to a persona.
func (t *runner) enter(persona string) error {
	if t.expired() {
		return errTTL
	}
	if t.holder != "" && t.holder != persona {
		if t.result.Handoffs >= t.court.limits.MaxHandoffs {
			return errHandoffs
		}
		// Calls of the contest are questions and no handoffs, and so is a move to an end. A full trial of two rounds has nine.
		t.result.Handoffs++
	}
	t.holder = persona
	return nil
}

// remandsLeft is how often the verdict may still remand. It may not where a
// trial as long as this one would run out of handoffs.
func (t *runner) remandsLeft() int {
	taken, rest := t.result.Handoffs-t.handoffsBefore, t.court.limits.MaxHandoffs-t.result.Handoffs
	if t.result.Remands == 0 {
		taken++ // nobody had the case when the first pass began
	}
	if t.light == nil || t.lightSpent || taken > rest {
		return 0
	}
	return max(0, t.court.limits.MaxRemands-t.result.Remands)
}
