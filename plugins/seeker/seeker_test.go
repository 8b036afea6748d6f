package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

// logged has more to find the deeper one looks.
const logged = `--- FAIL: TestTotal (0.00s)
    cart_test.go:9: wrong total
    cart_test.go:10: still wrong total
    cart_test.go:11: a third wrong total
the disk is full on host 1
the disk of billing is full
connecting to the billing gateway at nine
the billing gateway gave up
`

func play(t *testing.T, r *abi.NodeRequest, source abi.SourceAnswer) *abi.InvestigateArtifact {
	t.Helper()
	a, failure := seeker{func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure) { return source, nil }}.play(r)
	if failure != nil {
		t.Fatal(failure)
	}
	return a.Investigate
}

func refs(v *abi.InvestigateArtifact) []string {
	var out []string
	for i := range v.Evidence {
		out = append(out, v.Evidence[i].SourceRef)
	}
	return out
}

func TestInvestigate(t *testing.T) {
	t.Parallel()
	v := play(t, testkit.LightCase(abi.FamilyInvestigate, "    cart_test.go:9: wrong total\n"), abi.SourceAnswer{})
	if v.Classification != testkit.Product || v.Component != "cart_test.go" || v.ConvergenceScore < 0.5 || v.ConvergenceScore > 0.8 {
		t.Errorf("got %+v", *v)
	}
	if len(v.Evidence) != 1 || v.Evidence[0].Supports != testkit.Product || v.Evidence[0].Element != abi.Water {
		t.Errorf("evidence %+v", v.Evidence)
	}
	if !strings.Contains(v.Summary, "wrong total") || !strings.Contains(v.Summary, testkit.Product) {
		t.Errorf("summary %q", v.Summary)
	}
}

func TestContradictionsSettleNothing(t *testing.T) {
	t.Parallel()
	agreed := play(t, testkit.LightCase(abi.FamilyInvestigate, "wrong total\n"), abi.SourceAnswer{})
	torn := play(t, testkit.LightCase(abi.FamilyInvestigate, "wrong total\nthe disk is full\n"), abi.SourceAnswer{})
	if torn.ConvergenceScore >= agreed.ConvergenceScore {
		t.Errorf("torn %v, agreed %v", torn.ConvergenceScore, agreed.ConvergenceScore)
	}
}

// What an experiment has shown counts in the answer of whoever asked for it.
func TestExperimentsSpeak(t *testing.T) {
	t.Parallel()
	rerun := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	r := testkit.LightCase(abi.FamilyInvestigate, "    cart_test.go:9: wrong total\n")
	r.Profile = &abi.Profile{Outcomes: abitest.Outcomes([]string{testkit.Flake, testkit.Product, testkit.Automation}, abitest.Passing{Of: rerun, Given: []float64{0.5, 0.001, 0.001}})}
	r.Case.Experiments = []abi.ExperimentResult{{Experiment: rerun, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1}}
	r.File = &abi.LightFile{Feedback: &abi.RemandFeedback{}}
	if v := play(t, r, abi.SourceAnswer{}); v.Classification != testkit.Flake || !strings.Contains(v.Summary, "this tree, 5 times: 1 passed, 1 failed in the same way") {
		t.Errorf("got %+v", *v)
	}
}

// Each time the traversal comes back the seeker looks deeper.
func TestLoopsLookDeeper(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyInvestigate, logged)
	r.File.LoopsLeft = 2
	first := play(t, r, abi.SourceAnswer{})
	r.File.Investigate, r.File.LoopsLeft = first, 1
	second := play(t, r, abi.SourceAnswer{})
	r.File.Investigate, r.File.LoopsLeft = second, 0
	third := play(t, r, abi.SourceAnswer{})
	if len(first.Evidence) >= len(second.Evidence) || len(second.Evidence) > len(third.Evidence) {
		t.Errorf("%v, %v, %v", refs(first), refs(second), refs(third))
	}
}

func remanded(evidence []abi.Evidence, questions ...string) *abi.NodeRequest {
	r := testkit.LightCase(abi.FamilyInvestigate, logged)
	r.Case.Light = &abi.LightAnswer{Classification: testkit.Product, Confidence: 0.6}
	r.Case.Evidence = evidence
	r.File.Feedback = &abi.RemandFeedback{}
	for i, q := range questions {
		r.File.Feedback.Questions = append(r.File.Feedback.Questions, abi.Question{ID: string(rune('a' + i)), Question: q})
	}
	return r
}

func TestARemandBringsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	before := play(t, testkit.LightCase(abi.FamilyInvestigate, logged), abi.SourceAnswer{})
	v := play(t, remanded(before.Evidence, "Was the billing gateway reachable?"), abi.SourceAnswer{})
	for _, ref := range refs(before) {
		if slices.Contains(refs(v), ref) {
			t.Errorf("%s came before the court", ref)
		}
	}
	if !slices.Contains(refs(v), "seeker-answer:log:L8") {
		t.Errorf("%v doesn't have what was asked for", refs(v))
	}
	if !strings.HasPrefix(v.Summary, "On remand: ") {
		t.Errorf("summary %q", v.Summary)
	}
	// A second pass of the same traversal has brought it already, and it is new still.
	again := remanded(append(before.Evidence, v.Evidence...), "Was the billing gateway reachable?")
	again.File.Investigate = v
	if second := play(t, again, abi.SourceAnswer{}); !slices.Equal(refs(second), refs(v)) {
		t.Errorf("the second pass has %v, the first %v", refs(second), refs(v))
	}
}

func TestWithoutNewEvidenceNothingIsMoreSettled(t *testing.T) {
	t.Parallel()
	r := remanded(nil, "Was the gateway of billing reachable?")
	all := play(t, r, abi.SourceAnswer{})
	r.Case.Evidence = all.Evidence
	r.File.Investigate = &abi.InvestigateArtifact{Summary: "before", ConvergenceScore: 0.01, Evidence: []abi.Evidence{}}
	if v := play(t, r, abi.SourceAnswer{}); len(v.Evidence) != 0 || v.ConvergenceScore > 0.01 {
		t.Errorf("%v, convergence %v", refs(v), v.ConvergenceScore)
	}
}
