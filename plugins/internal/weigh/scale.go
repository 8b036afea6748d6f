package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Nothing is how many nats are as good as none: odds of 6 to 5.
const Nothing = 0.2

// Of is the probability of a label, 0 for one that the case doesn't have.
func (s *Scale) Of(label string) float64 {
	if i := slices.Index(s.Labels, label); i >= 0 {
		return s.Posterior[i]
	}
	return 0
}

// Speaks is what of the evidence speaks for a label, in nats.
func (s *Scale) Speaks(label string) float64 {
	if i := slices.Index(s.Labels, label); i >= 0 {
		return s.Support[i]
	}
	return 0
}

// Top is the most probable label; of equal ones the preferred, then the first.
func (s *Scale) Top(preferred string) (label string, p float64) {
	label, p = preferred, s.Of(preferred)
	for i, l := range s.Labels {
		if s.Posterior[i] > p {
			label, p = l, s.Posterior[i]
		}
	}
	return label, p
}

// Rival is the most probable label besides the given one that any evidence speaks
// for; ok is false where there is none.
func (s *Scale) Rival(label string) (rival string, p float64, ok bool) {
	for i, l := range s.Labels {
		if l != label && s.Posterior[i] > p && s.Support[i] > Nothing {
			rival, p, ok = l, s.Posterior[i], true
		}
	}
	return rival, p, ok
}

// Weight gives an item's nats as a share of the most that one item may count.
func Weight(nats float64) float64 { return min(nats/odds.UnmeasuredItem, 1) }
