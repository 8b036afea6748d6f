package trial

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

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

// Comparison says how the answers of a trial relate, without naming them: redaction may make different labels equal.
type Comparison struct {
	// Known: the right classification is known.
	Known bool
	// LightRight: Light's first answer is right; CourtRight: the final one is.
	LightRight, CourtRight bool
	// Flipped: the court named another label than Light's first answer.
	Flipped bool
	// BesideFlips: the candidate court, where one took part, ended the case with another status or another label.
	// BesideRight: its label is right.
	BesideFlips, BesideRight bool
}

// Compare relates the answers of a trial.
func (t *Trial) Compare() Comparison {
	if t.Compared != nil {
		return *t.Compared
	}
	r := &t.Result
	var c Comparison
	final := r.Final.Classification
	c.Flipped = r.Activated && r.Light != nil && final != "" && final != r.Light.Classification
	if t.Truth != nil && t.Truth.Classification != "" {
		c.Known = true
		c.LightRight = r.Light != nil && r.Light.Classification == t.Truth.Classification
		c.CourtRight = final == t.Truth.Classification
		c.BesideRight = t.Beside != nil && t.Beside.Result.Final.Classification == t.Truth.Classification
	}
	if t.Beside != nil {
		other := t.Beside.Result.Final
		c.BesideFlips = other.Status != r.Final.Status || other.Classification != final
	}
	return c
}

// LabelName is what people call a label: its name up to the first comma, or its whole name where another label shares that. A
// label without a name is called as it is.
func (t *Trial) LabelName(label string) string { return LabelName(t.LabelNames, label) }

// LabelName is what people call a label, of those with these names.
func LabelName(names map[string]string, label string) string {
	name := names[label]
	if name == "" {
		return label
	}
	short := shortName(name)
	whole := false
	for other, its := range names {
		if other == label || shortName(its) != short {
			continue
		}
		if its == name {
			return label // nothing but the label itself tells them apart
		}
		whole = true
	}
	if whole || short == "" {
		return name
	}
	return short
}

func shortName(name string) string {
	name, _, _ = strings.Cut(name, ",")
	return strings.TrimSpace(name)
}

// code is what a label looks like that no word of a text is.
var code = regexp.MustCompile(`[A-Za-z_]*[0-9][A-Za-z0-9_]*`)

// Named is a persona's text with the names of labels in place of labels that are codes, such as pb001. Other labels may be words.
func (t *Trial) Named(text string) string {
	if len(t.LabelNames) == 0 {
		return text
	}
	for label, name := range t.LabelNames { // what names both already
		for _, name := range [...]string{name, t.LabelName(label)} {
			text = strings.ReplaceAll(text, label+" ("+name+")", t.LabelName(label))
		}
	}
	return code.ReplaceAllStringFunc(text, func(word string) string {
		if !slices.Contains(t.Case.Labels, word) {
			return word
		}
		return t.LabelName(word)
	})
}
