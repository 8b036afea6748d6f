package audit

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// SecurityCap is what a result with a security violation counts at most.
const SecurityCap = abi.SecurityCap

// Weights say how much each result counts: the weight of its category times
// that of its criterion. The zero value has the default categories alone.
type Weights struct {
	// Categories beside the default ones, in any case of letters.
	Categories map[string]float64
	// Criteria by id; 1 where there is none.
	Criteria map[string]float64
}

// ScoreWeights of the categories and criteria of the rubric.
func (r *Rubric) ScoreWeights() *Weights {
	w := &Weights{Categories: make(map[string]float64, len(r.Weights)), Criteria: make(map[string]float64, len(r.Criteria))}
	for _, c := range r.Weights {
		w.Categories[category(c.Category)] = c.Weight
	}
	for i := range r.Criteria {
		w.Criteria[r.Criteria[i].ID] = r.Criteria[i].Weight
	}
	return w
}

// category is what all spellings of a category have in common.
func category(name string) string { return strings.ToLower(name) }

// Category gives the weight of a category: what was configured, else the default: Architecture 1.5, Security 2.0, Performance 1.2,
// Documentation and all others 1.0.
func (w *Weights) Category(name string) float64 {
	name = category(name)
	if v, ok := w.Categories[name]; ok {
		return v
	}
	return cmp.Or(map[string]float64{"architecture": 1.5, "security": 2.0, "performance": 1.2}[name], 1.0)
}

// of a result, exactly: weights are decimals, and so a score that lies halfway is rounded as people expect.
func (w *Weights) of(r *abi.CriterionResult) *big.Rat {
	// The product of both weights, not an average of averages: that would make a category of one criterion as heavy as one of
	// ten, and splitting a criterion would change the meaning of the rubric twice.
	weight := decimal(w.Category(r.Category))
	if v, ok := w.Criteria[r.CriterionID]; ok {
		weight.Mul(weight, decimal(v))
	}
	return weight
}

// Weighing is how much a criterion counts in the global score.
type Weighing struct {
	// Weight of its category times its own.
	Weight float64
	// Share of Weight in the sum of all, in (0, 1].
	Share float64
}

// Weighings of the criteria, in the order of the rubric. The global score is the sum of the shares, each times its result,
// rounded half up to one decimal.
func (r *Rubric) Weighings() []Weighing {
	weights, total := r.ScoreWeights(), new(big.Rat)
	exact := make([]*big.Rat, len(r.Criteria))
	for i := range r.Criteria {
		c := &r.Criteria[i]
		exact[i] = weights.of(&abi.CriterionResult{CriterionID: c.ID, Category: c.Category})
		total.Add(total, exact[i])
	}
	list := make([]Weighing, len(exact))
	for i, weight := range exact {
		list[i].Weight, _ = weight.Float64()
		if total.Sign() > 0 {
			list[i].Share, _ = new(big.Rat).Quo(weight, total).Float64()
		}
	}
	return list
}

func decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok { // NaN or infinite, which Validate rejects
		return new(big.Rat)
	}
	return r
}

// GlobalScore is the weighted average of the results, rounded half up to one decimal. A result with a security violation counts at most
// [SecurityCap]. No results give 0. The order of the results makes no difference.
func GlobalScore(results []abi.CriterionResult, w *Weights) float64 {
	sum, total := new(big.Rat), new(big.Rat)
	for i := range results {
		weight := w.of(&results[i])
		total.Add(total, weight)
		sum.Add(sum, weight.Mul(weight, new(big.Rat).SetInt64(int64(results[i].Counted()))))
	}
	if total.Sign() <= 0 {
		return 0
	}
	tenths := sum.Quo(sum, total)
	tenths.Mul(tenths, big.NewRat(10, 1)).Add(tenths, big.NewRat(1, 2))
	whole := new(big.Int).Div(tenths.Num(), tenths.Denom())
	return float64(whole.Int64()) / 10
}

// CheckReport rejects a report whose global score is not the derived one, with a *abi.ValidationError.
func CheckReport(r *abi.AuditReport, w *Weights) error {
	var c abi.Collector
	if derived := GlobalScore(r.Results, w); r.GlobalScore != derived {
		c.Add(abi.CodeGlobalScore, "is "+strconv.FormatFloat(r.GlobalScore, 'g', -1, 64)+", the results give "+Score(derived), abi.Field("global_score"))
	}
	return c.Err()
}

// Score shows a global score: one decimal, always.
func Score(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
