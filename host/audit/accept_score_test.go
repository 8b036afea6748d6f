package audit_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func result(id, category string, score int) abi.CriterionResult {
	return abi.CriterionResult{CriterionID: id, Category: category, NumericScore: score}
}

func violated(r abi.CriterionResult) abi.CriterionResult {
	r.SecurityViolationFound = true
	return r
}

func TestAccept_FR6_GlobalScore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		results []abi.CriterionResult
		weights audit.Weights
		want    float64
	}{
		"no results":                       {nil, audit.Weights{}, 0},
		"one":                              {[]abi.CriterionResult{result("a", "x", 4)}, audit.Weights{}, 4},
		"equal weights":                    {[]abi.CriterionResult{result("a", "x", 4), result("b", "y", 5)}, audit.Weights{}, 4.5},
		"a half is rounded up":             {[]abi.CriterionResult{result("a", "", 3), result("b", "", 3), result("c", "", 3), result("d", "", 4)}, audit.Weights{}, 3.3},
		"a third is not":                   {[]abi.CriterionResult{result("a", "", 3), result("b", "", 3), result("c", "", 4)}, audit.Weights{}, 3.3},
		"the default categories":           {[]abi.CriterionResult{result("a", "Architecture", 5), result("b", "Security", 2), result("c", "Performance", 4), result("d", "Documentation", 3), result("e", "Style", 1)}, audit.Weights{}, 3.0}, // (7.5+4+4.8+3+1)/6.7 = 3.0298
		"categories in any case":           {[]abi.CriterionResult{result("a", "SECURITY", 5), result("b", "x", 2)}, audit.Weights{}, 4},                                                                                                       // 12/3
		"a category of another weight":     {[]abi.CriterionResult{result("a", "Security", 5), result("b", "x", 2)}, audit.Weights{Categories: map[string]float64{"security": 0.5, "x": 1.5}}, 2.8},                                            // 5.5/2 = 2.75
		"decimals that no float has":       {[]abi.CriterionResult{result("a", "p", 1), result("b", "q", 2)}, audit.Weights{Categories: map[string]float64{"p": 0.55, "q": 0.45}}, 1.5},                                                        // 1.45 exactly
		"a criterion of another weight":    {[]abi.CriterionResult{result("a", "Security", 5), result("b", "x", 2)}, audit.Weights{Criteria: map[string]float64{"b": 4}}, 3},                                                                   // 18/6
		"a violation counts three at most": {[]abi.CriterionResult{violated(result("a", "x", 5)), result("b", "x", 5)}, audit.Weights{}, 4},
		"a violation lifts nothing":        {[]abi.CriterionResult{violated(result("a", "x", 1)), result("b", "x", 5)}, audit.Weights{}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check.Equal(t, audit.GlobalScore(tc.results, &tc.weights), tc.want)
			for range 20 {
				rand.Shuffle(len(tc.results), func(i, j int) { tc.results[i], tc.results[j] = tc.results[j], tc.results[i] })
				must.Equal(t, audit.GlobalScore(tc.results, &tc.weights), tc.want, "in another order")
			}
		})
	}
}

func TestAccept_FR6_AGivenScoreThatDisagreesIsRejected(t *testing.T) {
	t.Parallel()
	report := &abi.AuditReport{Results: []abi.CriterionResult{result("a", "x", 4), violated(result("b", "Security", 5))}}
	for given, fine := range map[float64]bool{3.3: true, 3.4: false, 4.7: false, 0: false, 3.33: false} { // (4+2*3)/3
		report.GlobalScore = given
		err := audit.CheckReport(report, &audit.Weights{})
		check.Equal(t, fine, err == nil, given, err)
		var invalid *abi.ValidationError
		if err != nil && (!errors.As(err, &invalid) || invalid.Problems[0].Code != abi.CodeGlobalScore || invalid.Problems[0].Path.String() != "global_score") {
			t.Errorf("%v: %v", given, err)
		}
	}
	must.Do(t, audit.CheckReport(&abi.AuditReport{}, &audit.Weights{}), "no results and 0.0")
}
