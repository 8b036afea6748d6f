package abitest

import (
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// node makes a request for a node, with what §4.1 shows at one of that family.
func (s *source) node(family abi.Family, view *abi.CaseView) *abi.NodeRequest {
	r := &abi.NodeRequest{Node: string(family), Family: family, Profile: s.profile(view.Labels)}
	if s.chance(3) {
		r.Node = "node-7"
	}
	if isLight(family) {
		s.light(r, view)
		return r
	}
	r.Case = abi.CaseView{Subject: view.Subject, Labels: view.Labels, Light: view.Light, Evidence: view.Evidence}
	switch family { //nolint:exhaustive // the rest has what the verdict has
	case abi.FamilyIndict:
		r.Persona = s.persona("challenger", abi.Fire, "prosecution", "accuser")
		return r
	case abi.FamilyDiscover:
		r.Persona = s.persona("bulwark", abi.Diamond, "bench", "bench")
		r.Case = abi.CaseView{Labels: view.Labels, Documents: view.Documents}
		return r
	}
	if family == abi.FamilyCollect {
		r.Persona = s.persona("tracer", abi.Diamond, "bench", "neutral")
		opinion := abi.Document{Name: "opinion", Text: s.text(s.count(20) + 1)}
		r.Case = abi.CaseView{Labels: view.Labels, Documents: append([]abi.Document{opinion}, view.Documents...)}
		r.Profile = nil
		return r
	}
	s.indict(r)
	r.Persona = s.persona("abyss", abi.Water, "defense", "defender")
	if family == abi.FamilyDefend {
		return r
	}
	r.DefenseBrief = s.brief(r)
	if family == abi.FamilyHearing {
		s.turn(r)
		return r
	}
	r.Persona = s.persona("specter", abi.Lightning, "judge", "arbiter")
	r.RemandsLeft = s.rnd.IntN(3)
	if !r.DefenseBrief.PleaDeal {
		r.Hearing = s.hearing(r, 1+s.rnd.IntN(3))
	}
	return r
}

// indict puts an indictment on some of the items into a request, and what comes with one.
func (s *source) indict(r *abi.NodeRequest) {
	items := []abi.IndictmentItem{}
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		if s.kind != anything || !s.chance(4) {
			items = append(items, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Weight: s.figure(), Supports: e.Supports, Element: e.Element})
		}
	}
	r.Indictment = &abi.Indictment{
		ChargedDefectType: r.Case.Light.Classification, ProsecutionNarrative: s.line(), Evidence: items, Confidence: s.figure(),
	}
	r.Exhibits = s.exhibits(r.Case.Evidence, items)
	if s.kind == plain || s.chance(2) {
		r.Discovery = s.discovery(r.Case.Labels)
	}
	r.Contested = s.challenges(len(items), "bulwark", "challenger")
}

// exhibits say of each item what the host finds. In the largest cases only what
// was taken from a document counts as found: looking takes long.
func (s *source) exhibits(evidence []abi.Evidence, items []abi.IndictmentItem) []abi.Exhibit {
	list := make([]abi.Exhibit, len(items))
	for i := range items {
		e := &list[i]
		e.EvidenceIndex, e.Quote = i, abi.QuoteUnclaimed
		if document, ok := s.quoted[items[i].Content]; ok && s.kind == largest {
			e.Quote, e.Document = abi.QuoteStands, document
		} else if s.kind != largest {
			e.Quote, e.Document = s.docs.Quote(items[i].SourceRef, items[i].Content)
		}
		e.RelevanceConfidence = abi.FindEvidence(evidence, items[i].SourceRef, items[i].Content).RelevanceConfidence
	}
	return list
}

func (s *source) discovery(labels []string) *abi.Discovery {
	d := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	for range s.count(5) {
		if name, line := s.quote(); line != "" {
			d.Findings = append(d.Findings, abi.Finding{
				Document: name, Observation: s.line(), Quote: line, Supports: s.label(labels), Strength: s.figure(),
			})
		}
	}
	if s.chance(2) {
		d.Missing = append(d.Missing, s.line())
	}
	return d
}

// challenges are of some items, by one of the personas each.
func (s *source) challenges(items int, by ...string) []abi.Challenge {
	list := []abi.Challenge{}
	for i := range min(items, 50) {
		if s.chance(3) {
			list = append(list, abi.Challenge{
				EvidenceIndex: i, Challenge: "doubtful: " + s.line(), Severity: pick(s, abi.Fatal, abi.Weakening, abi.Minor), By: pick(s, by...),
			})
		}
	}
	return list
}

func (s *source) brief(r *abi.NodeRequest) *abi.DefenseBrief {
	items := len(r.Indictment.Evidence)
	b := &abi.DefenseBrief{Challenges: s.challenges(items, "abyss"), Confidence: s.figure()}
	switch s.rnd.IntN(4) {
	case 0:
		b.PleaDeal = true
	case 1:
		b.MotionToDismiss = true
	case 2:
		b.AlternativeHypothesis = s.alternative(r)
	}
	return b
}

// alternative is a label other than the charge, and nil where there is none.
func (s *source) alternative(r *abi.NodeRequest) *abi.AlternativeHypothesis {
	label := pick(s, r.Case.Labels...)
	if label == r.Indictment.ChargedDefectType {
		return nil
	}
	a := &abi.AlternativeHypothesis{Label: label, Reasoning: s.line(), Support: []int{}}
	for i := range min(len(r.Indictment.Evidence), 5) {
		if s.chance(2) {
			a.Support = append(a.Support, i)
		}
	}
	return a
}

func (s *source) newItems(labels []string) []abi.IndictmentItem {
	items := []abi.IndictmentItem{}
	for range s.rnd.IntN(3) {
		if name, line := s.quote(); line != "" {
			items = append(items, abi.IndictmentItem{SourceRef: name, Content: line, Weight: s.figure(), Supports: s.label(labels), Element: s.element()})
		}
	}
	return items
}

func (s *source) hearing(r *abi.NodeRequest, rounds int) *abi.HearingRecord {
	h := &abi.HearingRecord{MaxRounds: 4, Rounds: []abi.HearingRound{}}
	for i := range rounds {
		round := abi.HearingRound{
			Round: i + 1, ProsecutionArgument: s.line(), DefenseRebuttal: s.line(), JudgeNotes: s.line(),
			By:            abi.RoundSpeakers{Prosecution: "challenger", Defense: "abyss", Bench: "bulwark"},
			NewChallenges: s.challenges(len(r.Indictment.Evidence), "abyss", "bulwark"), NewItems: s.newItems(r.Case.Labels),
		}
		h.Rounds = append(h.Rounds, round)
		h.Converged = len(round.NewChallenges) == 0 && len(round.NewItems) == 0
	}
	return h
}

// turn gives the word to each side in turn.
func (s *source) turn(r *abi.NodeRequest) {
	earlier := s.rnd.IntN(3)
	if earlier > 0 {
		r.Hearing = s.hearing(r, earlier)
	}
	side := [...]abi.Side{abi.Prosecution, abi.Defense, abi.Bench}[s.number%3]
	t := &abi.TurnRequest{Round: earlier + 1, MaxRounds: 4, Speaker: side, NewChallenges: []abi.Challenge{}, NewItems: []abi.IndictmentItem{}}
	r.Turn = t
	if side == abi.Prosecution {
		r.Persona = s.persona("challenger", abi.Fire, "prosecution", "accuser")
		return
	}
	t.ProsecutionArgument, t.NewItems = s.line(), s.newItems(r.Case.Labels)
	if side == abi.Defense {
		return
	}
	r.Persona = s.persona("bulwark", abi.Diamond, "bench", "bench")
	t.DefenseRebuttal, t.NewChallenges = s.line(), s.challenges(len(r.Indictment.Evidence), "abyss")
}

// contest puts some of the items of an indictment.
func (s *source) contest(view *abi.CaseView) *abi.ContestRequest {
	r := s.node(abi.FamilyDefend, view)
	c := &abi.ContestRequest{
		Persona: s.persona("bulwark", abi.Diamond, "bench", "bench"), ChargedDefectType: r.Indictment.ChargedDefectType,
		Labels: view.Labels, Items: []abi.ContestItem{}, Profile: r.Profile,
	}
	for i := range r.Indictment.Evidence {
		if s.kind == plain || s.chance(2) {
			c.Items = append(c.Items, abi.ContestItem{EvidenceIndex: i, Item: r.Indictment.Evidence[i], Exhibit: r.Exhibits[i]})
		}
	}
	return c
}

// edges asks rules in any order, some twice and some of `_any`.
func (s *source) edges(rules []string, view *abi.CaseView) *abi.EdgeRequest {
	r := &abi.EdgeRequest{
		Node: "node-7", Limits: abi.Limits{TTLExceeded: s.chance(4), Handoffs: s.rnd.IntN(30), MaxHandoffs: 24},
		Remands: s.rnd.IntN(3), MaxRemands: 2, LoopsLeft: s.rnd.IntN(3),
	}
	for i := range 1 + s.rnd.IntN(min(2*len(rules), 12)) {
		rule := pick(s, rules...)
		r.Questions = append(r.Questions, abi.EdgeQuestion{ID: fmt.Sprintf("%s#%d", rule, i), Evaluator: rule, Any: s.chance(4)})
	}
	r.Family, r.Artifact = s.artifact(view)
	return r
}

// artifact is what a node of some family gave; now and then nothing.
func (s *source) artifact(view *abi.CaseView) (abi.Family, *abi.Artifact) {
	if s.kind == anything && s.chance(10) {
		return abi.FamilyVerdict, nil
	}
	r := s.node(abi.FamilyVerdict, view)
	label := pick(s, view.Labels...)
	switch s.rnd.IntN(9) {
	case 0:
		return abi.FamilyIndict, &abi.Artifact{Indictment: r.Indictment}
	case 1:
		return abi.FamilyDiscover, &abi.Artifact{Discovery: s.discovery(view.Labels)}
	case 2:
		return abi.FamilyDefend, &abi.Artifact{DefenseBrief: r.DefenseBrief}
	case 3:
		return abi.FamilyHearing, &abi.Artifact{Hearing: s.hearing(r, 1+s.rnd.IntN(3))}
	case 4:
		return abi.FamilyRecall, &abi.Artifact{Recall: &abi.RecallResult{Match: s.chance(2), Classification: label, Confidence: s.figure()}}
	case 5:
		return abi.FamilyTriage, &abi.Artifact{Triage: s.triage(view)}
	case 6:
		return abi.FamilyInvestigate, &abi.Artifact{Investigate: s.investigation(view)}
	case 7:
		return abi.FamilyCorrelate, &abi.Artifact{Correlate: &abi.CorrelateResult{IsDuplicate: s.chance(2), Confidence: s.figure()}}
	}
	verdict := &abi.Verdict{Decision: pick(s, abi.Affirm, abi.Amend, abi.Acquit, abi.Mistrial), Confidence: s.figure(), Reasoning: s.line()}
	if verdict.Decision == abi.Affirm || verdict.Decision == abi.Amend {
		verdict.FinalClassification = label
	}
	return abi.FamilyVerdict, &abi.Artifact{Verdict: verdict}
}

func (s *source) judge(criteria []string, view *abi.CaseView) *abi.JudgeRequest {
	r := &abi.JudgeRequest{
		Judge:    pick(s, "judge", "zwölf"),
		Opinion:  abi.JudicialOpinion{Text: "an opinion: " + s.text(s.count(10)), CaseID: "case", CourtName: "court"},
		Evidence: slices.Clone(view.Evidence),
	}
	if r.Evidence == nil {
		r.Evidence = []abi.Evidence{}
	}
	for _, id := range criteria {
		if len(r.Criteria) == 0 || s.chance(2) {
			r.Criteria = append(r.Criteria, abi.Criterion{CriterionID: id, Category: pick(s, "", "Security"), Description: s.line()})
		}
	}
	return r
}
