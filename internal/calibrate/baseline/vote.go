package baseline

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Weight of a vote, by the stated confidence and the number of labels.
type Weight func(confidence float64, k int) float64

// Weights are those of the votes, by method.
func Weights() map[ID]Weight {
	return map[ID]Weight{PlainVote: one, ConfidenceVote: stated, LogOddsVote: logOdds}
}

// vote answers with the label that has most.
func vote(weight Weight) Rule {
	return func(c *Case) string {
		scores := make(map[string]float64, len(c.Labels))
		for j, sum := range c.Tally(weight) {
			scores[c.Labels[j]] = sum
		}
		return mostOf(c, scores)
	}
}

// Tally lets Light and every witness vote for the label that it names. It gives what each label of the case has, in their order.
func (c *Case) Tally(weight Weight) []float64 {
	sums := make([]float64, len(c.Labels))
	add := func(s *Statement) {
		for j, label := range c.Labels {
			if label == s.Label {
				sums[j] += weight(s.Confidence, len(c.Labels))
			}
		}
	}
	add(&c.Light)
	for i := range c.Statements {
		add(&c.Statements[i])
	}
	return sums
}

// tieWidth is how near two sums are that are a tie: sums of floats depend on the order of their terms.
const tieWidth = 1e-9

// mostOf is the label with the highest score. A tie goes to Light's answer if it is among the tied, else to the first of the
// case's labels.
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

func one(float64, int) float64 { return 1 }

func stated(confidence float64, _ int) float64 { return confidence }

// logOdds are those of a label against another one, where who states a confidence is right with that probability and errs evenly
// otherwise. Nobody's word is infinite: see [odds.Logit].
func logOdds(confidence float64, k int) float64 {
	return odds.Logit(confidence) + math.Log(float64(k-1))
}
