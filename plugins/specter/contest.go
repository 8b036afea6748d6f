package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/grounds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// sure is the stated confidence from which an item should show what it rests on.
const sure = 0.95

// contestBrittle contests the items that fall to the arbiter's element: what
// is flawed, and what is precise but brittle, sure without a quote.
func contestBrittle(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	items := grounds.Contested(r.Items)
	challenges := grounds.Of(items, r.Labels, func(*weigh.Testimony) bool { return true })
	var brittle []abi.Challenge
	for i := range items {
		t := &items[i].Testimony
		if t.Supports != "" && t.Quote == abi.QuoteUnclaimed && t.Confidence >= sure {
			brittle = append(brittle, abi.Challenge{EvidenceIndex: items[i].Index, Challenge: "states " + text.Share(t.Confidence) + " and quotes nothing that shows it", Severity: abi.Minor})
		}
	}
	return append(challenges, grounds.Unraised(brittle, challenges)...), nil
}
