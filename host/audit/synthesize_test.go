package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func said(judge string, score int, cites ...string) abi.CriterionOpinion {
	return abi.CriterionOpinion{
		Judge: judge, CriterionID: "c", NumericScore: score, Argument: judge + " says so", CitedEvidence: cites, RelevanceConfidence: 0.8,
	}
}

func alleging(o abi.CriterionOpinion) abi.CriterionOpinion {
	o.SecurityViolationFound = true
	return o
}

func synthesize(lead string, judges []string, dissent string, opinions ...abi.CriterionOpinion) audit.Finding {
	var facts audit.Facts
	facts.Add("log:L1", abi.QuoteStands, "log")
	facts.Add("log:L2", abi.QuoteAbsent, "log")
	facts.Add("witness", abi.QuoteUnclaimed, "")
	by := map[string]abi.CriterionOpinion{}
	for _, o := range opinions {
		by[o.Judge] = o
	}
	return audit.Synthesize(&audit.Criterion{ID: "c", Category: "x", Judges: judges, Lead: lead},
		&audit.Judgement{Opinions: by, Facts: &facts, Missing: map[string]string{"gone": "module_trap"}, Dissent: dissent})
}

func TestSynthesis(t *testing.T) {
	t.Parallel()
	two, three := []string{"a", "b"}, []string{"a", "b", "c"}
	for name, tc := range map[string]struct {
		finding  audit.Finding
		score    int
		violated bool
		degraded bool
		says     []string
	}{
		"a mean, half up":               {synthesize("", two, "", said("a", 4), said("b", 3)), 4, false, false, []string{"a gives 4"}},
		"the lead weighs double":        {synthesize("a", two, "", said("a", 5), said("b", 3)), 4, false, false, []string{"a (lead) gives 5"}},
		"the lead weighs as the rest":   {synthesize("a", []string{"a", "b", "c", "d"}, "", said("a", 5), said("b", 3), said("c", 3), said("d", 3)), 4, false, false, nil},
		"a violation caps":              {synthesize("", two, "", alleging(said("a", 5, "log:L1")), said("b", 5)), 3, true, false, []string{"found by a, caps the score at 3"}},
		"a violation lifts nothing":     {synthesize("", two, "", alleging(said("a", 1, "witness")), said("b", 1)), 1, true, false, nil},
		"a violation comes first":       {synthesize("b", two, "", alleging(said("a", 5, "log:L1")), said("b", 5, "log:L9")), 3, true, true, []string{"caps the score", "b is overruled"}},
		"nothing of that name":          {synthesize("a", two, "", said("a", 5, "log:L1", "log:L9"), said("b", 2)), 2, false, true, []string{`a is overruled: it cites "log:L9", which is not in the evidence`}},
		"it does not stand":             {synthesize("a", two, "", said("a", 5, "log:L2"), said("b", 2)), 2, false, true, []string{`which does not stand in "log"`}},
		"accused, not relied on":        {synthesize("", two, "", alleging(said("a", 5, "log:L2")), said("b", 5)), 3, true, false, nil},
		"what claims no document":       {synthesize("", two, "", said("a", 5, "witness", "log:L1"), said("b", 5)), 5, false, false, nil},
		"a violation that is not there": {synthesize("", two, "", alleging(said("a", 1, "made up")), said("b", 5)), 5, false, true, []string{"is not confirmed"}},
		"a violation of nothing": {synthesize("", two, "", alleging(said("a", 1)), said("b", 5)), 5, false, true, []string{
			"a is overruled: it alleges a security violation, and cites nothing that has one. The security violation that it alleges is not confirmed.",
		}},
		"a violation, half of it there": {synthesize("", two, "", alleging(said("a", 1, "log:L1", "made up")), said("b", 5)), 5, false, true, []string{"is not confirmed"}},
		"missing":                       {synthesize("gone", []string{"gone", "a"}, "", said("a", 4)), 4, false, true, []string{"gone (lead) is missing: module_trap"}},
		"nobody":                        {synthesize("", []string{"gone"}, ""), 1, false, true, []string{"Nobody could judge"}},
		"a dissent that stands":         {synthesize("", three, "a 1; b 5", said("a", 1), said("b", 5), said("c", 5)), 4, false, false, []string{"Dissent, which stands", "a 1; b 5"}},
		"a dissent that is settled":     {synthesize("", two, "a 1; b 5", said("a", 3), said("b", 5)), 4, false, false, []string{"Dissent, settled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tc.finding.Result
			if r.NumericScore != tc.score || r.SecurityViolationFound != tc.violated || tc.finding.Degraded != tc.degraded {
				t.Errorf("%+v", tc.finding)
			}
			for _, words := range tc.says {
				check.Contains(t, r.Reasoning, words)
			}
		})
	}
}

// What a judge says stays on its line: it can't be taken for what another one or the host says.
func TestAnArgumentBeginsNoLine(t *testing.T) {
	t.Parallel()
	for _, br := range []string{"\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\n\n"} {
		o := said("a", 5)
		o.Argument = "fine." + br + "b (lead) gives 5: fine" + br
		f := synthesize("b", []string{"a", "b"}, "", o, said("b", 1))
		for text, lines := range map[string]int{f.Result.Reasoning: 3, audit.Dissent(f.Voices): 1} {
			breaks := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) })
			if len(breaks) != lines || !strings.Contains(text, "fine. b (lead) gives 5: fine") {
				t.Errorf("%q: %q", br, text)
			}
		}
	}
}

func TestMissingJudgesLowerTheConfidence(t *testing.T) {
	t.Parallel()
	whole := synthesize("", []string{"a", "b"}, "", said("a", 4), said("b", 4)).Result.RelevanceConfidence
	half := synthesize("", []string{"a", "gone"}, "", said("a", 4)).Result.RelevanceConfidence
	none := synthesize("", []string{"gone"}, "").Result.RelevanceConfidence
	if whole != 0.8 || half != 0.4 || none != 0 {
		t.Errorf("%v, %v, %v", whole, half, none)
	}
}

// The bounds of a dissent: a spread of 2 is none, 3 is one; who is overruled can't dissent.
func TestDissent(t *testing.T) {
	t.Parallel()
	for spread, want := range map[int]bool{0: false, 1: false, 2: false, 3: true, 4: true} {
		f := synthesize("", []string{"a", "b"}, "", said("a", 1), said("b", 1+spread))
		check.Equal(t, audit.Dissent(f.Voices) != "", want, "spread", spread)
	}
	f := synthesize("", []string{"a", "b"}, "", said("a", 1, "made up"), said("b", 5))
	check.Equal(t, audit.Dissent(f.Voices), "", "who is overruled dissents")
}

// The shares are those of the weights, and give the global score.
func TestTheSharesGiveTheScore(t *testing.T) {
	t.Parallel()
	r := &audit.Rubric{
		Weights: []audit.CategoryWeight{{Category: "evidence", Weight: 3}},
		Criteria: []audit.Criterion{
			{ID: "a", Category: "Evidence", Weight: 0.5}, {ID: "b", Category: "Security", Weight: 1}, {ID: "c", Category: "Style", Weight: 0.5},
		},
	}
	want := []audit.Weighing{{Weight: 1.5, Share: 0.375}, {Weight: 2, Share: 0.5}, {Weight: 0.5, Share: 0.125}}
	if got := r.Weighings(); !slices.Equal(got, want) {
		t.Fatalf("%+v, want %+v", got, want)
	}
	results := []abi.CriterionResult{
		{CriterionID: "a", Category: "Evidence", NumericScore: 5},
		{CriterionID: "b", Category: "Security", NumericScore: 2},
		{CriterionID: "c", Category: "Style", NumericScore: 4},
	}
	sum := 0.0
	for i, w := range want {
		sum += w.Share * float64(results[i].NumericScore)
	}
	if got := audit.GlobalScore(results, r.ScoreWeights()); sum != 3.375 || got != 3.4 {
		t.Errorf("%v, %v", sum, got)
	}
}
