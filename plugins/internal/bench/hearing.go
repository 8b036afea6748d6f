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
	fresh := proceeding.Indicted(r).Object(before, void)
	return &abi.HearingTurn{
		Argument:      proceeding.Join(exhibits(r), challenged(append(before, fresh...)), round(r, fresh)),
		NewChallenges: fresh,
		NewItems:      []abi.IndictmentItem{},
	}
}

func exhibits(r *abi.NodeRequest) string {
	var stands, absent proceeding.Listing
	for i := range r.Exhibits {
		switch x := &r.Exhibits[i]; x.Quote {
		case abi.QuoteStands:
			stands.Cite(r.Indictment.Evidence, x.EvidenceIndex)
		case abi.QuoteAbsent:
			absent.Cite(r.Indictment.Evidence, x.EvidenceIndex)
		case abi.QuoteUnclaimed:
		}
	}
	return "Of " + text.Count(len(r.Indictment.Evidence), "item") + ": " +
		counted("in the documents", &stands) + ", " + counted("quoting what stands nowhere", &absent) + ", " +
		text.Int(max(0, len(r.Indictment.Evidence)-stands.Len-absent.Len)) + " without a quote."
}

func counted(what string, cited *proceeding.Listing) string {
	if cited.Len == 0 {
		return "0 " + what
	}
	return text.Int(cited.Len) + " " + what + " (" + cited.String() + ")"
}

func challenged(all []abi.Challenge) string {
	if len(all) == 0 {
		return "No challenges so far."
	}
	fatal, weakening, minor := 0, 0, 0
	for i := range all {
		switch all[i].Severity {
		case abi.Fatal:
			fatal++
		case abi.Weakening:
			weakening++
		case abi.Minor:
			minor++
		}
	}
	return "Challenges so far: " + text.Int(fatal) + " fatal, " + text.Int(weakening) + " weakening, " + text.Int(minor) + " minor."
}

func round(r *abi.NodeRequest, fresh []abi.Challenge) string {
	n := len(r.Turn.NewChallenges) + len(fresh)
	if n+len(r.Turn.NewItems) == 0 {
		return "Round " + text.Int(r.Turn.Round) + " brought nothing new."
	}
	var brought proceeding.Listing
	if n > 0 {
		brought.Add(text.Count(n, "challenge"))
	}
	if items := len(r.Turn.NewItems); items > 0 {
		brought.Add(text.Count(items, "item"))
	}
	return brought.Sentence("Round " + text.Int(r.Turn.Round) + " brought ")
}
