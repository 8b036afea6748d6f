package runner

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// settled is the probability of a label from which the shipped personas ask for no more experiments.
const settled = 0.9

// propose names the experiment that would tell most of an uncertain case and was not run. It stands on what a record has, so that a
// replay proposes the same.
func (c *Court) propose(t *trial.Trial, s *runtime.Session) {
	withoutReruns(&t.Result, s.Results())
	if b := t.Result.GapBrief; b != nil && t.Result.Final.Status == trial.Acquitted && odds.NotReproduced(s.Results()) {
		b.Summary = "The failure did not come back when its test was run again, and no experiment shows what caused it. The nearest label came to " +
			trial.Number(b.FinalConfidence) + "."
	}
	if p := c.config.Profile; p == nil || len(p.Experiments) == 0 || !uncertain(&t.Result) {
		return // nothing is known of any experiment, or nothing is open
	}
	var elapsed time.Duration
	pace := plan.GoPace()
	switch tests := gotest.TestsOf(&t.Case); len(tests) {
	case 0:
		test, ok := junit.Named(&t.Case)
		if !ok {
			return
		}
		elapsed, pace = test.Elapsed, plan.OtherPace()
	case 1:
		elapsed = tests[0].Elapsed
	default:
		return
	}
	results := s.Results()
	if r, what := plan.Lacking(results); r != nil {
		offer := abi.ExperimentOffer{Experiment: r.Experiment, Seconds: plan.Seconds(elapsed, pace, r.Experiment, plan.BuildOf(r.Experiment))}
		if at := slices.IndexFunc(s.Offered().Offers, func(o abi.ExperimentOffer) bool { return o.Experiment == r.Experiment }); at >= 0 {
			offer = s.Offered().Offers[at]
		}
		p := trial.NewProposal(&offer, "its tests were not given what they may need")
		p.Allow = what
		t.Result.Propose(p)
		return
	}
	best := func(now []float64) (*abi.ExperimentOffer, float64) {
		return plan.Best(t.Case.Labels, now, c.config.Profile, results, s.Offered().Offers, elapsed, pace)
	}
	offer, perSecond := best(c.probabilities(t, results))
	if offer != nil && len(results) == 0 { // a run with experiments begins with those of the bench, which sees neither Light's answer nor the charge
		offer, _ = best(c.baseRates(t.Case.Labels))
	}
	if offer == nil {
		return
	}
	if why := c.whyNot(&t.Result, s, results, &offer.Experiment); why != "" {
		p := trial.NewProposal(offer, why)
		p.PerSecond = perSecond
		t.Result.Propose(p)
	}
}

// rerunText is a gap that a rerun closes.
var rerunText = regexp.MustCompile(`(?i)\brerun\b`)

// withoutReruns takes from a brief what asks for a rerun of the failing test, where one was run.
func withoutReruns(r *trial.Result, results []abi.ExperimentResult) {
	if r.GapBrief == nil || !slices.ContainsFunc(results, func(r abi.ExperimentResult) bool {
		return odds.IsRerun(&r.Experiment) && r.Outcome != abi.OutcomeNotRun
	}) {
		return
	}
	gaps := slices.DeleteFunc(slices.Clone(r.GapBrief.Gaps), func(g trial.Gap) bool {
		return g.CourtPhase == abi.FamilyVerdict && rerunText.MatchString(g.Description)
	})
	if len(gaps) > 0 {
		r.GapBrief.Gaps = gaps
	}
}

func (c *Court) baseRates(labels []string) []float64 {
	nats := make([]float64, len(labels))
	odds.AddBaseRates(nats, labels, c.config.Profile)
	return odds.Probabilities(nats, 0)
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

// probabilities of the labels, as far as the end of a trial tells them: the label that it names has its confidence, and the others
// share the rest by their base rates. An acquittal names none; there the base rates count, and what experiments have shown.
func (c *Court) probabilities(t *trial.Trial, results []abi.ExperimentResult) []float64 {
	labels, final := t.Case.Labels, &t.Result.Final
	nats := make([]float64, len(labels))
	odds.AddBaseRates(nats, labels, c.config.Profile)
	named := final.Classification
	switch final.Status {
	case trial.Acquitted:
		odds.AddExperiments(nats, labels, c.config.Profile, results)
	case trial.Rejected, trial.Mistrial:
		named = lightSays(&t.Result)
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

func lightSays(r *trial.Result) string {
	if n := len(r.LightAfter); n > 0 {
		return r.LightAfter[n-1].Classification
	}
	if r.Light == nil {
		return ""
	}
	return r.Light.Classification
}

// whyNot says why an experiment was not run. It is empty where the personas could have had it, and did not think it worth its seconds.
func (c *Court) whyNot(t *trial.Result, s *runtime.Session, results []abi.ExperimentResult, e *abi.Experiment) string {
	for i := range results {
		if r := &results[i]; r.Outcome == abi.OutcomeNotRun {
			reason, _, _ := strings.Cut(r.Detail, "\n")
			return cmp.Or(reason, "it could not be run")
		}
	}
	granted := slices.ContainsFunc(c.definitions(), func(def *pipeline.Definition) bool {
		return slices.ContainsFunc(def.Personas, func(p pipeline.Persona) bool {
			return slices.Contains(p.Grants, pipeline.Capability(abi.CapExperiment))
		})
	})
	answer := s.Offered()
	switch {
	case !granted:
		return "the pipeline grants experiments to no persona"
	case !s.Experimental():
		return "experiments are off"
	case !slices.ContainsFunc(answer.Offers, func(o abi.ExperimentOffer) bool { return o.Experiment == *e }):
		return cmp.Or(answer.Why, "it was not offered")
	case s.Asked(): // and gets it later
		return "it is run later"
	case t.Final.Status == trial.Mistrial:
		return "the trial broke before one was asked for"
	default:
		return ""
	}
}
