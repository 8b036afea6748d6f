// Package anytrial makes random proceedings that keep the contract, for tests
// of what the personas answer to them.
package anytrial

import (
	"math/rand/v2"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Source makes proceedings; the same seed makes the same ones. Not safe for
// concurrent use.
type Source struct{ rnd *rand.Rand }

// New returns a source of a seed.
func New(seed uint64) *Source {
	return &Source{rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // a test wants the same proceedings every time
}

// Request makes a request for a node of the family, with all that the host
// shows at such a node.
func (s *Source) Request(family abi.Family) *abi.NodeRequest {
	r := &abi.NodeRequest{
		Node: "node", Family: family,
		Persona: abi.Persona{Name: "self", Element: abi.Fire, Alignment: "any"},
		Case:    s.caseView(),
		Profile: s.profile(),
	}
	s.experiment(r)
	if family == abi.FamilyIndict || family == abi.FamilyDiscover {
		return r
	}
	s.indict(r)
	if s.chance(2) {
		r.Discovery = s.discovery(r)
	}
	r.Contested = s.challenges(r, "other")
	if family == abi.FamilyDefend {
		return r
	}
	r.DefenseBrief = &abi.DefenseBrief{Challenges: s.challenges(r, "abyss"), PleaDeal: s.chance(3), Confidence: s.rnd.Float64()}
	if s.chance(2) {
		r.Hearing = s.hearing(r)
	}
	if family == abi.FamilyHearing {
		r.Turn = &abi.TurnRequest{Round: 2, MaxRounds: 3, Speaker: abi.Bench, NewChallenges: s.challenges(r, "challenger"), NewItems: s.newItems(r)}
	}
	r.RemandsLeft = s.rnd.IntN(3)
	return r
}

// Contest makes a contest request for some items of a random indictment.
func (s *Source) Contest() *abi.ContestRequest {
	r := s.Request(abi.FamilyDefend)
	c := &abi.ContestRequest{Persona: r.Persona, ChargedDefectType: r.Indictment.ChargedDefectType, Labels: r.Case.Labels}
	for i := range r.Indictment.Evidence {
		if s.chance(2) {
			c.Items = append(c.Items, abi.ContestItem{EvidenceIndex: i, Item: r.Indictment.Evidence[i], Exhibit: r.Exhibits[i]})
		}
	}
	return c
}

func (s *Source) chance(n int) bool { return s.rnd.IntN(n) == 0 }

func (s *Source) pick(from ...string) string { return from[s.rnd.IntN(len(from))] }

// figure is a number in [0, 1], often an end of it.
func (s *Source) figure() float64 {
	if s.chance(4) {
		return float64(s.rnd.IntN(2))
	}
	return s.rnd.Float64()
}

func (s *Source) line() string {
	words := make([]string, s.rnd.IntN(9))
	for i := range words {
		words[i] = s.pick("error", "disk", "full", "größe", "failed", "test", "0", "17:01", "\x00", "network", "timeout", "refused", "x")
	}
	return strings.Join(words, " ")
}

func (s *Source) content() string {
	lines := make([]string, s.rnd.IntN(4))
	for i := range lines {
		lines[i] = s.line()
	}
	return strings.Join(lines, "\n")
}

func (s *Source) caseView() abi.CaseView {
	all := []string{"disk_full", "network_timeout", "test", "x17"}
	v := abi.CaseView{Labels: all[:2+s.rnd.IntN(3)]}
	v.Light = &abi.LightAnswer{Classification: s.pick(v.Labels...), Confidence: s.figure()}
	for range s.rnd.IntN(8) {
		v.Evidence = append(v.Evidence, abi.Evidence{
			SourceRef: s.pick("log:1", "log:2", "log", "x", "y#3"), Content: s.content(), RelevanceConfidence: s.figure(), Supports: s.label(v.Labels),
		})
	}
	for _, name := range []string{"log", "trace"}[:s.rnd.IntN(3)] {
		v.Documents = append(v.Documents, abi.Document{Name: name, Text: s.content() + strings.Repeat(s.line(), s.rnd.IntN(90))})
	}
	return v
}

func (s *Source) label(labels []string) string {
	if s.chance(4) {
		return ""
	}
	return s.pick(labels...)
}

func (s *Source) profile() *abi.Profile {
	if s.chance(2) {
		return nil
	}
	weights := []abi.LabelWeight{{Label: "disk_full", Weight: max(-20, min(20, 8*s.rnd.NormFloat64()))}, {Label: "nowhere", Weight: 20}, {Label: "test", Weight: -20}}
	given := []abi.LabelWeight{{Label: "disk_full", Weight: 5e-324}, {Label: "network_timeout", Weight: 1}}
	p := &abi.Profile{Name: "any", SignalCap: 20 * s.figure(), BaseRates: given}
	p.Signals = []abi.Signal{{Phrase: "disk full", Weights: weights}, {Phrase: "x", Weights: weights[:1]}, {Phrase: "größe", Weights: nil}}
	p.Sources = []abi.SourceReliability{{Source: "x", Cap: 20 * s.figure(), Statements: []abi.SourceStatement{{Says: "test", Given: given}, {Given: nil}}}}
	if s.chance(2) {
		p.Light = &abi.SourceReliability{Source: "light", Share: 2 * s.figure(), Cap: 20 * s.figure(), Stated: &abi.LogitMap{Offset: 40*s.rnd.Float64() - 20, Slope: 20 * s.rnd.Float64()}}
	}
	return p
}

func (s *Source) indict(r *abi.NodeRequest) {
	r.Indictment = &abi.Indictment{ChargedDefectType: r.Case.Light.Classification, Evidence: []abi.IndictmentItem{}, Confidence: s.figure()}
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		r.Indictment.Evidence = append(r.Indictment.Evidence, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Weight: s.figure(), Supports: e.Supports})
		quote := s.pick(string(abi.QuoteStands), string(abi.QuoteAbsent), string(abi.QuoteUnclaimed))
		r.Exhibits = append(r.Exhibits, abi.Exhibit{EvidenceIndex: i, Quote: abi.QuoteStatus(quote), RelevanceConfidence: e.RelevanceConfidence})
	}
}

func (s *Source) challenges(r *abi.NodeRequest, by string) []abi.Challenge {
	list := []abi.Challenge{}
	for i := range r.Indictment.Evidence {
		if s.chance(3) {
			severity := abi.Severity(s.pick(string(abi.Fatal), string(abi.Weakening), string(abi.Minor)))
			list = append(list, abi.Challenge{EvidenceIndex: i, Challenge: "is doubtful", Severity: severity, By: by})
		}
	}
	return list
}

func (s *Source) discovery(r *abi.NodeRequest) *abi.Discovery {
	d := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	for range s.rnd.IntN(5) {
		d.Findings = append(d.Findings, abi.Finding{Document: "log", Quote: "x" + s.line(), Supports: s.label(r.Case.Labels), Strength: s.figure()})
	}
	return d
}

func (s *Source) newItems(r *abi.NodeRequest) []abi.IndictmentItem {
	items := []abi.IndictmentItem{}
	for range s.rnd.IntN(3) {
		items = append(items, abi.IndictmentItem{SourceRef: "log", Content: s.line(), Weight: s.figure(), Supports: s.label(r.Case.Labels)})
	}
	return items
}

func (s *Source) hearing(r *abi.NodeRequest) *abi.HearingRecord {
	return &abi.HearingRecord{MaxRounds: 3, Rounds: []abi.HearingRound{{
		Round: 1, By: abi.RoundSpeakers{Prosecution: "challenger", Defense: "abyss", Bench: "bulwark"},
		NewChallenges: s.challenges(r, "bulwark"), NewItems: s.newItems(r),
	}}}
}
