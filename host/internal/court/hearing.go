package court

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// severityRank orders severities; a challenge that is no stronger than one raised before is not new.
var severityRank = map[abi.Severity]int{abi.Fatal: 3, abi.Weakening: 2, abi.Minor: 1}

// hear holds one round: the prosecution argues, the defense rebuts, the bench
// notes. The record is the host's, and so is the word that it converged.
func (t *Trial) hear(node *pipeline.Node, visit int) (again bool, err error) {
	if err := needs(node, t.pass.Indictment != nil && t.pass.Brief != nil, "an indictment and a brief"); err != nil {
		return false, err
	}
	if visit == 1 {
		t.pass.Hearing = &abi.HearingRecord{MaxRounds: t.maxRounds(node)}
	}
	record := t.pass.Hearing
	round := abi.HearingRound{Round: len(record.Rounds) + 1}
	for seat, side := range [...]abi.Side{abi.Prosecution, abi.Defense, abi.Bench} {
		if err := t.turn(node, seat, side, &round); err != nil {
			return false, err
		}
	}
	record.Rounds = append(record.Rounds, round)
	record.Converged = len(round.NewChallenges) == 0 && len(round.NewItems) == 0
	t.result.Rounds++
	if err := t.keepItems(round.NewItems); err != nil {
		return false, err
	}
	_, err = t.keep(node, len(t.out.Passes)-1, "", &abi.Artifact{Hearing: snapshotOf(record)})
	return len(record.Rounds) < record.MaxRounds, err
}

func (t *Trial) maxRounds(node *pipeline.Node) int {
	return cmp.Or(node.Rounds, t.court.limits.MaxRounds)
}

// turn lets one persona speak, and writes what is new into the round.
func (t *Trial) turn(node *pipeline.Node, seat int, side abi.Side, round *abi.HearingRound) error {
	p := t.persona(node, seat)
	req := t.request(node, p)
	if len(t.pass.Hearing.Rounds) == 0 {
		req.Hearing = nil
	}
	req.Turn = &abi.TurnRequest{
		Round: round.Round, MaxRounds: t.pass.Hearing.MaxRounds, Speaker: side,
		ProsecutionArgument: round.ProsecutionArgument, DefenseRebuttal: round.DefenseRebuttal,
		NewChallenges: round.NewChallenges, NewItems: round.NewItems,
	}
	a, err := t.ask(node, p, req, func(a *abi.Artifact, c *abi.Collector) { t.check(a, p, req, c) })
	if err != nil {
		return err
	}
	turn := a.HearingTurn
	sign(turn.NewChallenges, p.ID)
	switch side {
	case abi.Prosecution:
		round.ProsecutionArgument, round.By.Prosecution = turn.Argument, p.ID
	case abi.Defense:
		round.DefenseRebuttal, round.By.Defense = turn.Argument, p.ID
	case abi.Bench:
		round.JudgeNotes, round.By.Bench = turn.Argument, p.ID
	}
	for _, ch := range turn.NewChallenges {
		if !t.raised(round, ch) {
			round.NewChallenges = append(round.NewChallenges, ch)
		}
	}
	for _, item := range turn.NewItems {
		if !t.onTable(round, &item) {
			round.NewItems = append(round.NewItems, item)
		}
	}
	_, err = t.keep(node, len(t.out.Passes)-1, p.ID, a)
	return err
}

// raised says whether the same persona raised a challenge of this item before that was as strong.
func (t *Trial) raised(round *abi.HearingRound, ch abi.Challenge) bool {
	seen := func(list []abi.Challenge) bool {
		return slices.ContainsFunc(list, func(old abi.Challenge) bool {
			return old.EvidenceIndex == ch.EvidenceIndex && old.By == ch.By && severityRank[old.Severity] >= severityRank[ch.Severity]
		})
	}
	return seen(t.pass.Contested) || seen(t.pass.Brief.Challenges) || seen(round.NewChallenges) ||
		slices.ContainsFunc(t.pass.Hearing.Rounds, func(r abi.HearingRound) bool { return seen(r.NewChallenges) })
}

// onTable says whether an item was there before.
func (t *Trial) onTable(round *abi.HearingRound, item *abi.IndictmentItem) bool {
	seen := func(list []abi.IndictmentItem) bool { return abi.HasItem(list, item.SourceRef, item.Content) }
	return seen(t.pass.Indictment.Evidence) || seen(round.NewItems) ||
		slices.ContainsFunc(t.pass.Hearing.Rounds, func(r abi.HearingRound) bool { return seen(r.NewItems) })
}

// stands says whether a new item is an item of the case, or cites a document and quotes it word for word. A party speaks for itself:
// it brings no statement of another source, and no text that stands nowhere.
func (t *Trial) stands(item *abi.IndictmentItem) bool {
	return item.IsOfCase(t.evidence) || t.docs.Cites(item.SourceRef, item.Content)
}

// keepItems merges what a round brought into the evidence of the state.
func (t *Trial) keepItems(items []abi.IndictmentItem) error {
	list := make([]abi.Evidence, len(items))
	for i := range items {
		list[i] = abi.Evidence{
			SourceRef: items[i].SourceRef, Content: items[i].Content, RelevanceConfidence: items[i].Weight,
			Supports: items[i].Supports, Element: items[i].Element,
		}
	}
	return t.gather("hearing", list)
}

// snapshotOf copies a record, so that the state's entry does not grow with it.
func snapshotOf(r *abi.HearingRecord) *abi.HearingRecord {
	return &abi.HearingRecord{Rounds: slices.Clone(r.Rounds), MaxRounds: r.MaxRounds, Converged: r.Converged}
}

// assign says which persona contests each item of an indictment, by the destructive cycle: the one whose element challenges the item's. The
// prosecution contests only what speaks against its charge and the judge nothing; these, and items that nobody's element challenges, go to
// the defense. The result has one persona for each item.
func assign(personas []*pipeline.Persona, defense *pipeline.Persona, charge string, items []abi.IndictmentItem) []*pipeline.Persona {
	assigned := make([]*pipeline.Persona, len(items))
	for i := range items {
		assigned[i] = contester(personas, defense, charge, &items[i])
	}
	return assigned
}

func contester(personas []*pipeline.Persona, defense *pipeline.Persona, charge string, item *abi.IndictmentItem) *pipeline.Persona {
	element := cmp.Or(item.Element, abi.Earth)
	for _, p := range personas {
		if p.Contests != element {
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
