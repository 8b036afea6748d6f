package weigh

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Caps without a profile, in nats. A witness whose reliability nobody has
// measured is never surer than 18 to 1 (2.9); several statements of one source
// corroborate each other up to 36 to 1 (3.6), since they share its errors.
// Light is on trial here: its own word is worth at most 2.7 to 1.
const (
	itemCap      = 2.9
	oneSourceCap = 3.6
	lightCap     = 1.0
)

// addLight adds Light's own statement, as one witness among others.
func addLight(to []float64, m *Matter) {
	if m.Light == nil {
		return
	}
	says, stated := m.Light.Classification, m.Light.Confidence
	if m.Profile != nil && m.Profile.Light != nil {
		v := make([]float64, len(m.Labels))
		odds.AddSaying(v, m.Labels, m.Profile.Light, says, stated)
		odds.Limit(v, m.Profile.Light.Cap)
		for j, x := range v {
			to[j] += x
		}
		return
	}
	for j, label := range m.Labels {
		if label == says {
			to[j] += odds.Witness(stated, len(m.Labels), lightCap)
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
