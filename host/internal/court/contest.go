package court

import (
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// assign says which persona contests each item of an indictment, by the
// destructive cycle: the one whose element challenges the item's. The
// prosecution contests only what speaks against its charge and the judge
// nothing; these, and items that nobody's element challenges, go to the
// defense. The result has one persona for each item.
func assign(personas []*pipeline.Persona, defense *pipeline.Persona, charge string, items []abi.IndictmentItem) []*pipeline.Persona {
	assigned := make([]*pipeline.Persona, len(items))
	for i := range items {
		assigned[i] = contester(personas, defense, charge, &items[i])
	}
	return assigned
}

func contester(personas []*pipeline.Persona, defense *pipeline.Persona, charge string, item *abi.IndictmentItem) *pipeline.Persona {
	element := item.Element
	if element == "" {
		element = abi.Earth
	}
	for _, p := range personas {
		if abi.Element(p.Contests) != element {
			continue
		}
		switch p.Role {
		case pipeline.RoleProsecution:
			if item.Supports != "" && item.Supports != charge {
				return p
			}
		case pipeline.RoleBench, pipeline.RoleDefense:
			return p
		case pipeline.RoleJudge, pipeline.RoleLight:
		}
	}
	return defense
}

// contest puts the items of the indictment to those who contest them, a call
// for each persona in the order of the pipeline, with its items alone.
func (t *Trial) contest(node *pipeline.Node) error {
	indictment := t.pass.Indictment
	assigned := assign(t.court.personas, t.court.defense, indictment.ChargedDefectType, indictment.Evidence)
	t.pass.Contested = nil
	for _, p := range t.court.personas {
		if err := t.contestItems(node, p, assigned); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trial) contestItems(node *pipeline.Node, p *pipeline.Persona, assigned []*pipeline.Persona) error {
	indictment := t.pass.Indictment
	req := &abi.ContestRequest{
		Persona: identity(p), ChargedDefectType: indictment.ChargedDefectType, Labels: t.subject.Labels,
		Params: Params(node.With), Profile: withoutTables(t.profile),
	}
	var indexes []int
	for i, by := range assigned {
		if by == p {
			indexes = append(indexes, i)
			req.Items = append(req.Items, abi.ContestItem{EvidenceIndex: i, Item: indictment.Evidence[i], Exhibit: t.pass.Exhibits[i]})
		}
	}
	if len(indexes) == 0 || t.measured(req.Items) {
		return nil
	}
	if t.expired() {
		return errTTL
	}
	challenges, err := t.contestBy(t.ttl, node, p, req, func(list []abi.Challenge, c *abi.Collector) {
		abi.CheckChallenges("challenges", list, len(indictment.Evidence), indexes, p.ID, nil, c)
	})
	if err != nil {
		return t.timed(err)
	}
	sign(challenges, p.ID)
	t.pass.Contested = append(t.pass.Contested, challenges...)
	entry := abi.ContestEntry{At: t.position(node, len(t.out.Passes)-1), Persona: p.ID, Challenges: challenges}
	if err := t.state.Adopt(&abi.Update{Contests: []abi.ContestEntry{entry}}); err != nil {
		return fmt.Errorf("merge the contest of node %q: %w", node.Name, err)
	}
	return nil
}

// measured says whether the profile has measured the source of each item, and none of them quotes what stands nowhere: what such an item
// is worth is known, whatever is said of it, so that a contest could change nothing.
func (t *Trial) measured(items []abi.ContestItem) bool {
	return !slices.ContainsFunc(items, func(i abi.ContestItem) bool {
		return i.Exhibit.Quote == abi.QuoteAbsent || odds.Source(t.profile, odds.SourceKey(i.Item.SourceRef)) == nil
	})
}
