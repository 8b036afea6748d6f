// Package sample holds trials for the tests of writers and reports: one of each ending, and one whose every text attacks
// whoever looks at it.
package sample

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Labels of the cases.
const (
	Product    = "pb001"
	Automation = "ab001"
	System     = "si001"
	Flaky      = "nd001"
)

// Docket gives one trial of each ending.
func Docket() []*trial.Trial {
	return []*trial.Trial{Accepted(), Amended(), Affirmed(), Acquitted(), Mistrial(), Rejected()}
}

func personas() map[string]abi.Persona {
	return map[string]abi.Persona{
		"challenger": {Name: "Challenger", Colour: "Scarlet", Element: abi.Fire, Role: "prosecution", Alignment: "accuser"},
		"abyss":      {Name: "Abyss", Colour: "Sapphire", Element: abi.Water, Role: "defense", Alignment: "defender"},
		"bulwark":    {Name: "Bulwark", Colour: "Iron", Element: abi.Diamond, Role: "bench", Alignment: "bench"},
		"specter":    {Name: "Specter", Colour: "Obsidian", Element: abi.Lightning, Role: "judge", Alignment: "arbiter"},
	}
}

func modules() map[string]string {
	return map[string]string{
		"abyss":      "sha256:2222222222222222222222222222222222222222222222222222222222222222",
		"challenger": "sha256:1111111111111111111111111111111111111111111111111111111111111111",
	}
}

func theCase(id, subject string, light abi.LightAnswer) abi.Case {
	return abi.Case{
		ID: id, Subject: subject, Labels: []string{Product, Automation, System, Flaky}, Light: &light,
		Evidence: []abi.Evidence{}, Documents: []abi.Document{},
	}
}

func bare(id, subject string, light abi.LightAnswer, status trial.Status) *trial.Trial {
	return &trial.Trial{
		Case:       theCase(id, subject, light),
		LabelNames: map[string]string{Product: "product bug", Automation: "automation bug", System: "system issue"},
		Result: trial.Result{
			ID: id, Light: &trial.Answer{Classification: light.Classification, Confidence: light.Confidence},
			Final: trial.Final{Status: status, Confidence: light.Confidence},
		},
	}
}

// Accepted is a case that Light was sure of.
func Accepted() *trial.Trial {
	t := bare("store/TestOpen", "TestOpen: permission denied", abi.LightAnswer{Classification: System, Confidence: 0.93, Reasoning: "EACCES in the log."}, trial.Accepted)
	t.Result.Final.Classification = System
	t.Case.Evidence = []abi.Evidence{
		{SourceRef: "log:L9", Content: "--- FAIL: TestOpen", RelevanceConfidence: 0.4},
		{SourceRef: "log:L3", Content: "open store.db: permission denied", RelevanceConfidence: 0.7, Supports: System},
	}
	return t
}

// Rejected is a case that Light could say nothing of.
func Rejected() *trial.Trial {
	t := bare("misc/TestOdd", "TestOdd: exit status 2",
		abi.LightAnswer{Classification: Flaky, Confidence: 0.31, Reasoning: "Nothing in the log is known."}, trial.Rejected)
	t.Result.GapBrief = &trial.GapBrief{
		CaseID: t.Result.ID, Cause: "rejected", FinalConfidence: 0.31, Summary: "Light says nd001 at only 0.31, and a trial needs 0.5.",
		Gaps: []trial.Gap{{
			Description: "a rerun would show nd001", Source: Flaky, Severity: abi.GapHigh, SuggestedAction: "run the test again",
			CourtPhase: abi.FamilyVerdict,
		}},
	}
	return t
}

// Affirmed is a plea deal.
func Affirmed() *trial.Trial {
	light := abi.LightAnswer{Classification: Product, Confidence: 0.81, Reasoning: "A nil dereference in the package under test."}
	t := bare("parser/TestDeep", "TestDeep: panic: nil dereference", light, trial.Affirmed)
	t.Truth = &trial.Truth{Classification: Product}
	t.Personas = personas()
	r := &t.Result
	r.Activated, r.Path, r.Handoffs, r.Modules = true, []string{"indict", "HD1:defend", "HD2:verdict", "HD6:_done"}, 2, modules()
	r.Final.Classification, r.Final.Confidence = Product, 0.95
	verdict := &abi.Verdict{Decision: abi.Affirm, FinalClassification: Product, Confidence: 0.95, Reasoning: "The charge stands: nobody contradicts it."}
	r.Verdict = trial.NewRuling(verdict)
	t.Passes = []trial.Pass{{
		Light: light,
		Indictment: &abi.Indictment{
			ChargedDefectType: Product, Confidence: 0.96, ProsecutionNarrative: "The panic is in the package's own code.",
			Evidence: []abi.IndictmentItem{{SourceRef: "log:L3", Content: "panic: runtime error: invalid memory address or nil pointer dereference", Weight: 0.97, Supports: Product}},
		},
		Brief:   &abi.DefenseBrief{PleaDeal: true, Confidence: 0.04},
		Verdict: verdict,
	}}
	return t
}

// Amended is a whole trial: discovery, contest, an alternative, a hearing of two rounds, and another label than Light's.
func Amended() *trial.Trial {
	light := abi.LightAnswer{Classification: Product, Confidence: 0.73, Reasoning: "The assertion compares a value that the package computes."}
	t := bare("client/TestRetry", "TestRetry: want 3 attempts, got 4", light, trial.Amended)
	t.Truth = &trial.Truth{Classification: Automation, ExpectedVerdict: abi.Amend}
	t.Personas = personas()
	r := &t.Result
	r.Activated, r.Rounds, r.Handoffs, r.Modules = true, 2, 9, modules()
	r.Path = []string{"indict", "discover", "defend", "HD4:hearing", "HD5:verdict", "HD7:_done"}
	r.Final.Classification, r.Final.Confidence = Automation, 0.84
	pass := amendedPass(light)
	r.Verdict = trial.NewRuling(pass.Verdict)
	t.Passes = []trial.Pass{pass}
	r.Completions = []trial.Completion{
		{Node: "discover", Persona: "bulwark", Model: "reader", Outcome: abi.CompletionPartial, Answers: 2, Detail: "1 of 3 samples have no answer: the answer is empty", InputTokens: 3120, OutputTokens: 244, Cost: 0.00164},
		{Node: "verdict", Persona: "specter", Model: "judge", Outcome: abi.CompletionNotAsked, Detail: "the budget of the trial is used up"},
		{Node: "defend", Persona: "abyss", Model: "reader", Outcome: abi.CompletionAnswered, Answers: 1},
	}
	r.Fallbacks = []trial.Fallback{{
		Node: "verdict", Persona: "specter", Module: "magistrate", Fallback: "specter", Cause: trial.CauseFailure,
		Message: "model_not_asked: the model judge: the budget of the trial is used up",
	}}
	return t
}

func amendedPass(light abi.LightAnswer) trial.Pass {
	contested := []abi.Challenge{{EvidenceIndex: 0, Challenge: "The item repeats what the assertion says; it is no second witness.", Severity: abi.Weakening, By: "Abyss"}}
	return trial.Pass{
		Light: light,
		Indictment: &abi.Indictment{
			ChargedDefectType: Product, Confidence: 0.61,
			ProsecutionNarrative: "Two items speak for a defect of the product: the assertion, and the rule that reads it. One speaks for the test.",
			Evidence: []abi.IndictmentItem{
				{SourceRef: "log:L12", Content: "    retry_test.go:41: want 3 attempts, got 4", Weight: 0.62, Supports: Product, Element: abi.Earth},
				{SourceRef: "rule:assertion", Content: "The failed line is an assertion on a value of the package under test.", Weight: 0.4, Supports: Product, Element: abi.Fire},
				{SourceRef: "log:L9", Content: "    retry_test.go:22: clock stepped back 1.2s during the test", Weight: 0.71, Supports: Automation, Element: abi.Water},
				{SourceRef: "history", Content: "The test failed in 2 of the last 40 runs.", Weight: 0.2},
			},
		},
		Exhibits: []abi.Exhibit{
			{EvidenceIndex: 0, Quote: abi.QuoteStands, Document: "log", RelevanceConfidence: 0.8},
			{EvidenceIndex: 1, Quote: abi.QuoteUnclaimed, RelevanceConfidence: 0.6},
			{EvidenceIndex: 2, Quote: abi.QuoteStands, Document: "log", RelevanceConfidence: 0.5},
			{EvidenceIndex: 3, Quote: abi.QuoteAbsent, Document: "history", RelevanceConfidence: 0.4},
		},
		Discovery: &abi.Discovery{
			Findings: []abi.Finding{{Document: "log", Observation: "The test's own clock moved while it counted attempts.", Quote: "clock stepped back 1.2s during the test", Supports: Automation, Strength: 0.78}},
			Missing:  []string{"the code of the retry loop"},
		},
		Contested: contested,
		Brief: &abi.DefenseBrief{
			Challenges: []abi.Challenge{contested[0], {EvidenceIndex: 1, Challenge: "The rule fires on every assertion, whatever made it fail.", Severity: abi.Fatal, By: "Abyss"}},
			AlternativeHypothesis: &abi.AlternativeHypothesis{
				Label: Automation, Reasoning: "The fourth attempt came because the test's clock stepped back, which the log says itself.", Support: []int{2},
			},
			Confidence: 0.72,
		},
		Hearing: &abi.HearingRecord{
			MaxRounds: 3, Converged: true,
			Rounds: []abi.HearingRound{
				{
					Round: 1, By: abi.RoundSpeakers{Prosecution: "Challenger", Defense: "Abyss", Bench: "Bulwark"},
					ProsecutionArgument: "The package asked for the time; it must survive a clock that moves.",
					DefenseRebuttal:     "The test replaces the clock and promises that it is monotonic.",
					JudgeNotes:          "The log shows the step. Nothing shows the package reading another clock.",
					NewChallenges:       []abi.Challenge{{EvidenceIndex: 3, Challenge: "The history is not among the documents.", Severity: abi.Minor, By: "Bulwark"}},
				},
				{
					Round: 2, By: abi.RoundSpeakers{Prosecution: "Challenger", Defense: "Abyss", Bench: "Bulwark"},
					ProsecutionArgument: "I have nothing to add.", DefenseRebuttal: "Nor have I.", JudgeNotes: "Nothing new.",
				},
			},
		},
		Verdict: &abi.Verdict{Decision: abi.Amend, FinalClassification: Automation, Confidence: 0.84, Reasoning: "With the rule struck, the quoted clock step outweighs the assertion."},
		Steps: []trial.Step{
			{Node: "indict", To: "discover"},
			{Node: "discover", To: "defend"},
			{Node: "defend", Edge: "HD4", To: "hearing", Why: "the brief holds an alternative hypothesis"},
			{Node: "hearing", Edge: "HD5", To: "verdict", Why: "the hearing converged"},
			{Node: "verdict", Edge: "HD7", To: "_done", Why: "the verdict amends"},
		},
		Calls: []trial.Call{{Node: "indict", Persona: "challenger", Module: "sha256:1111", Call: abi.CallNode, Micros: 310}},
	}
}

// Acquitted names no label and says what is missing.
func Acquitted() *trial.Trial {
	light := abi.LightAnswer{Classification: Flaky, Confidence: 0.55, Reasoning: "It passed when it ran again."}
	t := bare("queue/TestDrain", "TestDrain: timed out after 2s", light, trial.Acquitted)
	t.Truth = &trial.Truth{Classification: System}
	t.Personas = personas()
	r := &t.Result
	r.Activated, r.Rounds, r.Handoffs, r.Modules = true, 3, 12, modules()
	r.Path = []string{"indict", "discover", "defend", "HD3:hearing", "HD5:verdict", "HD9:_gap_brief"}
	r.Final.Confidence = 0.38
	verdict := &abi.Verdict{Decision: abi.Acquit, Confidence: 0.38, Reasoning: "A timeout alone fits three labels."}
	r.Verdict = trial.NewRuling(verdict)
	r.GapBrief = &trial.GapBrief{
		CaseID: "queue/TestDrain", Cause: "acquitted", FinalConfidence: 0.38, Summary: "Nothing tells a slow machine from a lost wake-up.",
		Gaps: []trial.Gap{{Description: "the goroutine dump at the timeout", Source: "log", Severity: abi.GapHigh, SuggestedAction: "run the test with -timeout and keep the dump", CourtPhase: abi.FamilyDiscover}},
	}
	t.Passes = []trial.Pass{{
		Light: light,
		Indictment: &abi.Indictment{
			ChargedDefectType: Flaky, Confidence: 0.44, ProsecutionNarrative: "It passed when it ran again.",
			Evidence: []abi.IndictmentItem{{SourceRef: "rerun", Content: "passed on the second run", Weight: 0.3, Supports: Flaky}},
		},
		Brief:   &abi.DefenseBrief{MotionToDismiss: true, Confidence: 0.6},
		Verdict: verdict,
	}}
	return t
}

// Mistrial is one whose defense gave an invalid artifact.
func Mistrial() *trial.Trial {
	light := abi.LightAnswer{Classification: Automation, Confidence: 0.66, Reasoning: "The failure is in a helper of the test."}
	t := bare("fs/TestWatch", "TestWatch: too many open files", light, trial.Mistrial)
	t.Truth = &trial.Truth{Classification: System}
	t.Personas = personas()
	r := &t.Result
	r.Activated, r.Path, r.Handoffs, r.Modules = true, []string{"indict", "discover", "defend"}, 2, modules()
	r.Final.Cause = trial.CauseInvalidArtifact
	r.Error = &trial.Failure{
		Code: "invalid_artifact", Message: "the brief was rejected", Node: "defend", Persona: "Abyss", Module: modules()["abyss"],
		Problems: []trial.Problem{{Path: "challenges[0].evidence_index", Code: abi.CodeEvidenceIndex, Detail: "7 is no item that may be challenged here"}},
	}
	r.GapBrief = &trial.GapBrief{
		CaseID: "fs/TestWatch", Cause: "invalid_artifact", FinalConfidence: 0.66, Summary: "The trial broke off before a verdict.",
		Gaps: []trial.Gap{{Description: "a defense brief that is valid", Severity: abi.GapHigh, SuggestedAction: "mend the module abyss", CourtPhase: abi.FamilyDefend}},
	}
	t.Passes = []trial.Pass{{
		Light: light,
		Indictment: &abi.Indictment{
			ChargedDefectType: Automation, Confidence: 0.58, ProsecutionNarrative: "The helper leaks.",
			Evidence: []abi.IndictmentItem{{SourceRef: "log:L2", Content: "accept: too many open files", Weight: 0.5}},
		},
	}}
	return t
}
