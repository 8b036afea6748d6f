package roles

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var labels = []string{"a", "b", "c"}

type witness struct {
	supports   string
	confidence float64
}

// heard is a proceeding with a hearing, about the charge a.
func heard(witnesses ...witness) *abi.NodeRequest {
	r := &abi.NodeRequest{
		Family:       abi.FamilyVerdict,
		Case:         abi.CaseView{Labels: labels, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.6}},
		Indictment:   &abi.Indictment{ChargedDefectType: "a"},
		DefenseBrief: &abi.DefenseBrief{},
		Hearing:      &abi.HearingRecord{MaxRounds: 3, Converged: true, Rounds: []abi.HearingRound{{Round: 1}}},
	}
	for i, w := range witnesses {
		name := string(rune('p' + i))
		r.Indictment.Evidence = append(r.Indictment.Evidence, abi.IndictmentItem{SourceRef: name, Content: "the word of " + name, Supports: w.supports})
		r.Exhibits = append(r.Exhibits, abi.Exhibit{EvidenceIndex: i, Quote: abi.QuoteUnclaimed, RelevanceConfidence: w.confidence})
	}
	return r
}

// knownLight is a profile by which, where Light says a, the truth is mostly another label.
func knownLight(truth string) *abi.Profile {
	p := []float64{0.1, 0.1, 0.1}
	p[slices.Index(labels, truth)] = 0.8
	return knownLightAs(p...)
}

// knownLightAs is a profile by which these are the probabilities of the labels where Light says a.
func knownLightAs(p ...float64) *abi.Profile {
	var given []abi.LabelWeight
	for i, l := range labels {
		given = append(given, abi.LabelWeight{Label: l, Weight: p[i]})
	}
	return &abi.Profile{Light: &abi.SourceReliability{Source: "light", Share: 1, Cap: 9, Statements: []abi.SourceStatement{{Says: "a", Given: given}}}}
}

// rerun has the labels of the environment, and head run again: so many runs passed, and so many failed as the case did.
func rerun(environment string, passed, same int) func(*abi.NodeRequest) {
	return func(r *abi.NodeRequest) {
		result := abi.ExperimentResult{
			Experiment: abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5},
			Outcome:    abi.OutcomePassed, Passed: passed, Same: same,
		}
		if same > 0 {
			result.Outcome = abi.OutcomeSame
		}
		r.Case.Experiments = append(r.Case.Experiments, result)
		r.Params = []abi.Param{{Name: "environment_labels", Text: &environment}}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	fatal := []abi.Challenge{{EvidenceIndex: 0, Challenge: "is made up", Severity: abi.Fatal, By: "abyss"}}
	madeUp := func(r *abi.NodeRequest) { r.Exhibits[0].Quote = abi.QuoteAbsent }
	high := 0.99
	for _, tc := range []struct {
		name     string
		request  *abi.NodeRequest
		change   func(*abi.NodeRequest)
		decision abi.Decision
		final    string
	}{
		{"the charge stands", heard(witness{"a", 0.8}), nil, abi.Affirm, "a"},
		{"another label stands", heard(witness{"a", 0.6}, witness{"b", 0.9}, witness{"b", 0.8}), nil, abi.Amend, "b"},
		{"nothing decides", heard(witness{"b", 0.6}, witness{"c", 0.6}), nil, abi.Acquit, ""},
		{"two labels nearly even", heard(witness{"a", 0.75}, witness{"b", 0.89}), nil, abi.Acquit, ""},
		{"Light's word alone", heard(), nil, abi.Acquit, ""},
		{"Light's word alone, and how often it is right is known", heard(), func(r *abi.NodeRequest) { r.Profile = knownLight("a") }, abi.Affirm, "a"},
		{"Light is known to say this for another label", heard(), func(r *abi.NodeRequest) { r.Profile = knownLight("c") }, abi.Amend, "c"},
		{"a close race by measured figures", heard(), func(r *abi.NodeRequest) { r.Profile = knownLightAs(0.35, 0.4, 0.25) }, abi.Amend, "b"},
		{"next to even by measured figures", heard(), func(r *abi.NodeRequest) { r.Profile = knownLightAs(0.33, 0.34, 0.33) }, abi.Acquit, ""},
		{"a fatal challenge in the brief", heard(witness{"a", 0.9}), func(r *abi.NodeRequest) { madeUp(r); r.DefenseBrief.Challenges = fatal }, abi.Acquit, ""},
		{"a fatal challenge in the hearing", heard(witness{"b", 0.9}, witness{"a", 0.7}), func(r *abi.NodeRequest) { madeUp(r); r.Hearing.Rounds[0].NewChallenges = fatal }, abi.Affirm, "a"},
		{"a fatal challenge that shows nothing", heard(witness{"a", 0.9}), func(r *abi.NodeRequest) { r.DefenseBrief.Challenges = fatal }, abi.Affirm, "a"},
		{"an item that the prosecution leaves out", heard(witness{"a", 0.6}), func(r *abi.NodeRequest) {
			r.Case.Evidence = []abi.Evidence{{SourceRef: "z", Content: "the word of z", Supports: "b", RelevanceConfidence: 0.9}}
		}, abi.Amend, "b"},
		{"a finding of discovery against an item", heard(witness{"a", 0.5}), func(r *abi.NodeRequest) {
			r.Discovery = &abi.Discovery{Findings: []abi.Finding{{Document: "log", Quote: "it is b", Supports: "b", Strength: 0.9}}}
		}, abi.Affirm, "a"},
		{"a finding of discovery where nothing decides", heard(witness{"b", 0.7}, witness{"c", 0.7}), func(r *abi.NodeRequest) {
			r.Discovery = &abi.Discovery{Findings: []abi.Finding{{Document: "log", Quote: "it is b", Supports: "b", Strength: 0.9}}}
		}, abi.Amend, "b"},
		{"signals in the documents", heard(witness{"a", 0.5}), func(r *abi.NodeRequest) {
			r.Profile = &abi.Profile{SignalCap: 9, Signals: []abi.Signal{{Phrase: "it is b", Weights: []abi.LabelWeight{{Label: "b", Weight: 3}}}}}
			r.Case.Signals = []int{0}
		}, abi.Amend, "b"},
		{"an item of the hearing", heard(witness{"c", 0.7}), func(r *abi.NodeRequest) {
			r.Hearing.Rounds[0].NewItems = []abi.IndictmentItem{{SourceRef: "log", Content: "it is c", Supports: "c", Weight: 1}}
		}, abi.Amend, "c"},
		{"a higher bound by parameter", heard(witness{"a", 0.8}), func(r *abi.NodeRequest) { r.Params = []abi.Param{{Name: "min_confidence", Number: &high}} }, abi.Acquit, ""},
		{"a plea is accepted", heard(witness{"a", 0.8}), func(r *abi.NodeRequest) { r.DefenseBrief.PleaDeal, r.Hearing = true, nil }, abi.Affirm, "a"},
		{"a plea is rejected", heard(witness{"b", 0.9}), func(r *abi.NodeRequest) { r.DefenseBrief.PleaDeal, r.Hearing = true, nil }, abi.Amend, "b"},
		{"no hearing though the defense fights", heard(witness{"a", 0.8}), func(r *abi.NodeRequest) { r.Hearing = nil }, abi.Mistrial, ""},
		{"no brief", heard(witness{"a", 0.8}), func(r *abi.NodeRequest) { r.DefenseBrief = nil }, abi.Mistrial, ""},
		{"a label of the environment, and the failure comes back", heard(witness{"a", 0.9}), rerun("a", 0, 5), abi.Affirm, "a"},
		{"a label of the environment, and the failure is gone", heard(witness{"a", 0.9}), rerun("a", 5, 0), abi.Acquit, ""},
		{"a label of the environment, and many reruns pass", heard(witness{"a", 0.9}), rerun("a", 20, 0), abi.Acquit, ""},
		{"one of several labels of the environment", heard(witness{"b", 0.9}), rerun("c, b,", 5, 0), abi.Acquit, ""},
		{"another label, and the failure is gone", heard(witness{"a", 0.9}), rerun("b", 5, 0), abi.Affirm, "a"},
		{"no labels of the environment", heard(witness{"a", 0.9}), rerun("", 5, 0), abi.Affirm, "a"},
		{"a label of the environment by a plea", heard(witness{"a", 0.8}), func(r *abi.NodeRequest) {
			rerun("a", 5, 0)(r)
			r.DefenseBrief.PleaDeal, r.Hearing = true, nil
		}, abi.Acquit, ""},
		{"clear, with remands left", heard(witness{"a", 0.9}), func(r *abi.NodeRequest) { r.RemandsLeft = 2 }, abi.Affirm, "a"},
		{"close, with remands left", heard(witness{"a", 0.7}, witness{"b", 0.85}), func(r *abi.NodeRequest) { r.RemandsLeft = 1 }, abi.Remand, ""},
		{"undermined, with remands left", heard(witness{"a", 0.9}), func(r *abi.NodeRequest) {
			madeUp(r)
			r.RemandsLeft, r.DefenseBrief.Challenges = 1, fatal
		}, abi.Remand, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if tc.change != nil {
				tc.change(tc.request)
			}
			v := judge(tc.request)
			if v.Decision != tc.decision || v.FinalClassification != tc.final {
				t.Errorf("%s %q at %v: %s", v.Decision, v.FinalClassification, v.Confidence, v.Reasoning)
			}
			var c abi.Collector
			v.Rules(&c)
			abi.CheckVerdict(v, tc.request.Indictment, labels, &c)
			must.Do(t, c.Err())
			if v.Reasoning == "" || v.Confidence < 0 || v.Confidence > 1 {
				t.Errorf("confidence %v, reasoning %q", v.Confidence, v.Reasoning)
			}
		})
	}
}

func TestReasoningCitesItemsAndWhoChallengedThem(t *testing.T) {
	t.Parallel()
	r := heard(witness{"a", 0.9}, witness{"b", 0.6})
	r.Indictment.Evidence[0].Content = "just so"
	r.DefenseBrief.Challenges = []abi.Challenge{
		{EvidenceIndex: 0, Challenge: "is vague", Severity: abi.Fatal, By: "bulwark"}, {EvidenceIndex: 1, Challenge: "no", Severity: abi.Fatal, By: "abyss"},
	}
	v := judge(r)
	for _, want := range []string{"[0] p", "[1] q", "weakening by bulwark: is vague", "1 challenge shows nothing that can be checked", "Probabilities: a"} {
		check.Contains(t, v.Reasoning, want, "the reasoning doesn't say")
	}
}

func TestRemandAsksWhatLightCanAnswer(t *testing.T) {
	t.Parallel()
	r := heard(witness{"a", 0.9}, witness{"b", 0.34})
	r.Exhibits[0].Quote = abi.QuoteAbsent // as the challenge says
	r.RemandsLeft = 1
	r.DefenseBrief.Challenges = []abi.Challenge{{EvidenceIndex: 0, Challenge: "claims to quote a log", Severity: abi.Fatal, By: "abyss"}}
	r.DefenseBrief.AlternativeHypothesis = &abi.AlternativeHypothesis{Label: "b", Support: []int{1}}
	f := judge(r).RemandFeedback
	if f == nil || len(f.Challenged) != 1 || f.Challenged[0].EvidenceIndex != 0 || f.AlternativeHypothesis == nil || len(f.Questions) == 0 {
		t.Fatalf("feedback %+v", f)
	}
	if q := f.Questions[0]; q.ID != "q1" || !strings.Contains(q.Question, "[0] p") {
		t.Errorf("question %+v", q)
	}
	r.RemandsLeft = 0
	if v := judge(r); v.Decision == abi.Remand {
		t.Error("remanded with none left")
	}
}

// knownRerun is a profile by which a rerun passes where c is true.
func knownRerun() (*abi.Profile, abi.Experiment) {
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	return &abi.Profile{Outcomes: abitest.Outcomes(labels, abitest.Passing{Of: e, Given: []float64{0.01, 0.01, 0.98}})}, e
}

func TestTheJudgeOrdersExperimentsWhileUnsettled(t *testing.T) {
	t.Parallel()
	offer := func(r *abi.NodeRequest) *abi.NodeRequest {
		profile, e := knownRerun()
		r.Profile, r.Offers = profile, []abi.ExperimentOffer{{Experiment: e, Seconds: 3}}
		return r
	}
	high := 0.999
	settled := offer(heard(witness{"a", 0.99}, witness{"a", 0.99}))
	wrong := offer(heard())
	wrong.Params = []abi.Param{{Name: "settle", Number: &high}}
	for _, tc := range []struct {
		name    string
		request *abi.NodeRequest
		asks    bool
	}{
		{"unsettled", offer(heard(witness{"a", 0.6})), true},
		{"settled", settled, false},
		{"a parameter that is not known", wrong, false},
		{"no offers", heard(witness{"a", 0.6}), false},
	} {
		if e := ChooseVerdict(tc.request); (e != nil) != tc.asks {
			t.Errorf("%s: asks for %v", tc.name, e)
		}
	}
}

// What an experiment has shown decides like any evidence, and the reasons say what it counts.
func TestTheVerdictRestsOnExperiments(t *testing.T) {
	t.Parallel()
	r := heard(witness{"a", 0.6})
	profile, e := knownRerun()
	r.Profile = profile
	r.Case.Experiments = []abi.ExperimentResult{{Experiment: e, Outcome: abi.OutcomePassed, Passed: 5}}
	v := judge(r)
	if v.Decision != abi.Amend || v.FinalClassification != "c" || v.Confidence < 0.9 {
		t.Errorf("%s %q at %v", v.Decision, v.FinalClassification, v.Confidence)
	}
	check.Contains(t, v.Reasoning, "this tree, 5 times: 5 passed (22.91 nats for c against a)", "the reasoning doesn't say")
}

// A language model that nobody measured undoes no decision, and has nothing remanded; what is open it may tip.
func TestAnUnmeasuredModelUndoesNoDecision(t *testing.T) {
	t.Parallel()
	quoted := func(r *abi.NodeRequest, label string) *abi.NodeRequest {
		r.Discovery = &abi.Discovery{Findings: []abi.Finding{
			{Document: "log", Quote: "a line that the model chose", Supports: label, Strength: 1, Source: "model:reader"},
			{Document: "log", Quote: r.Indictment.Evidence[0].Content, Supports: label, Strength: 1, Source: "model:reader"},
		}}
		return r
	}
	for _, label := range labels {
		r := quoted(heard(witness{"a", 0.75}, witness{"b", 0.5}), label)
		r.RemandsLeft = 1
		if v := judge(r); v.Decision != abi.Affirm || v.FinalClassification != "a" {
			t.Errorf("a model for %s: %s %s: %s", label, v.Decision, v.FinalClassification, v.Reasoning)
		}
	}
	surer, less := judge(quoted(heard(witness{"a", 0.75}, witness{"b", 0.5}), "a")), judge(quoted(heard(witness{"a", 0.75}, witness{"b", 0.5}), "b"))
	if surer.Confidence <= less.Confidence {
		t.Errorf("the confidence is %v with a model for the label, and %v with one against it", surer.Confidence, less.Confidence)
	}
	if v := judge(heard(witness{"b", 0.75}, witness{"c", 0.75})); v.Decision != abi.Acquit {
		t.Fatalf("%s without a model", v.Decision)
	}
	if v := judge(quoted(heard(witness{"b", 0.75}, witness{"c", 0.75}), "b")); v.Decision != abi.Amend || v.FinalClassification != "b" {
		t.Errorf("an open case: %s %s: %s", v.Decision, v.FinalClassification, v.Reasoning)
	}
}
