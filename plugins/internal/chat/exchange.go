package chat

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
)

// most is how many challenges and lines one turn of a model may bring.
const most = 16

// Turn is the schema of a turn. A side may bring lines for labels; the bench brings none.
func Turn(labels []string) *Schema {
	fields := []Field{{Name: "argument", Schema: &Schema{Kind: String}, Meaning: "what you say in this round, and your rebuttal of what the others said"}, Challenges()}
	if len(labels) > 0 {
		fields = append(fields, Field{Name: "lines", Meaning: "quoted lines that you bring as evidence", Schema: &Schema{Kind: Array, Most: most, Item: &Schema{
			Kind: Object, Fields: []Field{number("finding", "number of the quoted line"), {Name: "label", Schema: &Schema{Kind: String, Enum: labels}}},
		}}})
	}
	return &Schema{Kind: Object, Fields: fields}
}

// Challenges are the part of a schema in which a model challenges items.
func Challenges() Field {
	return Field{Name: "challenges", Meaning: "items that a quoted line speaks against", Schema: &Schema{Kind: Array, Most: most, Item: &Schema{
		Kind: Object, Fields: []Field{
			number("item", "number of the item"), number("finding", "number of the quoted line that speaks against it"),
			{Name: "why", Schema: &Schema{Kind: String}},
			{Name: "severity", Schema: &Schema{Kind: String, Enum: []string{string(abi.Minor), string(abi.Weakening)}}},
		},
	}}}
}

func number(name, meaning string) Field {
	return Field{Name: name, Meaning: meaning, Schema: &Schema{Kind: Integer, Least: 0, Greatest: abi.MaxEvidence}}
}

// Numbers is a field with a list of numbers of items or lines.
func Numbers(name, meaning string) Field {
	return Field{Name: name, Meaning: meaning, Schema: &Schema{Kind: Array, Most: most, Item: &Schema{Kind: Integer, Least: 0, Greatest: abi.MaxEvidence}}}
}

// Challenged are the challenges of an answer that count: of items that want selects, each by a line that discovery quoted for another
// label, and none that repeats one of before. A line that a model chose counts if the model was measured: otherwise two models weaken any
// item, by a line that says nothing of it.
func Challenged(r *abi.NodeRequest, answer Value, want func(*abi.IndictmentItem) bool, before []abi.Challenge) []abi.Challenge {
	list := []abi.Challenge{}
	findings := proceeding.Findings(r)
	for _, c := range answer.Of("challenges").List() {
		i, j := c.Of("item").Int(), c.Of("finding").Int()
		if i >= len(r.Indictment.Evidence) || j >= len(findings) {
			continue
		}
		item, f := &r.Indictment.Evidence[i], &findings[j]
		if !want(item) || f.Supports == "" || f.Supports == item.Supports || f.Source != "" && odds.Source(r.Profile, odds.SourceKey(f.Source)) == nil {
			continue
		}
		why := c.Of("why").Text()
		list = append(list, abi.Challenge{
			EvidenceIndex: i, Severity: abi.Severity(c.Of("severity").Text()),
			Challenge: Said(r, why+" (finding "+strconv.Itoa(j)+" for "+f.Supports+": "+strconv.Quote(f.Quote)+")"),
		})
	}
	return proceeding.Unraised(list, before)
}

// Speak adds a model's turn to a side's own. A line is brought for a label that want selects, where discovery quoted it for that label
// or for none.
func Speak(r *abi.NodeRequest, turn *abi.HearingTurn, answer Value, wantItem func(*abi.IndictmentItem) bool, wantLabel func(string) bool) {
	turn.Argument = proceeding.Join(turn.Argument, Said(r, answer.Of("argument").Text()))
	before := append(proceeding.Challenges(r), turn.NewChallenges...)
	turn.NewChallenges = append(turn.NewChallenges, Challenged(r, answer, wantItem, before)...)
	findings := proceeding.Findings(r)
	for _, l := range answer.Of("lines").List() {
		j, label := l.Of("finding").Int(), l.Of("label").Text()
		if j >= len(findings) || !wantLabel(label) || findings[j].Supports != "" && findings[j].Supports != label {
			continue
		}
		f := &findings[j]
		item := abi.IndictmentItem{SourceRef: f.Document, Content: f.Quote, Weight: f.Strength, Supports: label}
		if !abi.HasItem(slices.Concat(turn.NewItems, proceeding.NewItems(r), r.Indictment.Evidence), f.Document, f.Quote) {
			turn.NewItems = append(turn.NewItems, item)
		}
	}
}

// Stands says whether evidence whose words the host has found speaks for a label: an item of the indictment that quotes a document and
// is not challenged fatally, or a line that discovery quoted. A line that a model chose is no evidence for what a model decides.
func Stands(r *abi.NodeRequest, label string, items, findings []Value) bool {
	fatal := func(i int) bool {
		for _, c := range proceeding.Indicted(r).Shown(proceeding.Challenges(r)) {
			if c.EvidenceIndex == i && c.Severity == abi.Fatal {
				return true
			}
		}
		return false
	}
	for _, v := range items {
		for j := range r.Exhibits {
			x := &r.Exhibits[j]
			if x.EvidenceIndex == v.Int() && x.Quote == abi.QuoteStands && v.Int() < len(r.Indictment.Evidence) &&
				r.Indictment.Evidence[v.Int()].Supports == label && !fatal(v.Int()) {
				return true
			}
		}
	}
	quoted := proceeding.Findings(r)
	for _, v := range findings {
		if v.Int() < len(quoted) && quoted[v.Int()].Supports == label && quoted[v.Int()].Source == "" {
			return true
		}
	}
	return false
}

// Usual is what a turn is asked where the prompt file has no sections.
const Usual = `Labels: {labels}. The charge is {charge}.
Items of the indictment:
{items}
Lines that discovery quoted:
{findings}
Challenges so far:
{challenges}
What was said so far:
{hearing}
Round {round}.`
