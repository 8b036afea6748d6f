package sarif

import (
	"math"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// precision is what a tool's word for how sure it is means here: Light's confidence, and an item of evidence. All are set by hand,
// and not fitted to any log.
type precision struct {
	confidence float64
	supports   string
	weight     float64
}

// precisionOf knows CodeQL's words, which others use too; nil for any other.
func precisionOf(word string) *precision {
	switch word {
	case "very-high", "very high", "certain":
		return &precision{0.90, Real, 0.8}
	case "high":
		return &precision{0.80, Real, 0.7}
	case "medium":
		return &precision{0.65, "", 0}
	case "low":
		return &precision{0.50, FalsePositive, 0.6}
	}
	return nil
}

// byLevel is how much a level bears on whether a finding is real, as far as nothing else is known.
func byLevel(level string) float64 {
	switch level {
	case "error":
		return 0.70
	case "warning":
		return 0.60
	}
	return 0.50
}

// rankOf is the rank of the result or its rule, in [0, 100]; -1 for none.
func (f *finding) rankOf() float64 {
	for _, rank := range []float64{f.rank, f.of.rank} {
		if rank >= 0 && rank <= 100 && !math.IsNaN(rank) {
			return rank
		}
	}
	return -1
}

// light is the tool's own estimate.
func (f *finding) light(tool string) abi.LightAnswer {
	if tool == "" {
		tool = "the tool"
	}
	answer := func(confidence float64, says string) abi.LightAnswer {
		return abi.LightAnswer{Classification: Real, Confidence: confidence, Reasoning: tool + " " + says + "."}
	}
	sure := precisionOf(f.sure)
	switch rank := f.rankOf(); {
	case f.kind == "open" || f.kind == "review":
		return answer(0.50, "is not sure: the kind of the result is "+f.kind)
	case sure != nil:
		return answer(sure.confidence, "states a precision of "+f.sure)
	case rank >= 0:
		return answer(0.50+0.35*rank/100, "ranks it "+strconv.FormatFloat(rank, 'f', -1, 64)+" of 100")
	}
	return answer(byLevel(f.severe), "states the level "+f.severe+", and nothing of how sure it is")
}
