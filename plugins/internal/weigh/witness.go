package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

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
			to[j] += odds.Beyond(to, j, odds.Witness(stated, len(m.Labels), odds.UnmeasuredLight))
		}
	}
}

// lift adds to each label how far v lifts it above the one that it lifts least.
func lift(to, v []float64) {
	least := slices.Min(v)
	for j, x := range v {
		to[j] += x - least
	}
}
