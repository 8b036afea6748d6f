package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

func earlier(id, classification string, confidence, similarity float64) abi.PriorCase {
	return abi.PriorCase{CaseID: id, Classification: classification, Status: "affirmed", Confidence: confidence, Similarity: similarity, Seen: 2, Confirmed: true}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	fixed := earlier("c", testkit.Product, 0.9, 1)
	fixed.Status = "fixed"
	flaky := fixed
	flaky.Classification = testkit.Flake
	back := earlier("c", testkit.Product, 0.9, 1)
	back.Absent = 2
	backTest, backFlake, alike, decided := back, back, back, earlier("c", testkit.Flake, 0.9, 1)
	decided.Confirmed = false
	backTest.Classification, backFlake.Classification, alike.Similarity = testkit.Automation, testkit.Flake, 0.9
	for _, tc := range []struct {
		name       string
		prior      []abi.PriorCase
		match      bool
		id         string
		confidence float64
		regression bool
	}{
		{name: "an empty casebook"},
		{name: "the same fingerprint", prior: []abi.PriorCase{earlier("c", testkit.Flake, 0.9, 1)}, match: true, id: "c", confidence: 0.9},
		{name: "what nobody confirmed is not gone by alone", prior: []abi.PriorCase{decided}, match: true, id: "c", confidence: 0.79},
		{name: "a near one counts less", prior: []abi.PriorCase{earlier("c", testkit.Flake, 0.9, 0.9)}, match: true, id: "c", confidence: 0.9 * 0.9 * 0.8},
		{name: "without a verdict", prior: []abi.PriorCase{earlier("c", "", 0.9, 1)}},
		{name: "a label that this case does not have", prior: []abi.PriorCase{earlier("c", "pb999", 0.9, 1)}},
		{
			name: "two verdicts on one fingerprint", match: true, id: "c", confidence: 0.45,
			prior: []abi.PriorCase{earlier("c", testkit.Flake, 0.9, 1), earlier("d", testkit.Product, 0.9, 1)},
		},
		{
			name: "the same verdict again", match: true, id: "c", confidence: 0.9,
			prior: []abi.PriorCase{earlier("c", testkit.Flake, 0.9, 1), earlier("d", testkit.Flake, 0.9, 1)},
		},
		{name: "a product bug that was fixed is back", prior: []abi.PriorCase{fixed}, match: true, id: "c", confidence: 0.9, regression: true},
		{name: "a product bug that was gone is back", prior: []abi.PriorCase{back}, match: true, id: "c", confidence: 0.9, regression: true},
		{name: "a test's bug that was gone is back", prior: []abi.PriorCase{backTest}, match: true, id: "c", confidence: 0.9, regression: true},
		{name: "flakes come and go", prior: []abi.PriorCase{backFlake}, match: true, id: "c", confidence: 0.9},
		{name: "what only looks alike is not back", prior: []abi.PriorCase{alike}, match: true, id: "c", confidence: 0.9 * 0.9 * 0.8},
		{name: "a product bug that never went away", prior: []abi.PriorCase{earlier("c", testkit.Product, 0.9, 1)}, match: true, id: "c", confidence: 0.9},
		{name: "what was fixed was no product bug", prior: []abi.PriorCase{flaky}, match: true, id: "c", confidence: 0.9},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a, failure := herald{func(abi.RecallQuery) ([]abi.PriorCase, *abi.Failure) { return tc.prior, nil }}.play(testkit.LightCase(abi.FamilyRecall, ""))
			if failure != nil {
				t.Fatal(failure)
			}
			v := a.Recall
			if v.Match != tc.match || v.PriorCase != tc.id || math.Abs(v.Confidence-tc.confidence) > 1e-9 || v.IsRegression != tc.regression || v.Reasoning == "" {
				t.Errorf("got %+v", *v)
			}
		})
	}
}

func TestTriage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, log  string
		category   abi.SymptomCategory
		hypothesis string
		skip       bool
		candidates []string
		severity   abi.GapSeverity
	}{
		{"nothing", "all is well\n", abi.SymptomUnknown, "", false, []string{}, abi.GapMedium},
		{"a doubtful infrastructure symptom is investigated", "disk is full, took too long\n", abi.SymptomUnknown, testkit.Infrastructure, false, []string{}, abi.GapMedium},
		{"a doubtful product symptom is one", "    cart_test.go:9: wrong total\n", abi.SymptomProduct, testkit.Product, false, []string{"cart_test.go"}, abi.GapMedium},
		{
			"a crash", "panic: wrong total\n\nshop.Total()\n\t/src/shop/cart.go:12 +0x1\nshop.TestTotal()\n\t/src/shop/cart_test.go:7 +0x2\n",
			abi.SymptomProduct, testkit.Product, true,
			[]string{"/src/shop/cart.go"},
			abi.GapHigh,
		},
		{
			"two files of the product", "./a/cart.go:3:1: undefined: x\n./b/till.go:4:1: undefined: y\n",
			abi.SymptomProduct, testkit.Product, false,
			[]string{"a/cart.go", "b/till.go"},
			abi.GapHigh,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := triage(testkit.LightCase(abi.FamilyTriage, tc.log))
			if v.SymptomCategory != tc.category || v.ClassificationHypothesis != tc.hypothesis || v.SkipInvestigation != tc.skip ||
				!slices.Equal(v.Candidates, tc.candidates) || v.Severity != tc.severity || v.CascadeSuspected || v.ClockSkewSuspected {
				t.Errorf("got %+v", *v)
			}
		})
	}
}

// A symptom that skips the investigation is one from min_skip on.
func TestTriageSkipsWhenSure(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]abi.SymptomCategory{"the disk is full\n": abi.SymptomInfrastructure, "it took too long\n": abi.SymptomFlake} {
		r := testkit.LightCase(abi.FamilyTriage, log)
		if v := triage(r); v.SymptomCategory != abi.SymptomUnknown || v.SkipInvestigation {
			t.Errorf("%q at 0.7: %+v", log, *v)
		}
		least := 0.6
		r.Params = append(r.Params, abi.Param{Name: "min_skip", Number: &least})
		if v := triage(r); v.SymptomCategory != want || !v.SkipInvestigation {
			t.Errorf("%q with a lower bound: %+v", log, *v)
		}
	}
}

func TestCascadeAndClocks(t *testing.T) {
	t.Parallel()
	same := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("--- FAIL: Test" + string(rune('A'+i)) + " (0.00s)\n    x_test.go:" + string(rune('1'+i)) + ": cannot reach the database on port 1\n")
		}
		return b.String()
	}
	for _, tc := range []struct {
		log            string
		cascade, clock bool
	}{
		{same(3), true, false},
		{same(2), false, false},
		{"--- FAIL: TestA\n" + strings.Repeat("    cannot reach the database on port 1\n", 9), false, false},
		{"x509: certificate is not yet valid: current time is before\n", false, true},
	} {
		v := triage(testkit.LightCase(abi.FamilyTriage, tc.log))
		if v.CascadeSuspected != tc.cascade || v.ClockSkewSuspected != tc.clock {
			t.Errorf("%q: %+v", tc.log, *v)
		}
	}
}
