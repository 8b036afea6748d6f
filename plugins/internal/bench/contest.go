package bench

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/grounds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// vagueWords is how many words a statement needs to be a reason.
const vagueWords = 4

// Contest contests the items that fall to the bench's element: what is
// flawed, and what names a label but neither quotes nor gives a reason, unless a profile knows its source.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	items := grounds.Contested(r.Items)
	challenges := grounds.Of(items, r.Labels, r.Profile, func(*weigh.Testimony) bool { return true })
	var vague []abi.Challenge
	for i := range items {
		t := &items[i].Testimony
		if t.Supports != "" && !t.Known(r.Profile) && t.Quote == abi.QuoteUnclaimed && !text.Blank(t.Content) && len(words(t.Content)) < vagueWords {
			vague = append(vague, abi.Challenge{EvidenceIndex: items[i].Index, Challenge: "names a label, quotes nothing and gives no reason", Severity: abi.Weakening})
		}
	}
	return append(challenges, grounds.Unraised(vague, challenges)...), nil
}
