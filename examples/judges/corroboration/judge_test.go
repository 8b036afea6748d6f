package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func request(items ...abi.IndictmentItem) *abi.NodeRequest {
	return &abi.NodeRequest{
		Family: abi.FamilyVerdict, Case: abi.CaseView{Labels: []string{"a", "b", "c"}},
		Indictment: &abi.Indictment{ChargedDefectType: "a", Evidence: items}, DefenseBrief: &abi.DefenseBrief{},
	}
}

func item(source, label string) abi.IndictmentItem {
	return abi.IndictmentItem{SourceRef: source, Content: source, Weight: 0.5, Supports: label}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	struck := request(item("log:L1", "a"), item("re-run", "a"))
	struck.DefenseBrief.Challenges = []abi.Challenge{{EvidenceIndex: 1, Challenge: "it never ran", Severity: abi.Fatal}}
	found := request(item("re-run", "b"))
	found.Discovery = &abi.Discovery{Findings: []abi.Finding{{Document: "log", Quote: "x", Supports: "b", Strength: 1}}}
	for name, c := range map[string]struct {
		request *abi.NodeRequest
		want    abi.Decision
		label   string
	}{
		"two sources":                   {request(item("log:L1", "a"), item("re-run", "a")), abi.Affirm, "a"},
		"one source twice":              {request(item("log:L1", "a"), item("log:L9", "a")), abi.Acquit, ""},
		"nothing":                       {request(), abi.Acquit, ""},
		"a challenge strikes an item":   {struck, abi.Acquit, ""},
		"a finding is a source":         {found, abi.Amend, "b"},
		"the charge goes before":        {request(item("1", "a"), item("2", "a"), item("3", "b"), item("4", "b")), abi.Affirm, "a"},
		"two others are level":          {request(item("1", "b"), item("2", "b"), item("3", "c"), item("4", "c")), abi.Acquit, ""},
		"another has more of them":      {request(item("1", "a"), item("2", "a"), item("3", "b"), item("4", "b"), item("5", "b")), abi.Amend, "b"},
		"what names no label is no use": {request(item("1", ""), item("2", "")), abi.Acquit, ""},
	} {
		got := judge(c.request)
		if got.Decision != c.want || got.FinalClassification != c.label {
			t.Errorf("%s: %s %q, want %s %q (%s)", name, got.Decision, got.FinalClassification, c.want, c.label, got.Reasoning)
		}
		if got.Confidence <= 0 || got.Confidence >= 1 {
			t.Errorf("%s: confidence %v", name, got.Confidence)
		}
	}
}
