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
	var list []abi.Evidence
	for i := range t.Case.Evidence {
		if e := &t.Case.Evidence[i]; e.Supports != "" && e.Supports == t.Result.Light.Classification {
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
