package main

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func request() *abi.JudgeRequest {
	return &abi.JudgeRequest{
		Judge: "assayer",
		Opinion: abi.JudicialOpinion{Text: strings.Repeat("The log says \"quota exceeded for volume data-7\", so that the disk was full. "+
			"The operator reports that nothing was deployed this week. Our confidence is 0.7.\n", 8)},
		Criteria: []abi.Criterion{{CriterionID: "evidence_support"}, {CriterionID: "even_handedness"}, {CriterionID: "calibration"}},
		Evidence: []abi.Evidence{
			{SourceRef: "log:L2", Content: "quota exceeded for volume data-7", RelevanceConfidence: 0.8, Supports: "quota"},
			{SourceRef: "graph", Content: "usage rises by 2 GB an hour", RelevanceConfidence: 0.7, Supports: "leak"},
			{SourceRef: "operator", Content: "nothing was deployed this week", RelevanceConfidence: 0.6, Supports: "load"},
			{SourceRef: "log:L9", Content: "made up by nobody at all", RelevanceConfidence: 0.6, Supports: "load"},
			{SourceRef: "forensics:log:L2", Content: "stands in log", RelevanceConfidence: 1},
			{SourceRef: "forensics:log:L9", Content: "absent in log", RelevanceConfidence: 1},
		},
	}
}

func BenchmarkScore(b *testing.B) {
	r := request()
	b.ReportAllocs()
	for b.Loop() {
		if opinions, failure := score(r); failure != nil || len(opinions) != 3 {
			b.Fatal(failure)
		}
	}
}
