// Package grounds finds what an item of evidence can be challenged for. The
// personas share it: who may raise a ground, and against which items, is what
// sets them apart.
package grounds

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Item is an item that may be challenged, under its index in the indictment.
type Item struct {
	Index     int
	Testimony weigh.Testimony
}

// Items gives all of the indictment's items, as yet unchallenged.
func Items(v *abi.Indictment, exhibits []abi.Exhibit) []Item {
	testimony := weigh.FromIndictment(v.Evidence, exhibits, nil)
	items := make([]Item, len(testimony))
	for i := range testimony {
		items[i] = Item{Index: i, Testimony: testimony[i]}
	}
	return items
}

// Contested gives the items of a contest.
func Contested(list []abi.ContestItem) []Item {
	items := make([]Item, len(list))
	for i := range list {
		it, x := &list[i].Item, &list[i].Exhibit
		items[i] = Item{Index: list[i].EvidenceIndex, Testimony: weigh.Testimony{
			SourceRef: it.SourceRef, Content: it.Content, Supports: it.Supports, Element: it.Element,
			Confidence: x.RelevanceConfidence, Quote: x.Quote, Left: 1,
		}}
	}
	return items
}

// maxChallenges bounds what one call raises, so that its artifact stays within
// the limits however many items there are. What is beyond stays flawed for
// whoever weighs it.
const maxChallenges = 256

// Of gives at most one challenge for each item that want selects: its worst
// ground. Repetitions are sought among all items. An item whose source the
// profile knows is challenged only for a quote that is not there: its reliability was
// measured. Of more than 256 challenges the most
// severe stay.
func Of(items []Item, labels []string, p *abi.Profile, want func(*weigh.Testimony) bool) []abi.Challenge {
	challenges := all(items, labels, p, want)
	if len(challenges) > maxChallenges {
		slices.SortStableFunc(challenges, func(a, b abi.Challenge) int {
			return cmp.Compare(weigh.Left(a.Severity), weigh.Left(b.Severity))
		})
		challenges = challenges[:maxChallenges]
	}
	return challenges
}

func all(items []Item, labels []string, p *abi.Profile, want func(*weigh.Testimony) bool) []abi.Challenge {
	testimony := make([]weigh.Testimony, len(items))
	for i := range items {
		testimony[i] = items[i].Testimony
	}
	flaws := weigh.Flaws(testimony, p)
	challenges := []abi.Challenge{}
	for i := range items {
		t := &testimony[i]
		if !want(t) || flaws[i].Kind == weigh.Sound && t.Known(p) {
			continue
		}
		other := 0
		if flaws[i].Kind == weigh.Repeats || flaws[i].Kind == weigh.FitsTwo {
			other = flaws[i].Other
		}
		if why, severity := ground(t, flaws[i].Kind, &items[other], len(labels)); why != "" {
			challenges = append(challenges, abi.Challenge{EvidenceIndex: items[i].Index, Challenge: why, Severity: severity})
		}
	}
	return challenges
}

// Shown gives the challenges of items for which a ground can be found, and no more severe than it: whoever raises a challenge
// has to show something that the court can check, however loud they are.
func Shown(challenges []abi.Challenge, items []Item, labels []string, p *abi.Profile) []abi.Challenge {
	worst := make(map[int]abi.Severity)
	everything := func(*weigh.Testimony) bool { return true }
	for _, found := range append(all(items, labels, p, everything), Vague(items, p)...) {
		if old, ok := worst[found.EvidenceIndex]; !ok || weigh.Left(found.Severity) < weigh.Left(old) {
			worst[found.EvidenceIndex] = found.Severity
		}
	}
	shown := []abi.Challenge{}
	for _, ch := range challenges {
		severity, ok := worst[ch.EvidenceIndex]
		if !ok {
			continue
		}
		if weigh.Left(ch.Severity) < weigh.Left(severity) {
			ch.Severity = severity
		}
		shown = append(shown, ch)
	}
	return shown
}

// vagueWords is how many words a statement needs to be a reason.
const vagueWords = 4

// Vague challenges what names a label but neither quotes nor gives a reason, unless the profile knows its source.
func Vague(items []Item, p *abi.Profile) []abi.Challenge {
	var vague []abi.Challenge
	for i := range items {
		t := &items[i].Testimony
		if t.Supports != "" && !t.Known(p) && t.Quote == abi.QuoteUnclaimed && !text.Blank(t.Content) && len(text.Words(t.Content)) < vagueWords {
			vague = append(vague, abi.Challenge{EvidenceIndex: items[i].Index, Challenge: "names a label, quotes nothing and gives no reason", Severity: abi.Weakening})
		}
	}
	return vague
}

// brittle is the stated confidence that nothing unmeasured deserves.
const brittle = 0.99

func ground(t *weigh.Testimony, kind weigh.Kind, other *Item, labels int) (string, abi.Severity) {
	cited := "item " + text.Int(other.Index) + " (" + text.InLine(other.Testimony.SourceRef) + ")"
	switch kind {
	case weigh.Empty:
		return "says nothing: its content is empty", abi.Fatal
	case weigh.Absent:
		return "claims to quote " + text.InLine(t.SourceRef) + ", where none of its lines stands", abi.Fatal
	case weigh.Repeats:
		if odds.SourceKey(t.SourceRef) == odds.SourceKey(other.Testimony.SourceRef) {
			return "repeats " + cited + " of the same source", abi.Minor
		}
		return "repeats " + cited + ", it is no second witness", abi.Weakening
	case weigh.FitsTwo:
		return "fits " + other.Testimony.Supports + " as well: " + cited + " gives the same content for it", abi.Weakening
	case weigh.Sound:
	}
	switch {
	case t.Supports == "":
		return "", ""
	case t.Confidence*float64(labels) <= 1:
		return "states " + text.Share(t.Confidence) + ", no better than chance among " + text.Int(labels) + " labels", abi.Minor
	case t.Confidence >= brittle && t.Quote == abi.QuoteUnclaimed:
		return "is certain and quotes nothing", abi.Minor
	}
	return "", ""
}

// Unraised leaves out the challenges of items that were challenged before at
// least as severely.
func Unraised(list, before []abi.Challenge) []abi.Challenge {
	out := []abi.Challenge{}
	for i := range list {
		if !raised(&list[i], before) {
			out = append(out, list[i])
		}
	}
	return out
}

func raised(ch *abi.Challenge, before []abi.Challenge) bool {
	for i := range before {
		if before[i].EvidenceIndex == ch.EvidenceIndex && weigh.Left(before[i].Severity) <= weigh.Left(ch.Severity) {
			return true
		}
	}
	return false
}
