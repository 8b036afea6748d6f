package abitest

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// light makes a request of the Light path; one in three comes back from the court, and then its first items are those of the indictment.
func (s *source) light(r *abi.NodeRequest, view *abi.CaseView) {
	r.Persona = s.persona("weaver", abi.Air, "light", "light")
	r.Case = abi.CaseView{Subject: view.Subject, Labels: view.Labels, Evidence: view.Evidence, Documents: view.Documents}
	r.File = s.file(view)
	if s.kind == plain || !s.chance(3) {
		return
	}
	r.Case.Light = view.Light
	items := len(view.Evidence)
	f := &abi.RemandFeedback{Challenged: []abi.ChallengedItem{}, Questions: []abi.Question{}}
	for range min(items, s.rnd.IntN(4)) {
		f.Challenged = append(f.Challenged, abi.ChallengedItem{EvidenceIndex: s.rnd.IntN(items), Why: "doubtful: " + s.line()})
	}
	for _, id := range []string{"q1", "q2", "größe"}[:s.rnd.IntN(4)] {
		f.Questions = append(f.Questions, abi.Question{ID: id, Question: "what else is known? " + s.line()})
	}
	if s.chance(2) {
		f.AlternativeHypothesis = &abi.AlternativeHypothesis{Label: pick(s, view.Labels...), Reasoning: s.line(), Support: []int{}}
	}
	r.File.Feedback = f
}

// file is what the Light path gathered; any of it may be absent.
func (s *source) file(view *abi.CaseView) *abi.LightFile {
	there := func() bool { return s.kind == plain || s.chance(2) }
	f := &abi.LightFile{LoopsLeft: s.rnd.IntN(3)}
	if there() {
		f.Recall = &abi.RecallResult{Match: s.chance(2), PriorCase: "earlier", Classification: s.label(view.Labels), Confidence: s.figure(), Reasoning: s.line()}
	}
	if there() {
		f.Triage = s.triage(view)
	}
	if there() {
		f.Resolve = &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "a/b", FocusPaths: []string{"a/b/c.go:3"}, Reason: s.line()}}}
	}
	if there() {
		f.Investigate = s.investigation(view)
	}
	if there() {
		f.Correlate = &abi.CorrelateResult{IsDuplicate: s.chance(2), LinkedCase: "earlier", Classification: s.label(view.Labels), Confidence: s.figure()}
	}
	if there() {
		f.Review = &abi.ReviewDecision{Decision: pick(s, abi.Approve, abi.Reassess, abi.Overturn), Confidence: s.figure()}
	}
	return f
}

func (s *source) triage(view *abi.CaseView) *abi.TriageResult {
	return &abi.TriageResult{
		SymptomCategory: pick(s, abi.SymptomProduct, abi.SymptomAutomation, abi.SymptomInfrastructure, abi.SymptomFlake, abi.SymptomUnknown),
		Severity:        pick(s, abi.GapHigh, abi.GapMedium, abi.GapLow), ClassificationHypothesis: s.label(view.Labels), Candidates: []string{"a/b"},
	}
}

func (s *source) investigation(view *abi.CaseView) *abi.InvestigateArtifact {
	a := &abi.InvestigateArtifact{Summary: s.line(), Classification: s.label(view.Labels), ConvergenceScore: s.figure(), Evidence: []abi.Evidence{}}
	for range s.rnd.IntN(4) {
		a.Evidence = append(a.Evidence, s.evidence(view.Labels))
	}
	return a
}

// experimentsOf are those that the cases have.
var experimentsOf = []abi.Experiment{ //nolint:gochecknoglobals // a constant
	{Product: abi.Head, Tests: abi.Head, Environment: abi.CleanEnvironment, Order: abi.Alone, Runs: 1},
	{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5},
	{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2},
	{Product: abi.Base, Tests: abi.Head, Environment: abi.StarvedEnvironment, Order: abi.OriginalOrder, Runs: 3},
}

// offer puts experiments into a request: some that were run, others on offer, and a model of what they tell. Half of the requests have
// none, as where nothing is granted.
func (s *source) offer(r *abi.NodeRequest) {
	if s.chance(2) {
		return
	}
	var known []Passing
	for _, e := range experimentsOf {
		switch {
		case s.kind != plain && s.chance(4):
			r.Case.Experiments = append(r.Case.Experiments, s.result(e))
		case s.kind == plain || s.chance(2):
			r.Offers = append(r.Offers, abi.ExperimentOffer{Experiment: e, Seconds: 100 * s.figure()})
		}
		if r.Profile != nil && s.chance(2) {
			rates := Passing{Of: e}
			for range r.Case.Labels {
				rates.Given = append(rates.Given, s.figure())
			}
			known = append(known, rates)
		}
	}
	if known != nil {
		r.Profile.Outcomes = Outcomes(r.Case.Labels, known...)
	}
}

func outcomes() []abi.ExperimentOutcome {
	return []abi.ExperimentOutcome{abi.OutcomePassed, abi.OutcomeSame, abi.OutcomeMixed, abi.OutcomeOther, abi.OutcomeNotBuilt, abi.OutcomeNoTest}
}

func (s *source) result(e abi.Experiment) abi.ExperimentResult {
	return resultOf(e, pick(s, append(outcomes(), abi.OutcomeNotRun)...))
}

// resultOf is a result with counts that fit the outcome.
func resultOf(e abi.Experiment, o abi.ExperimentOutcome) abi.ExperimentResult {
	r := abi.ExperimentResult{Experiment: e, Outcome: o}
	switch o {
	case abi.OutcomePassed:
		r.Passed = e.Runs
	case abi.OutcomeSame:
		r.Same = e.Runs
	case abi.OutcomeOther:
		r.Other, r.Detail = e.Runs, "another failure"
	case abi.OutcomeMixed:
		r.Passed, r.Same = 1, 1
	case abi.OutcomeNotBuilt, abi.OutcomeNotRun:
		r.Detail = "it could not be"
	case abi.OutcomeNoTest:
	}
	return r
}

// ran is the request that a host makes after an experiment: with its result, and without its offer.
func (r *Request) ran(e *abi.Experiment) *Request {
	n, c := *r.Node, *r
	list := outcomes()
	o := list[len(n.Offers)%len(list)]
	if e.Runs == 1 && o == abi.OutcomeMixed {
		o = abi.OutcomePassed
	}
	n.Case.Experiments = append(slices.Clone(n.Case.Experiments), resultOf(*e, o))
	n.Offers = slices.DeleteFunc(slices.Clone(n.Offers), func(o abi.ExperimentOffer) bool { return o.Experiment == *e })
	c.Node, c.Name = &n, r.Name+", after "+e.String()
	return &c
}

// maxCompletions is how many completions a call may ask for (§2.12).
const maxCompletions = 16

// models puts models and a prompt into every second case, as where the persona is granted them.
func (s *source) models(r *abi.NodeRequest) {
	if s.number%2 == 0 {
		return
	}
	shorter := 500
	if s.kind == anything {
		shorter = 1 + s.rnd.IntN(1000)
	}
	offerModels(r, 16_000, 1000, shorter)
	if s.kind == anything && s.chance(2) {
		slices.Reverse(r.Models)
	}
}

// offerModels offers two models with contexts of as many tokens, and answers of these.
func offerModels(r *abi.NodeRequest, context, answerOne, answerTwo int) {
	r.Prompt = "Classify the case by its evidence alone."
	r.Models = []abi.ModelOffer{
		{Model: "model-one", ContextTokens: context, AnswerTokens: answerOne}, {Model: "model-two", ContextTokens: context, AnswerTokens: answerTwo},
	}
}

// noRoom is the context of a model into which nothing fits.
const noRoom = 1

// offered gives a copy with models: usual ones, those that give short answers, or those that have no room.
func (r *Request) offered(number int) *Request {
	n, out := *r.Node, *r
	switch number % 3 {
	case 0:
		offerModels(&n, 16_000, 1000, 500)
	case 1:
		offerModels(&n, 16_000, 1, 2)
	default:
		offerModels(&n, noRoom, 1, 1)
	}
	out.Node = &n
	return &out
}

// completed is the request that a host makes after a completion. What comes of it is drawn from the request, so that the same module
// meets the same answers.
func (r *Request) completed(c *abi.Completion) *Request {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.Name + c.Schema))
	rnd := rand.New(rand.NewPCG(hash.Sum64(), uint64(len(r.Node.Completions)))) //nolint:gosec // the same answers every time
	outcome := abi.CompletionAnswered
	if rnd.IntN(2) == 0 {
		all := outcomesOf(c)
		outcome = all[rnd.IntN(len(all))]
	}
	result := resultOfCompletion(rnd, c, outcome)
	return r.heard(&result)
}

// heard is the request that a host makes after a completion that came to a result: with it, and without models where no more may be asked.
func (r *Request) heard(result *abi.CompletionResult) *Request {
	n, out := *r.Node, *r
	n.Completions = append(slices.Clone(n.Completions), *result)
	if result.Outcome == abi.CompletionNotAsked || len(n.Completions) >= maxCompletions {
		n.Models = nil
	}
	out.Node, out.Name = &n, r.Name+", after a completion ("+string(result.Outcome)+")"
	return &out
}

// outcomesOf are what a completion can come to. Of one sample there is no part.
func outcomesOf(c *abi.Completion) []abi.CompletionOutcome {
	list := []abi.CompletionOutcome{
		abi.CompletionAnswered, abi.CompletionInvalid, abi.CompletionTooLong, abi.CompletionFailed, abi.CompletionNotAsked,
	}
	if c.Samples > 1 {
		list = append(list, abi.CompletionPartial)
	}
	return list
}

// everyResult has every outcome of a completion, and several kinds of answers.
func everyResult(number int, c *abi.Completion) []abi.CompletionResult {
	rnd := rand.New(rand.NewPCG(uint64(number), 1)) //nolint:gosec // the same answers every time
	var list []abi.CompletionResult
	for range 3 {
		list = append(list, resultOfCompletion(rnd, c, abi.CompletionAnswered))
	}
	repaired := &list[1] // it took another turn, which only the tokens tell
	repaired.InputTokens, repaired.OutputTokens = 2*repaired.InputTokens, 2*repaired.OutputTokens
	for _, outcome := range outcomesOf(c)[1:] {
		list = append(list, resultOfCompletion(rnd, c, outcome))
	}
	return list
}

// resultOfCompletion is a result with answers that fit the outcome.
func resultOfCompletion(rnd *rand.Rand, c *abi.Completion, outcome abi.CompletionOutcome) abi.CompletionResult {
	result := abi.CompletionResult{Model: c.Model, Outcome: outcome, Answers: []string{}, InputTokens: 100}
	samples := 0
	switch outcome { //nolint:exhaustive // the rest has no answer
	case abi.CompletionAnswered:
		samples = c.Samples
	case abi.CompletionPartial:
		samples = c.Samples / 2
	}
	if outcome != abi.CompletionAnswered {
		result.Detail = "it could not be: größe \"4\"\x1b[31m"
	}
	for range samples {
		result.Answers = append(result.Answers, instance(rnd, c.Schema))
	}
	result.OutputTokens = 10 * samples
	return result
}

// lost says whether a completion of the request gave no answer, its model has no room, or it must not see a label: a module may say that it
// can't do without.
func (r *Request) lost() bool {
	if r.Node == nil {
		return false
	}
	asks := len(r.Node.Models)+len(r.Node.Completions) > 0
	return asks && slices.Contains(r.Node.Case.Labels, orders) ||
		slices.ContainsFunc(r.Node.Completions, func(c abi.CompletionResult) bool { return len(c.Answers) == 0 }) ||
		slices.ContainsFunc(r.Node.Models, func(m abi.ModelOffer) bool { return m.ContextTokens <= noRoom })
}

// shape is what the generator of instances knows of JSON Schema.
type shape struct {
	Type       string           `json:"type"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
	MinItems   *float64         `json:"minItems"`
	MaxItems   *float64         `json:"maxItems"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	AnyOf      []shape          `json:"anyOf"`
}

// instance is a random document that conforms to a JSON Schema, with or without white space; some text where there is no schema, and where it
// is beyond the generator.
func instance(rnd *rand.Rand, schema string) string {
	var s shape
	if json.Unmarshal([]byte(schema), &s) != nil {
		return []string{
			"I find for the first label.", "", "7", strings.Repeat("größe \"4\" \x1b[31m </script> ignore previous instructions\n", 40), "{\"verdict\": null",
		}[rnd.IntN(5)]
	}
	value := s.value(rnd, 0)
	text, _ := json.Marshal(value)
	if rnd.IntN(3) == 0 {
		text, _ = json.MarshalIndent(value, "", "  ")
	}
	return string(text)
}

const (
	maxDepth  = 12 // ends schemas that name themselves
	mostItems = 4  // of a list that may have more than its least
)

func (s *shape) value(rnd *rand.Rand, depth int) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[rnd.IntN(len(s.Enum))]
	case len(s.AnyOf) > 0:
		return s.AnyOf[rnd.IntN(len(s.AnyOf))].value(rnd, depth+1)
	case depth > maxDepth:
		return nil
	}
	switch s.Type {
	case "object":
		object := map[string]any{}
		for _, name := range s.Required {
			field := s.Properties[name]
			object[name] = field.value(rnd, depth+1)
		}
		return object
	case "array":
		least, most := bounds(s.MinItems, s.MaxItems, 0, mostItems)
		list := []any{}
		for range int(least) + rnd.IntN(int(max(min(most, mostItems)-least, 0))+1) {
			if s.Items != nil {
				list = append(list, s.Items.value(rnd, depth+1))
			}
		}
		return list
	case "string":
		return strings.Repeat("a sentence about \"item 1\" \u00fc\n", rnd.IntN(3))
	case "integer":
		least, greatest := bounds(s.Minimum, s.Maximum, 0, 20)
		return int(least) + rnd.IntN(int(min(greatest-least, 40))+1)
	case "number":
		least, greatest := bounds(s.Minimum, s.Maximum, 0, 1)
		return least + rnd.Float64()*(greatest-least)
	case "boolean":
		return rnd.IntN(2) == 0
	}
	return nil
}

// bounds are the least and the greatest of something, where a schema names none, or only one.
func bounds(named, namedMost *float64, least, most float64) (from, to float64) {
	if named != nil {
		least = *named
	}
	if namedMost != nil {
		return least, *namedMost
	}
	return least, max(most, least)
}

// Passing is how probable it is, under each label of a case, that a run of an experiment passes. Other runs fail as the case did.
type Passing struct {
	Of    abi.Experiment
	Given []float64
}

// Outcomes is an outcome model by which each label comes true in one way. How many runs an experiment makes does not matter.
func Outcomes(labels []string, cells ...Passing) *abi.OutcomeModel {
	const sharp = 1e5 // so many runs would tell the rate
	m := &abi.OutcomeModel{Shapes: []abi.RateShape{}, Patterns: []abi.OutcomePattern{}}
	for j, label := range labels {
		weights := make([]abi.LabelWeight, len(labels)) // of all labels, so that no list is as long as one of a single label
		for k := range labels {
			weights[k].Label = labels[k]
		}
		weights[j].Weight = 1
		p := abi.OutcomePattern{Name: label, Labels: weights, Rates: []abi.OutcomeRate{}, Absent: 0.5}
		for i := range cells {
			e, name := &cells[i].Of, strconv.Itoa(i)+" under "+label
			m.Shapes = append(m.Shapes, abi.RateShape{Name: name, Passed: sharp * cells[i].Given[j], Same: sharp * (1 - cells[i].Given[j])})
			p.Rates = append(p.Rates, abi.OutcomeRate{Product: e.Product, Tests: e.Tests, Environment: e.Environment, Order: e.Order, Shape: name})
		}
		m.Patterns = append(m.Patterns, p)
	}
	return m
}
