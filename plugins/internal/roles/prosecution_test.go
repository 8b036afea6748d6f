package roles

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func caseView(evidence ...abi.Evidence) abi.CaseView {
	return abi.CaseView{
		Labels: []string{"a", "b", "c"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.7}, Evidence: evidence,
	}
}

func TestIndictKeepsAllEvidenceUnchanged(t *testing.T) {
	t.Parallel()
	evidence := []abi.Evidence{
		{SourceRef: "x", Content: "for it", RelevanceConfidence: 0.9, Supports: "a", Element: abi.Water},
		{SourceRef: "y", Content: "against it", RelevanceConfidence: 0.6, Supports: "b"},
		{SourceRef: "z", Content: "names no label", RelevanceConfidence: 0.9},
	}
	v := indict(&abi.NodeRequest{Case: caseView(evidence...)})
	var c abi.Collector
	abi.CheckIndictment(v, &abi.LightAnswer{Classification: "a"}, evidence, &c)
	must.Do(t, c.Err())
	must.Equal(t, len(v.Evidence), len(evidence), "items")
	if w := v.Evidence; w[0].Weight <= w[1].Weight || w[1].Weight <= 0 || w[2].Weight != 0 {
		t.Errorf("weights %v, %v, %v", w[0].Weight, w[1].Weight, w[2].Weight)
	}
	for _, cited := range []string{"[0] x", "[1] y", "Light states with 0.70"} {
		check.Contains(t, v.ProsecutionNarrative, cited, "the narrative doesn't cite")
	}
}

// The prosecution's estimate comes from the evidence: sure where witnesses agree, low where they contradict, and never Light's own figure.
func TestIndictEstimatesAnew(t *testing.T) {
	t.Parallel()
	first := abi.Evidence{SourceRef: "x", Content: "the disk was full", RelevanceConfidence: 0.9, Supports: "a"}
	second := abi.Evidence{SourceRef: "y", Content: "the network was down", RelevanceConfidence: 0.9, Supports: "a"}
	contrary := second
	contrary.Supports = "b"
	for _, tc := range []struct {
		name     string
		evidence []abi.Evidence
		min, max float64
	}{
		{"two strong witnesses agree", []abi.Evidence{first, second}, 0.95, 1},
		{"one strong witness", []abi.Evidence{first}, 0.8, 0.93},
		{"they contradict", []abi.Evidence{first, contrary}, 0.5, 0.8},
		{"only another label", []abi.Evidence{contrary}, 0, 0.2},
		{"no evidence", nil, 0.4, 0.65},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := indict(&abi.NodeRequest{Case: caseView(tc.evidence...)}).Confidence; got < tc.min || got > tc.max {
				t.Errorf("confidence %v, want in [%v, %v]", got, tc.min, tc.max)
			}
		})
	}
}

func hearingRequest() *abi.NodeRequest {
	return &abi.NodeRequest{
		Family: abi.FamilyHearing, Case: caseView(),
		Indictment: &abi.Indictment{ChargedDefectType: "a", Evidence: []abi.IndictmentItem{
			{SourceRef: "x", Content: "", Weight: 0.5, Supports: "a"},
			{SourceRef: "y", Content: "", Weight: 0.5, Supports: "b"},
			{SourceRef: "z", Content: "sound", Weight: 0.5, Supports: "b"},
		}},
		Discovery: &abi.Discovery{Findings: []abi.Finding{
			{Document: "log", Quote: "weak", Supports: "a", Strength: 0.4},
			{Document: "log", Quote: "strong", Supports: "a", Strength: 0.8},
			{Document: "log", Quote: "other", Supports: "b", Strength: 0.9},
		}},
		DefenseBrief: &abi.DefenseBrief{},
		Turn:         &abi.TurnRequest{Round: 1, MaxRounds: 3, Speaker: abi.Prosecution},
	}
}

func TestArgueChallengesOnlyWhatSpeaksAgainstTheCharge(t *testing.T) {
	t.Parallel()
	turn := argue(hearingRequest())
	if len(turn.NewChallenges) != 1 || turn.NewChallenges[0].EvidenceIndex != 1 || turn.NewChallenges[0].Severity != abi.Fatal {
		t.Errorf("challenges %+v", turn.NewChallenges)
	}
	if len(turn.NewItems) != 2 || turn.NewItems[0].Content != "strong" || turn.NewItems[1].Content != "weak" {
		t.Errorf("new items %+v", turn.NewItems)
	}
}

func TestArgueSaysNothingTwice(t *testing.T) {
	t.Parallel()
	r := hearingRequest()
	first := argue(r)
	r.Hearing = &abi.HearingRecord{MaxRounds: 3, Rounds: []abi.HearingRound{{Round: 1, NewChallenges: first.NewChallenges, NewItems: first.NewItems}}}
	r.Turn.Round = 2
	if second := argue(r); len(second.NewChallenges)+len(second.NewItems) != 0 || second.Argument == "" {
		t.Errorf("second turn %+v", second)
	}
}

func TestContestAgainst(t *testing.T) {
	t.Parallel()
	contested := func(index int, supports string) abi.ContestItem {
		return abi.ContestItem{
			EvidenceIndex: index, Item: abi.IndictmentItem{SourceRef: "log:3", Content: "not there", Supports: supports},
			Exhibit: abi.Exhibit{EvidenceIndex: index, Quote: abi.QuoteAbsent, RelevanceConfidence: 0.8},
		}
	}
	challenges, failure := ContestCharge(&abi.ContestRequest{
		ChargedDefectType: "a", Labels: []string{"a", "b"}, Items: []abi.ContestItem{contested(4, "a"), contested(6, "b")},
	})
	if failure != nil || len(challenges) != 1 || challenges[0].EvidenceIndex != 6 || challenges[0].Severity != abi.Fatal || challenges[0].By != "" {
		t.Errorf("challenges %+v, failure %v", challenges, failure)
	}
}

func TestIndictmentStaysWithinAnArtifact(t *testing.T) {
	t.Parallel()
	evidence := []abi.Evidence{{SourceRef: "huge", Content: strings.Repeat("x", 2<<20), RelevanceConfidence: 0.9, Supports: "a"}}
	for range 3000 {
		evidence = append(evidence, abi.Evidence{SourceRef: "dump", Content: strings.Repeat("line ", 60)})
	}
	evidence = append(evidence, abi.Evidence{SourceRef: "last", Content: "the disk was full", RelevanceConfidence: 0.9, Supports: "a"})
	v := indict(&abi.NodeRequest{Case: caseView(evidence...)})
	if size := len(codec.AppendNodeResponse(nil, &abi.NodeResponse{Artifact: &abi.Artifact{Indictment: v}})); size > abi.DefaultOutputBytes {
		t.Errorf("%d bytes", size)
	}
	if last := v.Evidence[len(v.Evidence)-1]; last.SourceRef != "last" || v.Evidence[0].SourceRef != "dump" {
		t.Errorf("from %q to %q: what counts is left out, or the order is lost", v.Evidence[0].SourceRef, last.SourceRef)
	}
	check.Contains(t, v.ProsecutionNarrative, "left out:", "the narrative is silent about what is left out")
}
