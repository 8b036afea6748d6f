// Package alibi asks of a failing test: did this change do it? [Light] answers with the plain rule, a few runs of head and a few of the
// base, and is as sure as the outcome model of the profile makes it; a host with the pipeline alibi tries what it is not sure of. [Of] reads
// the trial as an answer.
package alibi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// The labels of the pipeline.
const (
	Caused      = "caused"
	Preexisting = "preexisting"
	Flaky       = "flaky"
	Environment = "environment"
	Conflict    = "conflict"
)

// Labels are the labels of every case.
func Labels() []string { return []string{Caused, Preexisting, Flaky, Environment, Conflict} }

// Yours says whether the author of the change has to act.
func Yours(label string) bool { return label == Caused || label == Conflict }

// MaxFalse is the default of the most that it may be probable that the change did it where an alibi is given.
const MaxFalse = 0.01

// unsure is the confidence of an answer that may not stand without a trial, whatever its probability: too little for any court to accept, and
// enough for none to reject.
const unsure = 0.5

// Light runs the first steps of head, of the base and of the target, and answers with the most probable label. Safe for concurrent use.
type Light struct {
	experiments host.Experiments
	profile     *abi.Profile
	maxFalse    float64

	mu   sync.Mutex
	made map[string][]abi.ExperimentResult
}

// NewLight makes a Light by a profile with an outcome model. It gives an alibi for certain only where the change is at most as probable as
// maxFalse; zero means [MaxFalse].
func NewLight(experiments host.Experiments, profile *abi.Profile, maxFalse float64) (*Light, error) {
	if profile == nil || profile.Outcomes == nil {
		return nil, errors.New("the profile has no outcome model")
	}
	if maxFalse <= 0 {
		maxFalse = MaxFalse
	}
	return &Light{experiments: experiments, profile: profile, maxFalse: maxFalse, made: map[string][]abi.ExperimentResult{}}, nil
}

// Made are the results of what Light ran for a case.
func (l *Light) Made(id string) []abi.ExperimentResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.made[id])
}

// Answer runs the next step of head, of the base and, where there is one, of the target. After a remand these are longer ones.
func (l *Light) Answer(ctx context.Context, req host.LightRequest) (host.LightResponse, error) {
	offers, err := l.experiments.Offers(ctx, req.Case)
	if err != nil {
		return host.LightResponse{}, err
	}
	made := l.Made(req.Case.ID)
	var fresh []abi.ExperimentResult
	for _, tree := range []abi.TreeRevision{abi.Head, abi.Base, abi.Target} {
		e := next(offers, made, abi.Experiment{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: abi.Alone})
		if e == nil {
			continue
		}
		r, err := l.experiments.Run(ctx, req.Case, *e)
		if err != nil {
			return host.LightResponse{}, err
		}
		made, fresh = append(made, r), append(fresh, r)
	}
	l.mu.Lock()
	l.made[req.Case.ID] = made
	l.mu.Unlock()
	response := host.LightResponse{Answer: l.answer(req.Case.Labels, made), Evidence: said(fresh)}
	if req.Feedback != nil {
		response.Remand = remand(req.Feedback, response.Evidence)
		response.Evidence = nil
	}
	return response, nil
}

// next is the least number of runs that is on offer for an experiment and was not made; nil for none.
func next(offers []abi.ExperimentOffer, made []abi.ExperimentResult, of abi.Experiment) *abi.Experiment {
	var best *abi.Experiment
	for i := range offers {
		e := &offers[i].Experiment
		of.Runs = e.Runs
		if *e == of && (best == nil || e.Runs < best.Runs) && !slices.ContainsFunc(made, func(r abi.ExperimentResult) bool { return r.Experiment == *e }) {
			best = e
		}
	}
	return best
}

// probabilities of the labels by runs.
func (l *Light) probabilities(labels []string, made []abi.ExperimentResult) []float64 {
	nats := make([]float64, len(labels))
	odds.AddBaseRates(nats, labels, l.profile)
	odds.AddExperiments(nats, labels, l.profile, made)
	return odds.Probabilities(nats, 0)
}

func (l *Light) answer(labels []string, made []abi.ExperimentResult) abi.LightAnswer {
	p := l.probabilities(labels, made)
	at := slices.Index(p, slices.Max(p))
	answer := abi.LightAnswer{Classification: labels[at], Confidence: p[at], Reasoning: words(made)}
	if !odds.Based(made) || !Yours(labels[at]) && yoursOf(labels, p) > l.maxFalse {
		answer.Confidence = min(answer.Confidence, unsure)
	}
	return answer
}

// words say what was run, and what came of it.
func words(made []abi.ExperimentResult) string {
	if len(made) == 0 {
		return "Nothing could be run."
	}
	parts := make([]string, len(made))
	for i := range made {
		parts[i] = made[i].Experiment.Words() + ": " + made[i].Words()
	}
	return strings.Join(parts, "; ") + "."
}

// said are runs as evidence that names no label: only the outcome model says what they tell.
func said(made []abi.ExperimentResult) []abi.Evidence {
	var list []abi.Evidence
	for i := range made {
		list = append(list, abi.Evidence{
			SourceRef: "runs:" + made[i].Experiment.String(), Content: made[i].Experiment.Words() + ": " + made[i].Words(), RelevanceConfidence: 1, Element: abi.Air,
		})
	}
	return list
}

// remand answers all questions with the runs that were made since.
func remand(f *abi.RemandFeedback, evidence []abi.Evidence) *abi.RemandAnswer {
	answer := &abi.RemandAnswer{Answers: []abi.RemandReply{}, Challenged: []abi.ChallengedReply{}}
	for i := range f.Questions {
		reply := abi.RemandReply{QuestionID: f.Questions[i].ID, Status: abi.NotFound, Evidence: []abi.Evidence{}}
		if i == 0 && len(evidence) > 0 {
			reply.Status, reply.Evidence = abi.Found, evidence
		}
		answer.Answers = append(answer.Answers, reply)
	}
	for i := range f.Challenged {
		answer.Challenged = append(answer.Challenged, abi.ChallengedReply{EvidenceIndex: f.Challenged[i].EvidenceIndex, Status: abi.ItemStands})
	}
	return answer
}

// Ending says how the search for the commit ended that a test began to fail with.
type Ending string

// The endings.
const (
	// Found: a commit is as probable as the search asks. [Culprit.Verified] says whether it was confirmed.
	Found Ending = "found"
	// Passes: the test does not fail at the last commit.
	Passes Ending = "passes"
	// NotRun: the test can't be run at the last commit.
	NotRun Ending = "not run"
	// Before: the test fails as often before the first commit.
	Before Ending = "before"
	// Undecided: the runs don't tell, and more would not, or there was no time for more.
	Undecided Ending = "undecided"
)

// Beginning is what a search showed for the commit that a test began to fail with.
type Beginning struct {
	ID    string `json:"id"` // of the test, as in reports
	Group string `json:"group,omitempty"`
	Test  string `json:"test"`
	// Since is the commit before the first that was searched, and Until the last one; empty for changes that are not committed.
	Since   string `json:"since"`
	Until   string `json:"until,omitempty"`
	Commits int    `json:"commits"`
	Ending  Ending `json:"ending"`
	Why     string `json:"why,omitempty"` // the test can't be run, or nothing is decided
	// Before and After are all runs of Since and Until.
	Before Tally `json:"before"`
	After  Tally `json:"after"`
	// Culprit is the commit that the test began to fail with, or most probably did. Nil where there is none.
	Culprit *Culprit `json:"culprit,omitempty"`
	Message string   `json:"message,omitempty"` // what the failure says of itself
	Runs    int      `json:"runs"`              // all that told something
	Seconds float64  `json:"seconds"`
}

// Confirmed says whether one commit was found, and shown by running it and its parent again.
func (b *Beginning) Confirmed() bool {
	return b.Ending == Found && b.Culprit != nil && b.Culprit.Verified && len(b.Culprit.Beside) == 0
}

// Repeated tells failures of one test from each other, as a report has them of a test that was run several times. The zero value is ready. Not
// safe for concurrent use.
type Repeated struct {
	// Count is how many entries were repetitions.
	Count int

	seen map[testOf]bool
}

// testOf is a test. Without the file of a test, tests of two reports are two.
type testOf struct{ group, name, file string }

// Has says whether an entry is about a test that an earlier one is about.
func (r *Repeated) Has(e *docket.Entry) bool {
	key := testOf{group: e.Case.Group}
	if tests := gotest.TestsOf(&e.Case); len(tests) == 1 {
		key.name = tests[0].Name
	} else if key.name = gotest.UnbuiltOf(&e.Case); key.name == "" {
		t, named := junit.Named(&e.Case)
		if !named {
			return false
		}
		if key.name, key.file = t.Name, "file "+t.File; t.File == "" {
			key.file = "report " + e.Source
		}
	}
	if r.seen[key] {
		r.Count++
		return true
	}
	if r.seen == nil {
		r.seen = map[testOf]bool{}
	}
	r.seen[key] = true
	return false
}
