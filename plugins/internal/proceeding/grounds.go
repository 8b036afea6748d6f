package proceeding

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// item is one that may be challenged, under its index in the indictment.
type item struct {
	index     int
	testimony weigh.Testimony
}

// items are all of the indictment's, as yet unchallenged.
func items(r *abi.NodeRequest) []item {
	testimony := weigh.FromIndictment(r.Indictment.Evidence, r.Exhibits, nil)
	list := make([]item, len(testimony))
	for i := range testimony {
		list[i] = item{i, testimony[i]}
	}
	return list
}

func contested(list []abi.ContestItem) []item {
	out := make([]item, len(list))
	for i := range list {
		it, x := &list[i].Item, &list[i].Exhibit
		out[i] = item{list[i].EvidenceIndex, weigh.Testimony{
			SourceRef: it.SourceRef, Content: it.Content, Supports: it.Supports, Element: it.Element,
			Confidence: x.RelevanceConfidence, Quote: x.Quote, Left: 1,
		}}
	}
	return out
}

// maxChallenges bounds what one call raises, so that its artifact stays within the limits however many items there are. What is beyond
// stays flawed for whoever weighs it.
const maxChallenges = 256

// Contest challenges the items of a contest that want selects, each at most once and for its worst ground. Repetitions are sought
// among all items. An item whose source the profile knows is challenged only for a quote that is not there: its reliability was
// measured. Of more than 256 challenges the most severe stay.
func Contest(r *abi.ContestRequest, want func(*weigh.Testimony) bool) []abi.Challenge {
	return mostSevere(grounds(contested(r.Items), r.Labels, r.Profile, want))
}

// ContestVague is Contest of all items, also of those that name a label and neither quote nor give a reason.
func ContestVague(r *abi.ContestRequest) []abi.Challenge {
	challenges := Contest(r, Everything)
	return append(challenges, Unraised(vague(contested(r.Items), r.Profile), challenges)...)
}

// Everything wants all items.
func Everything(*weigh.Testimony) bool { return true }

// Object challenges the items of the indictment as Contest does, but for those that were challenged before at least as severely.
func Object(r *abi.NodeRequest, before []abi.Challenge, want func(*weigh.Testimony) bool) []abi.Challenge {
	return Unraised(mostSevere(grounds(items(r), r.Case.Labels, r.Profile, want)), before)
}

func mostSevere(challenges []abi.Challenge) []abi.Challenge {
	if len(challenges) > maxChallenges {
		slices.SortStableFunc(challenges, func(a, b abi.Challenge) int { return cmp.Compare(weigh.Left(a.Severity), weigh.Left(b.Severity)) })
		challenges = challenges[:maxChallenges]
	}
	return challenges
}

// grounds gives each item that want selects and that has one its worst ground.
func grounds(list []item, labels []string, p *abi.Profile, want func(*weigh.Testimony) bool) []abi.Challenge {
	testimony := make([]weigh.Testimony, len(list))
	for i := range list {
		testimony[i] = list[i].testimony
	}
	flaws := weigh.Flaws(testimony, p)
	challenges := []abi.Challenge{}
	for i := range list {
		t := &testimony[i]
		if !want(t) || flaws[i].Kind == weigh.Sound && t.Known(p) {
			continue
		}
		other := 0
		if flaws[i].Kind == weigh.Repeats || flaws[i].Kind == weigh.FitsTwo {
			other = flaws[i].Other
		}
		if why, severity := ground(t, flaws[i].Kind, &list[other], len(labels)); why != "" {
			challenges = append(challenges, abi.Challenge{EvidenceIndex: list[i].index, Challenge: why, Severity: severity})
		}
	}
	return challenges
}

// Shown are the challenges of items for which a ground can be found, and no more severe than it: whoever raises a challenge has to show
// something that the court can check, however loud they are. r must hold an indictment.
func Shown(r *abi.NodeRequest, challenges []abi.Challenge) []abi.Challenge {
	if len(challenges) == 0 {
		return nil
	}
	all := items(r)
	worst := make(map[int]abi.Severity)
	for _, found := range append(grounds(all, r.Case.Labels, r.Profile, Everything), vague(all, r.Profile)...) {
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

// vague challenges what names a label but neither quotes nor gives a reason, unless the profile knows its source.
func vague(list []item, p *abi.Profile) []abi.Challenge {
	var challenges []abi.Challenge
	for i := range list {
		t := &list[i].testimony
		if t.Supports != "" && !t.Known(p) && t.Quote == abi.QuoteUnclaimed && !text.Blank(t.Content) && len(text.Words(t.Content)) < vagueWords {
			challenges = append(challenges, abi.Challenge{EvidenceIndex: list[i].index, Challenge: "names a label, quotes nothing and gives no reason", Severity: abi.Weakening})
		}
	}
	return challenges
}

// brittle is the stated confidence that nothing unmeasured deserves.
const brittle = 0.99

func ground(t *weigh.Testimony, kind weigh.Kind, other *item, labels int) (string, abi.Severity) {
	cited := "item " + text.Int(other.index) + " (" + text.InLine(other.testimony.SourceRef) + ")"
	switch kind {
	case weigh.Empty:
		return "says nothing: its content is empty", abi.Fatal
	case weigh.Absent:
		return "claims to quote " + text.InLine(t.SourceRef) + ", where none of its lines stands", abi.Fatal
	case weigh.Repeats:
		if odds.SourceKey(t.SourceRef) == odds.SourceKey(other.testimony.SourceRef) {
			return "repeats " + cited + " of the same source", abi.Minor
		}
		return "repeats " + cited + ", it is no second witness", abi.Weakening
	case weigh.FitsTwo:
		return "fits " + other.testimony.Supports + " as well: " + cited + " gives the same content for it", abi.Weakening
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

// Unraised leaves out the challenges of items that were challenged before at least as severely.
func Unraised(list, before []abi.Challenge) []abi.Challenge {
	out := []abi.Challenge{}
	for _, ch := range list {
		if !slices.ContainsFunc(before, func(b abi.Challenge) bool {
			return b.EvidenceIndex == ch.EvidenceIndex && weigh.Left(b.Severity) <= weigh.Left(ch.Severity)
		}) {
			out = append(out, ch)
		}
	}
	return out
}
