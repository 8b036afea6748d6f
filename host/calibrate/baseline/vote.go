package baseline

import "math"

// vote lets Light and every witness vote for the label that it names, with a weight from its confidence. Only labels that
// somebody names can win. A tie goes to Light's answer if it is among the tied, else to the first of the case's labels.
func vote(weight func(confidence float64) float64) Rule {
	return func(c *Case) string {
		sums := make(map[string]float64, len(c.Statements)+1)
		sums[c.Light.Label] = weight(c.Light.Confidence)
		for _, s := range c.Statements {
			sums[s.Label] += weight(s.Confidence)
		}
		return mostOf(c, sums)
	}
}

// tieWidth is how near two sums are that are a tie: sums of floats depend on the order of their terms.
const tieWidth = 1e-9

// mostOf is the label with the highest score, by the rule for ties.
func mostOf(c *Case, scores map[string]float64) string {
	most := math.Inf(-1)
	for _, score := range scores {
		most = max(most, score)
	}
	if score, ok := scores[c.Light.Label]; ok && score >= most-tieWidth {
		return c.Light.Label
	}
	for _, label := range c.Labels {
		if score, ok := scores[label]; ok && score >= most-tieWidth {
			return label
		}
	}
	return c.Light.Label
}

func one(float64) float64 { return 1 }

func stated(confidence float64) float64 { return confidence }

// logOdds holds the confidence within [0.001, 0.999], as profiles do: nobody's word is infinite.
func logOdds(confidence float64) float64 {
	p := min(max(confidence, 0.001), 0.999)
	return math.Log(p / (1 - p))
}
