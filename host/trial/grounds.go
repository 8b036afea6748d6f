package trial

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxGrounds is how many items are listed as the grounds of an answer.
const maxGrounds = 5

// Grounds are the items of the case that support Light's first answer: at most five, by descending relevance.
func (t *Trial) Grounds() []abi.Evidence {
	if t.Result.Light == nil {
		return nil
	}
	return groundsOf(t.Case.Evidence, t.Result.Light.Classification)
}

// Grounds are the items that the pass gathered and that support its answer: at most five, by descending relevance.
func (p *LightPass) Grounds() []abi.Evidence {
	if p.Answer == nil {
		return nil
	}
	return groundsOf(p.Gathered, p.Answer.Classification)
}

func groundsOf(items []abi.Evidence, label string) []abi.Evidence {
	var list []abi.Evidence
	for i := range items {
		if e := &items[i]; e.Supports != "" && e.Supports == label {
			list = append(list, *e)
		}
	}
	slices.SortStableFunc(list, func(a, b abi.Evidence) int { return cmp.Compare(b.RelevanceConfidence, a.RelevanceConfidence) })
	return list[:min(len(list), maxGrounds)]
}

// Gathered says whether the Light path found evidence.
func (t *Trial) Gathered() bool {
	return slices.ContainsFunc(t.Light, func(p LightPass) bool { return len(p.Gathered) > 0 })
}
