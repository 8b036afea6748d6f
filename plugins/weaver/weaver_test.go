package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

func investigated(classification string, evidence ...abi.Evidence) *abi.InvestigateArtifact {
	if evidence == nil {
		evidence = []abi.Evidence{}
	}
	return &abi.InvestigateArtifact{Summary: "found", Classification: classification, Component: "shop", ConvergenceScore: 0.8, Evidence: evidence}
}

func TestCorrelate(t *testing.T) {
	t.Parallel()
	prior := func(similarity, confidence float64) []abi.PriorCase {
		return []abi.PriorCase{{CaseID: "c", Classification: testkit.Flake, Status: "affirmed", Similarity: similarity, Confidence: confidence, Seen: 1}}
	}
	for _, tc := range []struct {
		name       string
		found      string
		prior      []abi.PriorCase
		duplicate  bool
		linked     string
		confidence float64
	}{
		{name: "no earlier case"},
		{name: "it reads the same", prior: prior(1, 0.9), found: testkit.Flake, duplicate: true, linked: "c", confidence: 0.9},
		{name: "nothing was found otherwise", prior: prior(0.95, 1), duplicate: true, linked: "c", confidence: 0.95},
		{name: "it reads alike", prior: prior(0.8, 1), found: testkit.Flake, linked: "c", confidence: 0.8},
		{name: "the investigation found another cause", prior: prior(1, 0.9), found: testkit.Product, linked: "c", confidence: 0.9},
		{name: "a label that this case does not have", prior: []abi.PriorCase{{CaseID: "c", Classification: "x", Similarity: 1, Confidence: 1, Seen: 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := testkit.LightCase(abi.FamilyCorrelate, "")
			r.File.Investigate = investigated(tc.found, abi.Evidence{SourceRef: "log:L1", Content: "it took too long"})
			a, failure := weaver{func(q abi.CorrelateQuery) ([]abi.PriorCase, *abi.Failure) {
				check.Contains(t, q.Text, "it took too long", "searches for")
				return tc.prior, nil
			}}.play(r)
			if failure != nil {
				t.Fatal(failure)
			}
			v := a.Correlate
			if v.IsDuplicate != tc.duplicate || v.LinkedCase != tc.linked || math.Abs(v.Confidence-tc.confidence) > 1e-9 || v.Reasoning == "" {
				t.Errorf("got %+v", *v)
			}
		})
	}
}

func TestReview(t *testing.T) {
	t.Parallel()
	hypothesis := func(label string) *abi.TriageResult { return &abi.TriageResult{ClassificationHypothesis: label} }
	for _, tc := range []struct {
		name, log string
		file      abi.LightFile
		want      abi.ReviewOutcome
	}{
		{"an investigation that the evidence bears out", "the disk is full\n", abi.LightFile{LoopsLeft: 2, Investigate: investigated(testkit.Infrastructure)}, abi.Approve},
		{"an investigation that found nothing", "", abi.LightFile{LoopsLeft: 2, Investigate: investigated("")}, abi.Approve},
		{"the evidence contradicts it", "the disk is full\n", abi.LightFile{LoopsLeft: 1, Investigate: investigated(testkit.Flake)}, abi.Reassess},
		{"the evidence contradicts it for good", "the disk is full\n", abi.LightFile{Investigate: investigated(testkit.Flake)}, abi.Overturn},
		{"a doubtful hypothesis without an investigation", "the disk is full\n", abi.LightFile{LoopsLeft: 2, Triage: hypothesis(testkit.Infrastructure)}, abi.Reassess},
		{"a sure hypothesis", "the disk is full\n", abi.LightFile{LoopsLeft: 2, Triage: hypothesis(testkit.Infrastructure), Recall: &abi.RecallResult{Match: true, Classification: testkit.Infrastructure, Confidence: 0.9}}, abi.Approve},
		{"a known failure that the log contradicts", "the disk is full\n", abi.LightFile{LoopsLeft: 2, Recall: &abi.RecallResult{Match: true, Classification: testkit.Flake, Confidence: 0.4}}, abi.Reassess},
		{"a known failure", "", abi.LightFile{LoopsLeft: 2, Recall: &abi.RecallResult{Match: true, Classification: testkit.Flake, Confidence: 0.9}}, abi.Approve},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := testkit.LightCase(abi.FamilyReview, tc.log)
			r.File = &tc.file
			v := review(r)
			if v.Decision != tc.want || (v.LoopTarget != "") != (tc.want == abi.Reassess) {
				t.Errorf("got %+v, want %s", *v, tc.want)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyReport, "the disk is full\n")
	r.File.Investigate = investigated(testkit.Infrastructure)
	v := report(r)
	if v.Classification != testkit.Infrastructure || v.Confidence < 0.6 || v.Confidence > 0.8 || v.Component != "shop" || v.Remand != nil {
		t.Errorf("got %+v", *v)
	}
	nothing := report(testkit.LightCase(abi.FamilyReport, ""))
	if nothing.Confidence > 0.3 || !strings.Contains(nothing.Summary, "Next to nothing") {
		t.Errorf("of nothing: %+v", *nothing)
	}
	r.File.Recall = &abi.RecallResult{Match: true, PriorCase: "c", Classification: testkit.Infrastructure, Confidence: 0.9, Reasoning: "Known."}
	if known := report(r); known.Confidence <= v.Confidence || !strings.Contains(known.Summary, "Known.") {
		t.Errorf("with an earlier case: %+v", *known)
	}
}

// Whoever reads only the summary knows on which lines it rests, and hears nothing twice.
func TestTheSummaryNamesItsGroundsOnce(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyReport, "starting\nthe disk is full\n")
	if s := report(r).Summary; !strings.Contains(s, " For it: ") || strings.Count(s, "L2: the disk is full.") != 1 {
		t.Errorf("no line: %s", s)
	}
	r.Case.Evidence = []abi.Evidence{{SourceRef: "mail", Content: "no space left\nmore", RelevanceConfidence: 0.9, Supports: testkit.Infrastructure}}
	check.Contains(t, report(r).Summary, "mail: no space left.", "no item")
	r.File.Recall = &abi.RecallResult{Match: true, PriorCase: "c", Classification: testkit.Infrastructure, Confidence: 0.9, Reasoning: "Known: no space left."}
	if s := report(r).Summary; strings.Contains(s, "mail") || !strings.Contains(s, "the disk is full.") {
		t.Errorf("what recall said is said again: %s", s)
	}
	r.File.Recall = nil
	r.File.Investigate = investigated(testkit.Infrastructure, abi.Evidence{SourceRef: "log:L2", Content: "the disk is full", RelevanceConfidence: 0.9, Supports: testkit.Infrastructure})
	r.File.Investigate.Summary = "log:L2: the disk is full."
	if s := report(r).Summary; strings.Contains(s, "For it") || strings.Count(s, "the disk is full") != 1 {
		t.Errorf("twice: %s", s)
	}
	empty := testkit.LightCase(abi.FamilyReport, "")
	empty.File.Investigate = &abi.InvestigateArtifact{Summary: "On remand: 0 new items. " + nothingSpeaks}
	if s := report(empty).Summary; strings.Count(s, nothingSpeaks) != 1 || !strings.HasSuffix(s, "Found: On remand: 0 new items.") {
		t.Errorf("of nothing: %s", s)
	}
	if s := report(testkit.LightCase(abi.FamilyReport, "    cart_test.go:9: got 1, want 2\n")).Summary; !strings.Contains(s, " (stated as 0.50, since it leads and is worth a trial)") {
		t.Errorf("as if it were that sure: %s", s)
	}
}

// What leads is worth a trial, however many labels share the rest.
func TestAnAnswerThatLeadsIsWorthATrial(t *testing.T) {
	t.Parallel()
	const plain = "    cart_test.go:9: got 1, want 2\n"
	for _, tc := range []struct {
		name, log   string
		least, most float64
	}{
		{"it leads", plain, 0.50, 0.50},
		{"next to nothing speaks", "", 0, 0.49},
		{"two are level", "wrong total\nthe disk is full\n", 0, 0.49},
		{"it is surer", "the disk is full\n", 0.51, 1},
	} {
		if v := report(testkit.LightCase(abi.FamilyReport, tc.log)); v.Confidence < tc.least || v.Confidence > tc.most {
			t.Errorf("%s: %v", tc.name, v.Confidence)
		}
	}
	r, least := testkit.LightCase(abi.FamilyReport, plain), 0.0
	r.Params = append(r.Params, abi.Param{Name: "worth_trying", Number: &least})
	if v := report(r); v.Confidence >= 0.50 || v.Confidence <= 0.25 {
		t.Errorf("by another parameter: %v", v.Confidence)
	}
}

func remanded(fresh ...abi.Evidence) *abi.NodeRequest {
	r := testkit.LightCase(abi.FamilyReport, "the disk is full\nall is lost\nthe billing gateway gave up\nthe disk is full on two hosts\n")
	r.Case.Light = &abi.LightAnswer{Classification: testkit.Infrastructure, Confidence: 0.55}
	r.Case.Evidence = []abi.Evidence{
		{SourceRef: "log:L1", Content: "the disk is full", Supports: testkit.Infrastructure, RelevanceConfidence: 0.6},
		{SourceRef: "log:L2", Content: "nobody said so", Supports: testkit.Flake, RelevanceConfidence: 0.6},
		{SourceRef: "witness", Content: "The disk is full!", Supports: testkit.Infrastructure, RelevanceConfidence: 0.6},
	}
	r.File.Investigate = investigated(testkit.Infrastructure, fresh...)
	r.File.Feedback = &abi.RemandFeedback{
		Challenged: []abi.ChallengedItem{{EvidenceIndex: 0, Why: "is doubtful"}, {EvidenceIndex: 1, Why: "does not stand"}, {EvidenceIndex: 0, Why: "again"}, {EvidenceIndex: 9, Why: "nowhere"}},
		Questions: []abi.Question{
			{ID: "q1", Question: "What tells system_issue from product_bug?"},
			{ID: "q2", Question: `Item [1] log:L2 "nobody said so" does not stand: what else shows what it says?`},
			{ID: "q3", Question: "Was the billing gateway reachable?"},
		},
	}
	return r
}

func TestEveryQuestionAndItemIsAccountedFor(t *testing.T) {
	t.Parallel()
	disk := abi.Evidence{SourceRef: "log:L4", Content: "the disk is full on two hosts", Supports: testkit.Infrastructure, RelevanceConfidence: 0.7}
	gateway := abi.Evidence{SourceRef: "log:L3", Content: "the billing gateway gave up", RelevanceConfidence: 0.3}
	r := remanded(disk, gateway)
	v := report(r)
	var c abi.Collector
	abi.CheckRemandAnswer(v.Remand, r.File.Feedback, &c)
	must.Do(t, c.Err())
	want := map[string]abi.AnswerStatus{"q1": abi.Found, "q2": abi.Withdrawn, "q3": abi.Found}
	for i := range v.Remand.Answers {
		a := &v.Remand.Answers[i]
		if a.Status != want[a.QuestionID] || (len(a.Evidence) > 0) != (a.Status == abi.Found) {
			t.Errorf("%+v, want %s", *a, want[a.QuestionID])
		}
	}
	if got := v.Remand.Answers[2].Evidence; len(got) != 1 || got[0] != gateway {
		t.Errorf("q3 is answered with %+v", got)
	}
	status := []abi.ChallengedReply{{EvidenceIndex: 0, Status: abi.ItemWithdrawn}, {EvidenceIndex: 1, Status: abi.ItemWithdrawn}, {EvidenceIndex: 9, Status: abi.ItemWithdrawn}}
	if !slices.Equal(v.Remand.Challenged, status) { // the first is said by an unchallenged witness as well
		t.Errorf("challenged %+v", v.Remand.Challenged)
	}
	r.Case.Evidence[2].Content = "quite another thing"
	if v := report(r); v.Remand.Challenged[0].Status != abi.ItemStands {
		t.Error("an item that stands in the log, and that nothing repeats, is withdrawn")
	}
}

func TestWithoutNewEvidenceConfidenceDoesNotRise(t *testing.T) {
	t.Parallel()
	r := remanded()
	if v := report(r); v.Confidence > 0.55 || v.Remand.Answers[0].Status != abi.NotFound {
		t.Errorf("got %+v, answers %+v", *v, v.Remand.Answers)
	}
	r = remanded(abi.Evidence{SourceRef: "log:L4", Content: "the disk is full on two hosts", Supports: testkit.Infrastructure, RelevanceConfidence: 0.7})
	if v := report(r); v.Confidence <= 0.55 {
		t.Errorf("with new evidence the confidence is %v", v.Confidence)
	}
}
