package weigh

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
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

// witnessNats reads a stated confidence among k labels as a log-likelihood.
func witnessNats(confidence float64, k int, most float64) float64 {
	if confidence >= 1 {
		return most
	}
	if confidence <= 0 || k < 2 {
		return 0
	}
	return min(max(math.Log(confidence*float64(k-1)/(1-confidence)), 0), most)
}

// SourceKey is a source_ref up to its first ':' or '#': what a profile and the
// caps know a source by.
func SourceKey(ref string) string {
	if i := strings.IndexAny(ref, ":#"); i >= 0 {
		return ref[:i]
	}
	return ref
}

func source(p *abi.Profile, key string) *abi.SourceReliability {
	if p == nil {
		return nil
	}
	for i := range p.Sources {
		if p.Sources[i].Source == key {
			return &p.Sources[i]
		}
	}
	return nil
}

// addTable adds share of what a known source's saying tells of the labels. A
// saying that the table doesn't have tells nothing; a label that a saying
// doesn't list gets the mean of those it lists.
func addTable(to []float64, labels []string, s *abi.SourceReliability, says string, share float64) {
	for i := range s.Sayings {
		if s.Sayings[i].Says != says {
			continue
		}
		given := s.Sayings[i].Given
		if len(given) == 0 {
			return
		}
		mean := 0.0
		for j := range given {
			mean += math.Log(given[j].Weight)
		}
		mean /= float64(len(given))
		for j, label := range labels {
			to[j] += share * (logWeight(given, label, mean) - mean)
		}
		return
	}
}

func logWeight(list []abi.LabelWeight, label string, fallback float64) float64 {
	for i := range list {
		if list[i].Label == label {
			return math.Log(list[i].Weight)
		}
	}
	return fallback
}

// addBaseRates adds the logs of the base rates; a label without one gets the
// smallest that is listed.
func addBaseRates(to []float64, labels []string, p *abi.Profile) {
	if p == nil || len(p.BaseRates) == 0 {
		return
	}
	least := math.Inf(1)
	for i := range p.BaseRates {
		least = min(least, math.Log(p.BaseRates[i].Weight))
	}
	for j, label := range labels {
		to[j] += logWeight(p.BaseRates, label, least)
	}
}

// addLight adds Light's own statement, as one witness among others.
func addLight(to []float64, m *Matter) {
	if m.Light == nil {
		return
	}
	stated, most := m.Light.Confidence, lightCap
	if m.Profile != nil && m.Profile.Light != nil {
		stated, most = corrected(stated, m.Profile.Light), itemCap
	}
	for j, label := range m.Labels {
		if label == m.Light.Classification {
			to[j] += witnessNats(stated, len(m.Labels), most)
		}
	}
}

// corrected applies a logit map, keeping away from certainty.
func corrected(stated float64, l *abi.LogitMap) float64 {
	stated = min(max(stated, 0.001), 0.999)
	z := l.Offset + l.Slope*math.Log(stated/(1-stated))
	return 1 / (1 + math.Exp(-z))
}

// limit scales v so that no two labels lie further apart than most.
func limit(v []float64, most float64) {
	if r := spread(v); r > most {
		for i := range v {
			v[i] *= most / r
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

// spread is how far v moves two labels apart.
func spread(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	least, largest := v[0], v[0]
	for _, x := range v {
		least, largest = min(least, x), max(largest, x)
	}
	return largest - least
}
