package trial

import (
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Item is one item of an Indictment with everything that the trial found about it.
type Item struct {
	Index int
	abi.IndictmentItem
	// Stated is what the item's own source states, Quote what the host found in the documents; zero when unknown.
	Stated float64
	Quote  abi.QuoteStatus
	// Challenges of the contest, the brief and the hearing, each once.
	Challenges []abi.Challenge
	// Struck: a challenge of it was fatal.
	Struck bool
}

// Items gives the items of the pass's Indictment, in its order; none without an Indictment.
func (p *Pass) Items() []Item {
	if p.Indictment == nil {
		return nil
	}
	items := make([]Item, len(p.Indictment.Evidence))
	for i, e := range p.Indictment.Evidence {
		items[i] = Item{Index: i, IndictmentItem: e}
	}
	for _, x := range p.Exhibits {
		if x.EvidenceIndex >= 0 && x.EvidenceIndex < len(items) {
			items[x.EvidenceIndex].Stated, items[x.EvidenceIndex].Quote = x.RelevanceConfidence, x.Quote
		}
	}
	p.eachChallenge(func(c abi.Challenge) {
		if c.EvidenceIndex < 0 || c.EvidenceIndex >= len(items) {
			return
		}
		item := &items[c.EvidenceIndex]
		if slices.Contains(item.Challenges, c) {
			return
		}
		item.Challenges = append(item.Challenges, c)
		item.Struck = item.Struck || c.Severity == abi.Fatal
	})
	return items
}

// BriefChallenges are the challenges of the brief that the contest did not bring already.
func (p *Pass) BriefChallenges() []abi.Challenge {
	if p.Brief == nil {
		return nil
	}
	var own []abi.Challenge
	for _, c := range p.Brief.Challenges {
		if !slices.Contains(p.Contested, c) {
			own = append(own, c)
		}
	}
	return own
}

func (p *Pass) eachChallenge(visit func(abi.Challenge)) {
	for _, c := range p.Contested {
		visit(c)
	}
	if p.Brief != nil {
		for _, c := range p.Brief.Challenges {
			visit(c)
		}
	}
	if p.Hearing != nil {
		for _, round := range p.Hearing.Rounds {
			for _, c := range round.NewChallenges {
				visit(c)
			}
		}
	}
}

// Roles of personas, as pipelines name them.
const (
	roleProsecution = "prosecution"
	roleDefense     = "defense"
	roleBench       = "bench"
	roleJudge       = "judge"
)

// Cast names who spoke for each side.
type Cast struct{ Prosecution, Defense, Bench, Judge abi.Persona }

// Cast gives the personas of the trial by side. A side without a persona is named after its role.
func (t *Trial) Cast() Cast {
	c := Cast{
		Prosecution: abi.Persona{Name: "Prosecution"}, Defense: abi.Persona{Name: "Defense"},
		Bench: abi.Persona{Name: "Bench"}, Judge: abi.Persona{Name: "Judge"},
	}
	for _, id := range slices.Sorted(maps.Keys(t.Personas)) {
		p := t.Personas[id]
		switch p.Role {
		case roleProsecution:
			c.Prosecution = p
		case roleDefense:
			c.Defense = p
		case roleBench:
			c.Bench = p
		case roleJudge:
			c.Judge = p
		}
	}
	return c
}

// Persona finds a persona of the trial by its id or its name; an unknown one has only the name.
func (t *Trial) Persona(name string) abi.Persona {
	if p, ok := t.Personas[name]; ok {
		return p
	}
	for _, id := range slices.Sorted(maps.Keys(t.Personas)) {
		if t.Personas[id].Name == name {
			return t.Personas[id]
		}
	}
	return abi.Persona{Name: name}
}
