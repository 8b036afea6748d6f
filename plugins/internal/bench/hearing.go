package bench

import (
	"github.com/shadowcourt/shadowcourt/abi"
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
	fresh := proceeding.Object(r, before, void)
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
	return "Of " + text.Count(len(r.Indictment.Evidence), "item") + ": " +
		counted("in the documents", stands) + ", " + counted("quoting what stands nowhere", absent) + ", " +
		text.Int(max(0, len(r.Indictment.Evidence)-len(stands)-len(absent))) + " without a quote."
}

func counted(what string, cited []string) string {
	if len(cited) == 0 {
		return "0 " + what
	}
	return text.Int(len(cited)) + " " + what + " (" + proceeding.List(cited) + ")"
}

func challenged(all []abi.Challenge) string {
	if len(all) == 0 {
		return "No challenges so far."
	}
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
	var brought []string
	if n > 0 {
		brought = append(brought, text.Count(n, "challenge"))
	}
	if items := len(r.Turn.NewItems); items > 0 {
		brought = append(brought, text.Count(items, "item"))
	}
	return "Round " + text.Int(r.Turn.Round) + " brought " + proceeding.List(brought) + "."
}
