// Package odds says what the figures of a profile mean: how far a source's statement, a stated confidence, the signals in a text and the
// results of experiments move the log-odds between labels. The personas weigh with it and fitting fits with it, so that both mean the same.
//
// All figures are natural logarithms (nats), one for each label in the order of the labels; only differences between labels count. All
// functions are pure and give the same figures everywhere.
package odds

import (
	"math"
	"slices"
)

// Doubt is the probability, in the court, that none of the figures means anything: so much of an even guess is mixed into its
// probabilities, so that nothing is certain.
const Doubt = 0.01

// Probabilities turns nats into probabilities that sum to 1, with a share of
// doubt, in [0, 1), of an even guess mixed in. nats must not be empty.
func Probabilities(nats []float64, doubt float64) []float64 {
	p := make([]float64, len(nats))
	copy(p, nats)
	probabilities(p, doubt)
	return p
}

// probabilities does the same in place.
func probabilities(p []float64, doubt float64) {
	largest := slices.Max(p)
	sum := 0.0
	for i, x := range p {
		p[i] = math.Exp(x - largest)
		sum += p[i]
	}
	even := doubt / float64(len(p))
	for i := range p {
		p[i] = (1-doubt)*p[i]/sum + even
	}
}

// Witness reads the confidence that somebody unknown states in one of k labels as that of a witness who is right with it and else errs
// evenly: nats for the label that he names, from 0, for what is no better than chance, to most.
func Witness(confidence float64, k int, most float64) float64 {
	if confidence >= 1 {
		return most
	}
	if confidence <= 0 || k < 2 {
		return 0
	}
	return min(max(math.Log(confidence*float64(k-1)/(1-confidence)), 0), most)
}

// Bounds without a profile, in nats. A witness whose reliability nobody has measured is never surer than 18 to 1 (2.9); several statements
// of one source corroborate each other up to 36 to 1 (3.6), since they share its errors. All sources for one label count as two of the
// surest (5.8): anybody can bring any number of sources. Light is on trial: its own statement counts at most 2.7 to 1, and so does all that
// a language model states, which anybody can talk to who writes a log.
const (
	UnmeasuredItem   = 2.9
	UnmeasuredSource = 3.6
	UnmeasuredAll    = 2 * UnmeasuredItem
	UnmeasuredLight  = 1.0
	UnmeasuredModel  = 1.0
)

// Unmeasured is what the word of a witness counts, in one of k labels, whose reliability nobody has measured: its nats at their own
// confidence. Those who state what they believe are surer than they are right, the more so the less sure they are, and together they share
// what misleads them.
func Unmeasured(confidence float64, k int) float64 {
	return confidence * Witness(confidence, k, UnmeasuredItem)
}

// Beyond is what a word for a label says beyond what puts that label ahead
// already, in nats. Against what speaks for another label it counts in full.
func Beyond(nats []float64, j int, word float64) float64 {
	return max(word-max(ahead(nats, j), 0), 0)
}

// ahead is by how many nats a label leads the next.
func ahead(nats []float64, j int) float64 {
	lead := math.Inf(1)
	for i, x := range nats {
		if i != j {
			lead = min(lead, nats[j]-x)
		}
	}
	return lead
}
