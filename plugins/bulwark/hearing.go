package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/grounds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// note keeps the notes of a round: which quotes stand, what was challenged,
// what is new. The bench argues for no side; it challenges only the items
// whose quote stands nowhere or that say nothing, where no side did.
func note(r *abi.NodeRequest) *abi.HearingTurn {
	before := proceeding.Challenges(r)
	void := func(t *weigh.Testimony) bool { return t.Quote == abi.QuoteAbsent || text.Blank(t.Content) }
	fresh := grounds.Unraised(grounds.Of(grounds.Items(r.Indictment, r.Exhibits), r.Case.Labels, void), before)
	return &abi.HearingTurn{
		Argument:      proceeding.Join(exhibits(r), challenged(append(before, fresh...)), round(r, fresh)),
		NewChallenges: fresh,
		NewItems:      []abi.IndictmentItem{},
	}
}

func exhibits(r *abi.NodeRequest) string {
	var stands, absent []string
	for i := range r.Exhibits {
		cited := proceeding.Cite(r.Indictment.Evidence, r.Exhibits[i].EvidenceIndex)
		switch r.Exhibits[i].Quote {
		case abi.QuoteStands:
			stands = append(stands, cited)
		case abi.QuoteAbsent:
			absent = append(absent, cited)
		case abi.QuoteUnclaimed:
		}
	}
	out := "Of " + text.Count(len(r.Indictment.Evidence), "item") + " " + text.Int(len(stands)) + " stand in the documents"
	if len(stands) > 0 {
		out += " (" + proceeding.List(stands) + ")"
	}
	if len(absent) > 0 {
		out += ", " + text.Int(len(absent)) + " quote what stands nowhere (" + proceeding.List(absent) + ")"
	}
	return out + "; " + text.Int(max(0, len(r.Indictment.Evidence)-len(stands)-len(absent))) + " claim no quote."
}

func challenged(all []abi.Challenge) string {
	count := make(map[abi.Severity]int)
	for i := range all {
		count[all[i].Severity]++
	}
	return "Challenges so far: " + text.Int(count[abi.Fatal]) + " fatal, " + text.Int(count[abi.Weakening]) + " weakening, " +
		text.Int(count[abi.Minor]) + " minor."
}

func round(r *abi.NodeRequest, fresh []abi.Challenge) string {
	n := len(r.Turn.NewChallenges) + len(fresh)
	if n+len(r.Turn.NewItems) == 0 {
		return "Round " + text.Int(r.Turn.Round) + " brought nothing new."
	}
	return "Round " + text.Int(r.Turn.Round) + " brought " + text.Count(n, "challenge") + " and " + text.Count(len(r.Turn.NewItems), "item") + "."
}
