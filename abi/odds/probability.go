package odds

import (
	"math"
	"slices"
)

// Doubt is the probability, in the court, that none of the figures means
// anything: so much of an even guess is mixed into its probabilities, so that
// nothing is certain.
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

// Witness reads the confidence that somebody unknown states in one of k labels
// as that of a witness who is right with it and else errs evenly: nats for the
// label that he names, from 0, for what is no better than chance, to most.
func Witness(confidence float64, k int, most float64) float64 {
	if confidence >= 1 {
		return most
	}
	if confidence <= 0 || k < 2 {
		return 0
	}
	return min(max(math.Log(confidence*float64(k-1)/(1-confidence)), 0), most)
}
