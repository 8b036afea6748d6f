package court

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// settled is the probability of a label from which the shipped personas ask for no more experiments.
const settled = 0.9

// propose names the experiment that would tell most of an uncertain case and was not run. It stands on what a record has, so that a
// replay proposes the same.
func (t *Trial) propose() {
	t.withoutReruns()
	subject, profile := &t.out.Case, t.court.config.Profile
	if b := t.result.GapBrief; b != nil && t.result.Final.Status == trial.Acquitted && odds.NotReproduced(t.results) {
		b.Summary = "The failure did not come back when its test was run again, and no experiment shows what caused it. The nearest label came to " +
			trial.Number(b.FinalConfidence) + "."
	}
	if profile == nil || profile.Outcomes == nil || !uncertain(t.result) {
		return // nothing is known of any experiment, or nothing is open
	}
	var elapsed time.Duration
	pace := plan.GoPace()
	switch tests := gotest.TestsOf(subject); len(tests) {
	case 0:
		test, ok := junit.Named(subject)
		if !ok {
			return
		}
		elapsed, pace = test.Elapsed, plan.OtherPace()
	case 1:
		elapsed = tests[0].Elapsed
	default:
		return
	}
	answer := t.offered()
	if r, what := plan.Lacking(t.results); r != nil {
		offer := offerOf(answer.Offers, &r.Experiment)
		if offer == nil {
			offer = &abi.ExperimentOffer{Experiment: r.Experiment, Seconds: plan.Seconds(elapsed, pace, r.Experiment, plan.BuildOf(r.Experiment))}
		}
		p := trial.NewProposal(offer, "its tests were not given what they may need")
		p.Allow = what
		t.result.Propose(p)
		return
	}
	outlook := t.court.outlooks.after(subject.Labels, profile, t.results)
	best := func(now []float64) *abi.ExperimentOffer {
		return plan.Best(outlook, now, profile, t.results, answer.Offers, elapsed, pace)
	}
	offer := best(t.probabilities())
	if offer != nil && len(t.results) == 0 { // a run with experiments begins with those of the bench, which sees neither Light's answer nor the charge
		offer = best(odds.Probabilities(t.baseRates(), 0))
	}
	if offer == nil {
		return
	}
	if why := t.whyNot(&answer, &offer.Experiment); why != "" {
		t.result.Propose(trial.NewProposal(offer, why))
	}
}

// outlooks are those of cases of which no experiment was run: by the profile of a court they differ in their labels alone.
type outlooks struct {
	mu   sync.Mutex
	list []labelsOutlook
}

type labelsOutlook struct {
	labels  []string
	outlook *odds.Outlook
}

// mostOutlooks bounds what is kept. The cases of a docket have the same labels.
const mostOutlooks = 16

// after is the outlook after results.
func (o *outlooks) after(labels []string, p *abi.Profile, results []abi.ExperimentResult) *odds.Outlook {
	if len(results) > 0 {
		return plan.Outlook(labels, p, results)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.list {
		if slices.Equal(o.list[i].labels, labels) {
			return o.list[i].outlook
		}
	}
	if len(o.list) == mostOutlooks {
		o.list = nil
	}
	outlook := plan.Outlook(labels, p, nil)
	o.list = append(o.list, labelsOutlook{slices.Clone(labels), outlook})
	return outlook
}

// rerunText is a gap that a rerun closes.
var rerunText = regexp.MustCompile(`(?i)\brerun\b`)

// withoutReruns takes from the gap brief what asks for a rerun of the failing test, where one was run.
func (t *Trial) withoutReruns() {
	brief := t.result.GapBrief
	if brief == nil || !slices.ContainsFunc(t.results, func(r abi.ExperimentResult) bool { return odds.IsRerun(&r.Experiment) && wasRun(r) }) {
		return
	}
	gaps := slices.DeleteFunc(slices.Clone(brief.Gaps), func(g trial.Gap) bool {
		return g.CourtPhase == abi.FamilyVerdict && rerunText.MatchString(g.Description)
	})
	if len(gaps) > 0 {
		brief.Gaps = gaps
	}
}

// uncertain says whether an experiment may change the answer. Light's answers that were not tried are as they were wanted.
func uncertain(r *trial.Result) bool {
	switch r.Final.Status {
	case trial.Rejected, trial.Acquitted, trial.Mistrial:
		return true
	case trial.Affirmed, trial.Amended:
		return r.Final.Confidence < settled
	case trial.Unreviewed, trial.Accepted:
	}
	return false
}

// baseRates of the labels, in nats.
func (t *Trial) baseRates() []float64 {
	nats := make([]float64, len(t.subject.Labels))
	odds.AddBaseRates(nats, t.subject.Labels, t.court.config.Profile)
	return nats
}

// probabilities of the labels, as far as the end of a trial tells them: the label that it names has its confidence, and the others
// share the rest by their base rates. An acquittal names none; there the base rates count, and what experiments have shown.
func (t *Trial) probabilities() []float64 {
	labels, final, nats := t.subject.Labels, &t.result.Final, t.baseRates()
	named := final.Classification
	switch final.Status {
	case trial.Acquitted:
		odds.AddExperiments(nats, labels, t.court.config.Profile, t.results)
	case trial.Rejected, trial.Mistrial:
		named = t.current().Classification
	case trial.Unreviewed, trial.Accepted, trial.Affirmed, trial.Amended:
	}
	at := slices.Index(labels, named)
	if at < 0 || len(labels) < 2 {
		return odds.Probabilities(nats, 0)
	}
	nats[at] = math.Inf(-1)
	rest := odds.Probabilities(nats, 0)
	for j := range rest {
		rest[j] *= 1 - final.Confidence
	}
	rest[at] = final.Confidence
	return rest
}

// whyNot says why an experiment was not run. It is empty where the personas could have had it, and did not think it worth its seconds.
func (t *Trial) whyNot(answer *abi.ExperimentAnswer, e *abi.Experiment) string {
	for i := range t.results {
		if r := &t.results[i]; r.Outcome == abi.OutcomeNotRun {
			reason, _, _ := strings.Cut(r.Detail, "\n")
			return cmp.Or(reason, "it could not be run")
		}
	}
	granted := slices.ContainsFunc(t.court.definitions(), func(def *pipeline.Definition) bool {
		return slices.ContainsFunc(def.Personas, func(p pipeline.Persona) bool {
			return slices.Contains(p.Grants, abi.CapExperiment)
		})
	})
	switch {
	case !granted:
		return "the pipeline grants experiments to no persona"
	case !t.hasExperiments():
		return "experiments are off"
	case offerOf(answer.Offers, e) == nil:
		return cmp.Or(answer.Why, "it was not offered")
	case t.result.Final.Status == trial.Mistrial:
		return "the trial broke before one was asked for"
	default:
		return ""
	}
}
