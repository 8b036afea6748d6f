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
	var indexes []int
	var items []abi.ContestItem
	for i, by := range assigned {
		if by == p {
			indexes = append(indexes, i)
			items = append(items, abi.ContestItem{EvidenceIndex: i, Item: indictment.Evidence[i], Exhibit: t.pass.Exhibits[i]})
		}
	}
	if len(items) == 0 || t.measured(items) {
		return nil
	}
	if t.expired() {
		return errTTL
	}
	req := &abi.ContestRequest{
		Persona: identity(p), ChargedDefectType: indictment.ChargedDefectType, Labels: t.subject.Labels, Items: items,
		Params: Params(node.With), Profile: t.withoutOutcomes(t.profile),
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

// measured says whether the profile has measured the source of every item, and no item quotes what stands nowhere. A profile states
// what the word of a measured source is worth whatever its items say, so that no challenge in a contest could change anything. Whoever
// wants to challenge such an item all the same does it in the brief or at the hearing. One unmeasured item brings all of the persona's
// items into the call, since an item can repeat or contradict a measured one.
func (t *Trial) measured(items []abi.ContestItem) bool {
	return !slices.ContainsFunc(items, func(i abi.ContestItem) bool {
		return i.Exhibit.Quote == abi.QuoteAbsent || odds.Source(t.profile, odds.SourceKey(i.Item.SourceRef)) == nil
	})
}
