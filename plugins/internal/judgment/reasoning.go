package judgment

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// explain tells, behind an opening, what was weighed: the probabilities, the items behind each
// label with what they count in nats, the findings and the challenges.
func explain(opening string, r *abi.NodeRequest, scale *weigh.Scale, challenges []abi.Challenge) string {
	order := byProbability(scale)
	said := append(make([]string, 0, len(order)+8), opening, probabilities(scale, order))
	if p := r.Profile; p != nil && p.Temperature != nil {
		said = append(said, "All that was read is divided by the temperature "+text.Number(*p.Temperature)+".")
	}
	for _, i := range order {
		said = append(said, itemsFor(r, scale, scale.Labels[i]))
	}
	said = append(said, proceeding.Experimented(r.Case.Experiments, scale), findings(r), proceeding.Quarrel(r.Indictment.Evidence, challenges),
		unshown(len(proceeding.Challenges(r))-len(challenges)))
	return proceeding.Join(said...)
}

// unshown tells of challenges that don't count.
func unshown(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 challenge shows nothing that can be checked, and doesn't count."
	default:
		return text.Int(n) + " challenges show nothing that can be checked, and don't count."
	}
}

func probabilities(scale *weigh.Scale, order []int) string {
	var list proceeding.Listing
	for _, i := range order {
		list.Add(scale.Labels[i], " ", text.Share(scale.Posterior[i]))
	}
	return list.Sentence("Probabilities: ")
}

func byProbability(scale *weigh.Scale) []int {
	order := make([]int, len(scale.Labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scale.Posterior[b], scale.Posterior[a]) })
	return order
}

func itemsFor(r *abi.NodeRequest, scale *weigh.Scale, label string) string {
	var list proceeding.Listing
	for i := range r.Indictment.Evidence {
		if r.Indictment.Evidence[i].Supports == label {
			list.Cite(r.Indictment.Evidence, i, " (", text.Share(scale.Nats[i]), " nats)")
		}
	}
	return list.Sentence("For " + label + ": ")
}

func findings(r *abi.NodeRequest) string {
	var list proceeding.Listing
	for _, f := range proceeding.Findings(r) {
		if f.Supports != "" {
			list.Add(f.Supports, " in ", f.Document, " (", f.Observation, ")")
		}
	}
	return list.Sentence("Discovery: ")
}
