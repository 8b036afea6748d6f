package roles

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// request puts items before the defense, each with the confidence that its source states, and the charge a.
func request(items []abi.IndictmentItem, exhibits ...abi.Exhibit) *abi.NodeRequest {
	return &abi.NodeRequest{
		Family:     abi.FamilyDefend,
		Case:       abi.CaseView{Labels: labels, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.7}},
		Indictment: &abi.Indictment{ChargedDefectType: "a", Evidence: items},
		Exhibits:   exhibits,
	}
}

func exhibit(i int, confidence float64, quote abi.QuoteStatus) abi.Exhibit {
	return abi.Exhibit{EvidenceIndex: i, RelevanceConfidence: confidence, Quote: quote}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	first := abi.IndictmentItem{SourceRef: "x", Content: "the disk was full", Supports: "a"}
	second := abi.IndictmentItem{SourceRef: "y", Content: "the network was down", Supports: "a"}
	contrary := abi.IndictmentItem{SourceRef: "z", Content: "the door was open", Supports: "b"}
	silent := abi.IndictmentItem{SourceRef: "w", Content: "a line of a log"}
	always := 0.01
	for _, tc := range []struct {
		name        string
		request     *abi.NodeRequest
		plea        bool
		motion      bool
		alternative string
		challenged  int
	}{
		{
			name: "agreeing evidence", plea: true,
			request: request([]abi.IndictmentItem{first, second, silent}, exhibit(0, 0.8, abi.QuoteUnclaimed), exhibit(1, 0.8, abi.QuoteStands), exhibit(2, 0.9, abi.QuoteStands)),
		},
		{
			name: "a weak rival far behind", plea: true,
			request: request([]abi.IndictmentItem{first, second, contrary}, exhibit(0, 0.8, abi.QuoteUnclaimed), exhibit(1, 0.8, abi.QuoteStands), exhibit(2, 0.45, abi.QuoteUnclaimed)),
		},
		{
			name: "a rival as strong", alternative: "b",
			request: request([]abi.IndictmentItem{first, contrary}, exhibit(0, 0.8, abi.QuoteUnclaimed), exhibit(1, 0.85, abi.QuoteUnclaimed)),
		},
		{
			name: "nothing for the charge, a rival", alternative: "b",
			request: request([]abi.IndictmentItem{contrary}, exhibit(0, 0.8, abi.QuoteUnclaimed)),
		},
		{
			name: "nothing for the charge, no rival", motion: true,
			request: request([]abi.IndictmentItem{silent}, exhibit(0, 0.8, abi.QuoteUnclaimed)),
		},
		{name: "no evidence at all", motion: true, request: request(nil)},
		{
			name: "the only item for the charge is made up", motion: true, challenged: 1,
			request: request([]abi.IndictmentItem{first}, exhibit(0, 0.9, abi.QuoteAbsent)),
		},
		{
			name: "one of three items repeats another", challenged: 1,
			request: request([]abi.IndictmentItem{first, second, {SourceRef: "v", Content: "The disk was FULL!", Supports: "a"}}, exhibit(0, 0.8, abi.QuoteUnclaimed), exhibit(1, 0.8, abi.QuoteUnclaimed), exhibit(2, 0.7, abi.QuoteUnclaimed)),
		},
		{
			name: "a charge too weak to concede, no rival",
			request: func() *abi.NodeRequest {
				r := request([]abi.IndictmentItem{first}, exhibit(0, 0.48, abi.QuoteUnclaimed))
				r.Case.Light.Confidence = 0.4
				return r
			}(),
		},
		{
			name: "any rival counts by parameter", alternative: "b",
			request: func() *abi.NodeRequest {
				r := request([]abi.IndictmentItem{first, second, contrary}, exhibit(0, 0.8, abi.QuoteUnclaimed), exhibit(1, 0.8, abi.QuoteStands), exhibit(2, 0.45, abi.QuoteUnclaimed))
				r.Params = []abi.Param{{Name: "rival_ratio", Number: &always}}
				return r
			}(),
		},
		{
			name: "a finding of discovery is a rival", alternative: "c",
			request: func() *abi.NodeRequest {
				r := request([]abi.IndictmentItem{first}, exhibit(0, 0.5, abi.QuoteUnclaimed))
				r.Discovery = &abi.Discovery{Findings: []abi.Finding{{Document: "log", Quote: "something else", Supports: "c", Strength: 0.9}}}
				return r
			}(),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := brief(tc.request)
			alternative := ""
			if b.AlternativeHypothesis != nil {
				alternative = b.AlternativeHypothesis.Label
			}
			if b.PleaDeal != tc.plea || b.MotionToDismiss != tc.motion || alternative != tc.alternative || len(b.Challenges) != tc.challenged {
				t.Errorf("plea %v, motion %v, alternative %q, challenges %+v", b.PleaDeal, b.MotionToDismiss, alternative, b.Challenges)
			}
			var c abi.Collector
			b.Rules(&c)
			abi.CheckBrief(b, tc.request.Indictment, labels, "abyss", nil, &c)
			if err := c.Err(); err != nil {
				t.Error(err)
			}
			if b.PleaDeal && b.Confidence > 0.5 {
				t.Errorf("concedes with confidence %v that the charge is wrong", b.Confidence)
			}
		})
	}
}

func TestBriefAdoptsTheContestVerbatim(t *testing.T) {
	t.Parallel()
	r := request([]abi.IndictmentItem{{SourceRef: "x", Content: "the disk was full", Supports: "a"}, {SourceRef: "y", Content: "", Supports: "a"}},
		exhibit(0, 0.9, abi.QuoteUnclaimed), exhibit(1, 0.9, abi.QuoteUnclaimed))
	r.Contested = []abi.Challenge{{EvidenceIndex: 0, Challenge: "vague", Severity: abi.Weakening, By: "bulwark"}, {EvidenceIndex: 1, Challenge: "void", Severity: abi.Fatal, By: "specter"}}
	b := brief(r)
	if len(b.Challenges) != 2 || b.Challenges[0] != r.Contested[0] || b.Challenges[1] != r.Contested[1] {
		t.Errorf("challenges %+v", b.Challenges)
	}
	if b.PleaDeal {
		t.Error("concedes with a challenge standing against an item of the charge")
	}
}

func TestRebutBringsOtherLabelsOnce(t *testing.T) {
	t.Parallel()
	r := request([]abi.IndictmentItem{{SourceRef: "x", Content: "", Supports: "a"}, {SourceRef: "y", Content: "", Supports: "b"}},
		exhibit(0, 0.9, abi.QuoteUnclaimed), exhibit(1, 0.9, abi.QuoteUnclaimed))
	r.Discovery = &abi.Discovery{Findings: []abi.Finding{
		{Document: "log", Quote: "for it", Supports: "a", Strength: 0.9},
		{Document: "log", Quote: "against it", Supports: "c", Strength: 0.9},
		{Document: "log", Quote: "names none", Strength: 0.9},
	}}
	r.DefenseBrief, r.Turn = &abi.DefenseBrief{}, &abi.TurnRequest{Round: 1, MaxRounds: 3, Speaker: abi.Defense}
	turn := rebut(r)
	if len(turn.NewItems) != 1 || turn.NewItems[0].Content != "against it" {
		t.Errorf("new items %+v", turn.NewItems)
	}
	if len(turn.NewChallenges) != 1 || turn.NewChallenges[0].EvidenceIndex != 0 {
		t.Errorf("challenges %+v", turn.NewChallenges)
	}
	r.Hearing = &abi.HearingRecord{MaxRounds: 3, Rounds: []abi.HearingRound{{Round: 1, NewChallenges: turn.NewChallenges, NewItems: turn.NewItems}}}
	if again := rebut(r); len(again.NewItems)+len(again.NewChallenges) != 0 {
		t.Errorf("said twice: %+v", again)
	}
}
