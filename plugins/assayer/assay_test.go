package main

import (
	"slices"
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

func ask(t *testing.T, r *abi.JudgeRequest) map[string]abi.CriterionOpinion {
	t.Helper()
	opinions, failure := score(r)
	if failure != nil {
		t.Fatal(failure)
	}
	by := map[string]abi.CriterionOpinion{}
	for _, o := range opinions {
		by[o.CriterionID] = o
	}
	return by
}

func TestClaimsThatRestOnWhatStandsScoreMost(t *testing.T) {
	t.Parallel()
	r := request()
	r.Opinion.Text = "The log says \"quota exceeded for volume data-7\", before anything else."
	best := ask(t, r)["evidence_support"]
	r.Opinion.Text = "The operator reports that nothing was deployed this week."
	witness := ask(t, r)["evidence_support"]
	r.Opinion.Text = "The item log:L9 proves a controller that failed its parity."
	absent := ask(t, r)["evidence_support"]
	r.Opinion.Text = "Martians tampered with every single disk yesterday."
	loose := ask(t, r)["evidence_support"]
	if best.NumericScore != 5 || witness.NumericScore != 3 || absent.NumericScore != 1 || loose.NumericScore != 1 {
		t.Errorf("%d, %d, %d, %d", best.NumericScore, witness.NumericScore, absent.NumericScore, loose.NumericScore)
	}
	if !slices.Equal(best.CitedEvidence, []string{"log:L2"}) || len(absent.CitedEvidence) > 0 {
		t.Errorf("cites %v and %v", best.CitedEvidence, absent.CitedEvidence)
	}
}

func TestSilenceAboutASideIsUneven(t *testing.T) {
	t.Parallel()
	r := request()
	r.Opinion.Text = "The log says \"quota exceeded for volume data-7\"."
	one := ask(t, r)["even_handedness"].NumericScore
	r.Opinion.Text += " The graph, by which \"usage rises by 2 GB an hour\", speaks for a leak, the operator for the load."
	if all := ask(t, r)["even_handedness"].NumericScore; one >= all || all != 5 {
		t.Errorf("%d with one of three sides, %d with all", one, all)
	}
}

func TestAConfidenceIsHeldAgainstTheEvidence(t *testing.T) {
	t.Parallel()
	r := request()
	r.Opinion.Text = "The log says \"quota exceeded for volume data-7\", so that it is the quota."
	scoreOf := func(confidence string) int {
		r.Opinion.Metadata = map[string]string{"confidence": confidence, "final_classification": "quota"}
		return ask(t, r)["calibration"].NumericScore
	}
	if near, far := scoreOf("0.4"), scoreOf("0.99"); near != 5 || far >= 3 {
		t.Errorf("%d near what is borne out, %d far from it", near, far)
	}
	r.Opinion.Metadata, r.Opinion.Text = nil, "The log says \"quota exceeded for volume data-7\"."
	if none := ask(t, r)["calibration"].NumericScore; none != 2 {
		t.Errorf("%d without any", none)
	}
}

func TestWhatIsMadeUpSinksTheScore(t *testing.T) {
	t.Parallel()
	r := request()
	r.Evidence = append(r.Evidence, abi.Evidence{SourceRef: "forensics:graph", Content: "stands in graph"})
	const honest = "The log says \"quota exceeded for volume data-7\". The graph has \"usage rises by 2 GB an hour\". "
	for text, most := range map[string]int{
		honest: 5,
		honest + "The mayor of Paris ordered the outage by letter.":                               4,
		honest + "The graph shows that usage rises by 9 GB an hour.":                              2,
		honest + "The log says \"the mayor ordered the outage\".":                                 2,
		"The log says \"quota exceeded for volume data-7\" and \"the mayor ordered the outage\".": 1,
		"The log says \"the mayor ordered the outage\" and \"the disks were sold\".":              1,
	} {
		r.Opinion.Text = text
		o := ask(t, r)["evidence_support"]
		if o.NumericScore > most || most == 5 && o.NumericScore != 5 {
			t.Errorf("%q: %+v", text, o)
		}
		if strings.Contains(text, "says \"the mayor") && !strings.Contains(o.Argument, "\"the mayor ordered the outage\"") {
			t.Errorf("it is not named: %s", o.Argument)
		}
	}
}

func TestTooSureIsWorseThanTooModest(t *testing.T) {
	t.Parallel()
	r := request()
	r.Evidence = append(r.Evidence, abi.Evidence{SourceRef: "forensics:graph", Content: "stands in graph"})
	for i := range r.Evidence {
		r.Evidence[i].Supports = ""
	}
	const traced = "The log says \"quota exceeded for volume data-7\". The graph has \"usage rises by 2 GB an hour\". "
	for text, want := range map[string][2]int{ // from, to
		traced + "Our confidence is 0.6.":  {5, 5},
		traced + "Our confidence is 0.99.": {5, 5},
		traced + "Our confidence is 0.3.":  {4, 4},
		traced + "A comet struck the building twice. Thieves sold every single disk abroad. Our confidence is 0.65.": {5, 5},
		traced + "A comet struck the building twice. Thieves sold every single disk abroad. Our confidence is 0.99.": {1, 2},
		"A comet struck the building twice. Our confidence is 0.95.":                                                 {1, 1},
		"A comet struck the building twice. Our confidence is 0.5.":                                                  {5, 5},
		traced + "The log says \"the mayor ordered the outage\". Our confidence is 0.9.":                             {1, 1},
	} {
		r.Opinion.Text = text
		if o := ask(t, r)["calibration"]; o.NumericScore < want[0] || o.NumericScore > want[1] {
			t.Errorf("%q: %+v", text, o)
		}
	}
}
