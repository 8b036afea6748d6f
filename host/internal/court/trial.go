package court

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/host/internal/court/traverse"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

// The host's own stops of a traversal.
var (
	errTTL      = errors.New("the trial's time is over")
	errHandoffs = errors.New("the trial's handoffs are used up")
)

// Trial is one case in a court. It is used by one goroutine.
type Trial struct {
	proceeding
	court     *Court
	light     Light      // nil when nobody can answer again
	lightPath *lightPath // which is light; nil without a Light path
	docs      *quotes.Documents
	evidence  []abi.Evidence // of the state, without what the hearings brought
	profile   *abi.Profile   // what of it can count
	signals   []int          // of the profile, that stand in the documents
	// answers of Light, the first one first; gathered is the evidence that came with the first.
	answers  []abi.LightAnswer
	gathered []abi.Evidence
	// gatheredItems are the items that Light gathered; false are those that it withdrew.
	gatheredItems map[itemKey]bool
	// lightSpent: Light answered a remand with nothing new.
	lightSpent bool
	// handoffsBefore this pass
	handoffsBefore int
	out            *trial.Trial
	result         *trial.Result // of out
	pass           *trial.Pass
	start          time.Time
	holder         string          // persona that has the case
	ttl, graced    context.Context //nolint:containedctx // end with the time of this trial, and with its grace
}

// newTrial prepares the trial of a case; its limit is to be freed.
func (c *Court) newTrial(ctx context.Context, subject *abi.Case, o *Options) *Trial {
	s := newSession(&c.config.Services, c.Runtime, o.Modules, subject, o.Recorder)
	s.profiled = c.domain.preparation
	s.limit = &timeLimit{now: c.config.Now}
	t := &Trial{
		proceeding: proceeding{invoker: s.invoker(c.graph), state: state.Watched(o.Recorder.merges()), sequence: make(map[string]int)},
		court:      c, light: o.light, docs: quotes.Of(subject.Documents), gatheredItems: make(map[itemKey]bool),
		out: &trial.Trial{Case: *subject, Result: trial.Result{ID: subject.ID, LightAfter: []trial.Answer{}}},
	}
	t.result, t.start = &t.out.Result, c.config.Now()
	switch {
	case c.lightPath != nil:
		t.lightPath = newLightPath(c, s)
		t.light = t.lightPath
	case t.light != nil && o.Recorder != nil:
		t.light = &recordedLight{t.light, o.Recorder}
	}
	t.ttl = s.limit.context(ctx, time.Duration(c.limits.TTL))
	t.graced = s.limit.context(ctx, time.Duration(c.limits.TTL)+grace)
	return t
}

// begin classifies the case, and decides whether it goes to trial. A case that does not has its status afterwards.
func (t *Trial) begin(ctx context.Context) error {
	var problems abi.Collector
	t.subject.Rules(&problems)
	abi.CheckSubmitted(t.subject, &problems)
	if !problems.Empty() {
		return problems.Err()
	}
	for _, step := range []func(context.Context) error{t.consult, t.classify} {
		if err := step(ctx); err != nil || t.ended() {
			return err
		}
	}
	first := t.current()
	if status := activate(&t.court.limits, first.Confidence); status != "" {
		t.settle(status, first.Classification, first.Confidence)
		if status == trial.Rejected {
			t.result.GapBrief = trial.NewGapBrief(t.gapBrief(string(trial.Rejected)))
		}
		return nil
	}
	t.result.Activated = true
	t.noteGathered(t.gathered)
	for _, items := range [][]abi.Evidence{t.subject.Evidence, t.gathered} {
		if err := t.addEvidence(items); err != nil {
			return err
		}
	}
	return nil
}

// classify takes Light's first answer. A Light that fails ends the trial.
func (t *Trial) classify(ctx context.Context) error {
	switch {
	case t.subject.Light != nil:
		t.answers = append(t.answers, *t.subject.Light)
	case t.light != nil:
		response, err := t.askLight(ctx, LightRequest{Case: t.subject})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			t.lightFailed(err)
			return nil
		}
		t.answers, t.gathered = append(t.answers, response.Answer), without(response.Evidence, t.subject.Evidence)
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

// activate says what becomes of a case before any trial: an empty status means that it is tried.
func activate(config *abi.CourtConfig, confidence float64) trial.Status {
	switch {
	case !config.Enabled:
		return trial.Unreviewed
	case confidence >= config.ActivationThreshold:
		return trial.Accepted
	case confidence < config.RejectionThreshold:
		return trial.Rejected
	default:
		return ""
	}
}

// current is Light's latest answer; empty where it gave none.
func (t *Trial) current() *abi.LightAnswer {
	if n := len(t.answers); n > 0 {
		return &t.answers[n-1]
	}
	return &abi.LightAnswer{}
}

// traverse takes the case through the graph once and draws the consequence.
func (t *Trial) traverse(ctx context.Context) error {
	t.out.Passes = append(t.out.Passes, trial.Pass{Light: *t.current()})
	t.pass, t.handoffsBefore = &t.out.Passes[len(t.out.Passes)-1], t.result.Handoffs
	t.holder = ""
	standing, signals := t.court.domain.standing(t.subject, t.evidence)
	t.profile, t.signals = t.hasInstead(t.profile, standing), signals
	outcome, err := traverse.Run(t.graced, t.graph, t, traverse.Config{Ended: t.overdue}) //nolint:contextcheck // derived from ctx, with the time of the trial
	t.pass.Steps = stepsOf(outcome)
	t.result.Path = append(t.result.Path, outcome.Path()...)
	if err == nil {
		err = t.conclude(outcome)
	} else {
		err = t.stopped(err)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// stepsOf are the steps of a traversal as results have them.
func stepsOf(outcome *traverse.Outcome) []trial.Step {
	list := make([]trial.Step, len(outcome.Steps))
	for i := range outcome.Steps {
		w := &outcome.Steps[i]
		s := trial.Step{Node: w.Node, Edge: w.EdgeID, To: w.To, Asked: make([]abi.EdgeAnswer, len(w.Answers))}
		for j, a := range w.Answers {
			s.Asked[j] = abi.EdgeAnswer{ID: a.Edge.ID, Fires: a.Fires, Why: a.Why}
			if a.Edge.ID == w.EdgeID {
				s.Why = a.Why
			}
		}
		list[i] = s
	}
	return list
}

// addEvidence merges items into the evidence of the case.
func (t *Trial) addEvidence(items []abi.Evidence) error {
	if err := t.gather(channelCase, items); err != nil {
		return err
	}
	if len(items) > 0 {
		t.refreshEvidence()
	}
	return nil
}

// refreshEvidence takes over what the state holds, but for what Light withdrew.
func (t *Trial) refreshEvidence() {
	t.evidence = slices.DeleteFunc(slices.Clone(t.state.Snapshot().Evidences[channelCase]), func(e abi.Evidence) bool {
		stands, gathered := t.gatheredItems[keyOf(&e)]
		return gathered && !stands
	})
}

// expired says whether the TTL is over, by the injected clock or in real time.
func (t *Trial) expired() bool {
	return t.recorder.isOver(t.ttl.Err() != nil || t.services.Now().Sub(t.start)-t.limit.pausedFor() >= time.Duration(t.court.limits.TTL))
}

// overdue ends a traversal between two steps when the grace is over, too.
func (t *Trial) overdue(graced context.Context) error {
	if t.recorder.isOver(graced.Err() != nil) {
		return errTTL
	}
	return nil
}

// timed gives the error of a call, or that the time was over: then that is the cause, whatever the module did.
func (t *Trial) timed(err error) error {
	if err == nil || !t.expired() {
		return err
	}
	var f *trial.Failure
	if !errors.As(err, &f) || f.Code == trial.CauseWallClock || f.HostSide {
		return errTTL
	}
	return err
}

// enter hands the case to a persona.
func (t *Trial) enter(persona string) error {
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
