package record

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
)

// auditResult is what is checked of an audit's result. Its other fields are the business of those who wrote it.
type auditResult struct {
	GlobalScore *float64 `json:"global_score"`
	Results     []struct {
		CriterionID            string  `json:"criterion_id"`
		Weight                 float64 `json:"weight"`
		NumericScore           int     `json:"numeric_score"`
		SecurityViolationFound bool    `json:"security_violation_found"`
	} `json:"results"`
}

// rounding is how far a score of one decimal may be from the mean that it was rounded from.
const rounding = 0.05 + 1e-9

// checkReport rejects two results of one criterion, and a global score that is not the weighted mean of the results (SPEC.md,
// audit_report). Nil is no report.
func checkReport(data json.RawMessage) error {
	if data == nil {
		return nil
	}
	var a auditResult
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("its result: %w", err)
	}
	if a.GlobalScore == nil {
		return nil // an audit that failed has no score
	}
	seen := map[string]bool{}
	var sum, weights float64
	for _, r := range a.Results {
		if seen[r.CriterionID] {
			return fmt.Errorf("its result has two results of the criterion %q", r.CriterionID)
		}
		seen[r.CriterionID] = true
		counted := r.NumericScore
		if r.SecurityViolationFound {
			counted = min(counted, abi.SecurityCap)
		}
		sum += r.Weight * float64(counted)
		weights += r.Weight
	}
	mean := 0.0
	if weights > 0 {
		mean = sum / weights
	}
	if !(math.Abs(*a.GlobalScore-mean) <= rounding) { // NaN is rejected, too
		return fmt.Errorf("its result has the global score %v, and the weighted mean of its results is %.2f", *a.GlobalScore, mean)
	}
	return nil
}
