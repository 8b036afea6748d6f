package registry

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// warmRounds is how often a module is warmed. More does not help.
const warmRounds = 2

// warmCalls take a module through what it serves, before its state is saved.
func warmCalls(m *abi.Manifest) []sandbox.Warm {
	var calls []sandbox.Warm
	samples := Samples(m)
	for range warmRounds {
		for _, s := range samples {
			calls = append(calls, sandbox.Warm{Call: s.Call, Request: s.Request})
		}
	}
	return calls
}

// Sample is a small request of a kind that a module serves.
type Sample struct {
	Name    string // what is asked, such as "node verdict"
	Call    abi.Call
	Request []byte
}

// Samples are valid requests, the same for every module, of each kind that a manifest promises.
func Samples(m *abi.Manifest) []Sample {
	var samples []Sample
	add := func(name string, call abi.Call, request []byte) {
		if slices.Contains(m.Calls, call) {
			samples = append(samples, Sample{Name: name, Call: call, Request: request})
		}
	}
	for _, family := range m.Families {
		for _, request := range NodeRequests(family) {
			name := "node " + string(family)
			if request.Turn != nil {
				name += ", " + string(request.Turn.Speaker)
			}
			add(name, abi.CallNode, codec.AppendNodeRequest(nil, request))
		}
	}
	add("contest", abi.CallContest, codec.AppendContestRequest(nil, &abi.ContestRequest{
		Persona: warmPersona, ChargedDefectType: "a", Labels: warmLabels,
		Items: []abi.ContestItem{{Item: warmItems[0], Exhibit: warmExhibits[0]}},
	}))
	if len(m.Edges) > 0 {
		questions := make([]abi.EdgeQuestion, len(m.Edges))
		for i, edge := range m.Edges {
			questions[i] = abi.EdgeQuestion{ID: edge, Evaluator: edge}
		}
		add("edges", abi.CallEdges, codec.AppendEdgeRequest(nil, EdgeRequest(questions...)))
	}
	if len(m.Criteria) > 0 {
		criteria := make([]abi.Criterion, len(m.Criteria))
		for i, id := range m.Criteria {
			criteria[i] = abi.Criterion{CriterionID: id, Description: "a line of some words"}
		}
		add("judge", abi.CallJudge, codec.AppendJudgeRequest(nil, &abi.JudgeRequest{
			Judge: "warm", Opinion: abi.JudicialOpinion{Text: "an opinion of some words", CaseID: "warm", CourtName: "warm"},
			Criteria: criteria, Evidence: warmEvidence,
		}))
	}
	return samples
}

//nolint:gochecknoglobals // constants that Go has no syntax for
var (
	warmPersona = abi.Persona{Name: "warm", Element: abi.Fire, Role: "none", Alignment: "none"}
	warmLabels  = []string{"a", "b"}
	warmLight   = &abi.LightAnswer{Classification: "a", Confidence: 0.7, Reasoning: "a line of some words"}
	warmItems   = []abi.IndictmentItem{
		{SourceRef: "one:L1", Content: "the first line of a log", Weight: 0.6, Supports: "a", Element: abi.Earth},
		{SourceRef: "two", Content: "the other line of a log", Weight: 0.7, Supports: "b", Element: abi.Water},
	}
	warmEvidence = []abi.Evidence{
		{SourceRef: "one:L1", Content: "the first line of a log", RelevanceConfidence: 0.7, Supports: "a", Element: abi.Earth},
		{SourceRef: "two", Content: "the other line of a log", RelevanceConfidence: 0.8, Supports: "b", Element: abi.Water},
	}
	warmExhibits = []abi.Exhibit{
		{Quote: abi.QuoteStands, Document: "one", RelevanceConfidence: 0.7},
		{EvidenceIndex: 1, Quote: abi.QuoteUnclaimed, RelevanceConfidence: 0.8},
	}
	warmDocuments = []abi.Document{{Name: "one", Text: "the first line of a log\nerror: b failed\nthe last line\n"}}
	warmHearing   = &abi.HearingRecord{MaxRounds: 3, Rounds: []abi.HearingRound{{
		Round: 1, ProsecutionArgument: "a", DefenseRebuttal: "b", JudgeNotes: "c",
		By: abi.RoundSpeakers{Prosecution: "p", Defense: "d", Bench: "b"},
	}}}
)

// warmLightNodes are the requests of the Light path: a first one, and one that came back from the court.
func warmLightNodes(request func() *abi.NodeRequest) []*abi.NodeRequest {
	first, again := request(), request()
	first.Case.Light = nil
	for _, r := range []*abi.NodeRequest{first, again} {
		r.Case.Documents = warmDocuments
		r.File = &abi.LightFile{
			Triage:  &abi.TriageResult{SymptomCategory: abi.SymptomUnknown, Severity: abi.GapLow},
			Resolve: &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "one", FocusPaths: []string{"one"}, Reason: "r"}}},
			Investigate: &abi.InvestigateArtifact{
				Summary: "s", Classification: "a", ConvergenceScore: 0.5, Evidence: warmEvidence[:1],
			},
			LoopsLeft: 1,
		}
	}
	again.File.Feedback = &abi.RemandFeedback{
		Challenged: []abi.ChallengedItem{{EvidenceIndex: 0, Why: "w"}},
		Questions:  []abi.Question{{ID: "q1", Question: "what else is known?"}},
	}
	return []*abi.NodeRequest{first, again}
}

// EdgeRequest is a small request with these questions.
func EdgeRequest(questions ...abi.EdgeQuestion) *abi.EdgeRequest {
	return &abi.EdgeRequest{
		Node: "warm", Family: abi.FamilyHearing, Questions: questions, Artifact: &abi.Artifact{Hearing: warmHearing},
	}
}

// NodeRequests are small requests of a family, in the shape in which a court makes them; they are the caller's.
func NodeRequests(family abi.Family) []*abi.NodeRequest {
	request := func() *abi.NodeRequest {
		return &abi.NodeRequest{
			Node: "warm", Family: family, Persona: warmPersona,
			Case: abi.CaseView{Subject: "warm", Labels: warmLabels, Light: warmLight, Evidence: warmEvidence},
		}
	}
	if family == abi.FamilyDiscover || family == abi.FamilyCollect {
		r := request()
		r.Case = abi.CaseView{Labels: warmLabels, Documents: warmDocuments}
		return []*abi.NodeRequest{r}
	}
	switch family { //nolint:exhaustive // the rest is the court's
	case abi.FamilyIndict:
		return []*abi.NodeRequest{request()}
	case abi.FamilyRecall, abi.FamilyTriage, abi.FamilyResolve, abi.FamilyInvestigate,
		abi.FamilyCorrelate, abi.FamilyReview, abi.FamilyReport:
		return warmLightNodes(request)
	}
	indicted := request()
	indicted.Indictment = &abi.Indictment{ChargedDefectType: "a", ProsecutionNarrative: "n", Evidence: warmItems, Confidence: 0.6}
	indicted.Exhibits = warmExhibits
	indicted.Discovery = &abi.Discovery{Findings: []abi.Finding{{Document: "one", Observation: "o", Quote: "error: b failed", Supports: "b", Strength: 0.5}}}
	indicted.Contested = []abi.Challenge{{EvidenceIndex: 0, Challenge: "c", Severity: abi.Minor, By: "d"}}
	if family == abi.FamilyDefend {
		return []*abi.NodeRequest{indicted}
	}
	indicted.DefenseBrief = &abi.DefenseBrief{
		Challenges:            indicted.Contested,
		AlternativeHypothesis: &abi.AlternativeHypothesis{Label: "b", Reasoning: "r", Support: []int{1}}, Confidence: 0.5,
	}
	indicted.Hearing = warmHearing
	if family != abi.FamilyHearing {
		return []*abi.NodeRequest{indicted}
	}
	var turns []*abi.NodeRequest
	for _, side := range []abi.Side{abi.Prosecution, abi.Defense, abi.Bench} {
		turn := *indicted
		turn.Turn = &abi.TurnRequest{Round: 2, MaxRounds: 3, Speaker: side, ProsecutionArgument: "a", DefenseRebuttal: "b"}
		turns = append(turns, &turn)
	}
	return turns
}
