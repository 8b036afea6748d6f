package chat

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// A challenge counts by a line that the bench found for another label, or a model that was measured.
func TestWhatAChallengeRestsOn(t *testing.T) {
	t.Parallel()
	schema := &Schema{Kind: Object, Fields: []Field{Challenges()}}
	answer, problem := schema.Read(`{"challenges":[{"item":0,"finding":0,"why":"look","severity":"weakening"}]}`)
	if problem != "" {
		t.Fatal(problem)
	}
	measured := &abi.Profile{Name: "p", Sources: []abi.SourceReliability{{Source: "model:reader"}}}
	for _, tc := range []struct {
		name    string
		finding abi.Finding
		profile *abi.Profile
		counts  bool
	}{
		{"a line of the bench", abi.Finding{Supports: "b"}, nil, true},
		{"a line for the same label", abi.Finding{Supports: "a"}, nil, false},
		{"a line for no label", abi.Finding{}, nil, false},
		{"a line of a model", abi.Finding{Supports: "b", Source: "model:reader"}, nil, false},
		{"a line of another model than the measured one", abi.Finding{Supports: "b", Source: "model:other"}, measured, false},
		{"a line of a measured model", abi.Finding{Supports: "b", Source: "model:reader"}, measured, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.finding.Document, tc.finding.Quote = "log", "the disk was full"
			r := &abi.NodeRequest{
				Indictment: &abi.Indictment{ChargedDefectType: "a", Evidence: []abi.IndictmentItem{{SourceRef: "x", Content: "it is a", Supports: "a"}}},
				Discovery:  &abi.Discovery{Findings: []abi.Finding{tc.finding}}, Profile: tc.profile,
			}
			got := Challenged(r, answer, func(*abi.IndictmentItem) bool { return true }, nil)
			if (len(got) == 1) != tc.counts || tc.counts && !strings.Contains(got[0].Challenge, "the disk was full") {
				t.Errorf("%+v", got)
			}
		})
	}
}
