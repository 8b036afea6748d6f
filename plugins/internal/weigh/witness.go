package weigh

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Caps without a profile, in nats. A witness whose reliability nobody has
// measured is never surer than 18 to 1 (2.9); several statements of one source
// corroborate each other up to 36 to 1 (3.6), since they share its errors.
// Light is on trial here: its own statement counts at most 2.7 to 1.
const (
	itemCap      = 2.9
	oneSourceCap = 3.6
	lightCap     = 1.0
)

// unmeasured is what the word of a witness counts whose reliability nobody has
// measured: its nats at their own confidence. Those who state what they believe
// are surer than they are right, the more so the less sure they are, and together
// they share what misleads them.
func unmeasured(m *Matter, confidence float64) float64 {
	return confidence * odds.Witness(confidence, len(m.Labels), itemCap)
}

// addLight adds Light's own statement. One that nobody measured rests on the
// evidence that lies here: it is no second observation beside what speaks for
// its label already, and counts by what it says beyond that. Against what
// speaks for another label it counts in full.
func addLight(to []float64, m *Matter) {
	if m.Light == nil {
		return
	}
	says, stated := m.Light.Classification, m.Light.Confidence
	if m.Profile != nil && m.Profile.Light != nil {
		v := make([]float64, len(m.Labels))
		odds.AddStatement(v, m.Labels, m.Profile.Light, says, stated)
		odds.Limit(v, m.Profile.Light.Cap)
		for j, x := range v {
			to[j] += x
		}
		return
	}
	for j, label := range m.Labels {
		if label == says {
			to[j] += Beyond(to, j, odds.Witness(stated, len(m.Labels), lightCap))
		}
	}
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

// lift adds to each label how far v lifts it above the one that it lifts least.
func lift(to, v []float64) {
	least := slices.Min(v)
	for j, x := range v {
		to[j] += x - least
	}
}
