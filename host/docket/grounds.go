package docket

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxGrounds is how many items tell what Light had to go by.
const maxGrounds = 5

// Grounds are the items that came with the case and support Light's first answer, the surest first, five at most.
func (t *Trial) Grounds() []abi.Evidence {
	if t.Result.Light == nil {
		return nil
	}
	return groundsOf(t.Case.Evidence, t.Result.Light.Classification)
}

// Grounds are the items that the walk gathered and that support its answer, the surest first, five at most.
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

// gathered says whether the Light path brought evidence.
func (t *Trial) gathered() bool {
	return slices.ContainsFunc(t.Light, func(p LightPass) bool { return len(p.Gathered) > 0 })
}
