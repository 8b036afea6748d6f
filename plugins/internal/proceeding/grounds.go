package proceeding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Items are those of an indictment or a contest, as yet unchallenged, with what is wrong with each. What they are is read when it
// is asked for first, and then kept: they serve one call.
type Items struct {
	r         *abi.NodeRequest // nil in a contest
	labels    []string
	profile   *abi.Profile
	testimony []weigh.Testimony
	// index in the indictment; nil where the items are all of it
	index []int
	flaws []weigh.Flaw
}

// Indicted are all items of a request's indictment, which must be there.
func Indicted(r *abi.NodeRequest) *Items {
	return &Items{r: r, labels: r.Case.Labels, profile: r.Profile, testimony: weigh.FromIndictment(r.Indictment.Evidence, r.Exhibits)}
}

func contested(r *abi.ContestRequest) *Items {
	all := &Items{labels: r.Labels, profile: r.Profile, testimony: make([]weigh.Testimony, len(r.Items)), index: make([]int, len(r.Items))}
	for i := range r.Items {
		it, x := &r.Items[i].Item, &r.Items[i].Exhibit
		all.index[i] = r.Items[i].EvidenceIndex
		all.testimony[i] = weigh.Testimony{
			SourceRef: it.SourceRef, Content: it.Content, Supports: it.Supports, Element: it.Element,
			Confidence: x.RelevanceConfidence, Quote: x.Quote, Left: 1,
		}
	}
	return all
}

func (all *Items) indexOf(i int) int {
	if all.index == nil {
		return i
	}
	return all.index[i]
}

// maxChallenges bounds what one call raises, so that its artifact stays within the limits however many items there are. What is beyond
// stays flawed for whoever weighs it.
const maxChallenges = 256

// Contest challenges the items of a contest that want selects, each at most once and for its worst ground. Repetitions are sought
// among all items. An item whose source the profile knows is challenged only for a quote that is not there: its reliability was
// measured. Of more than 256 challenges the most severe stay.
func Contest(r *abi.ContestRequest, want func(*weigh.Testimony) bool) []abi.Challenge {
	return mostSevere(contested(r).grounds(want))
}

// ContestVague is Contest of all items, also of those that name a label and neither quote nor give a reason.
func ContestVague(r *abi.ContestRequest) []abi.Challenge {
	all := contested(r)
	challenges := mostSevere(all.grounds(Everything))
	return append(challenges, Unraised(all.vague(), challenges)...)
}

// Everything wants all items.
func Everything(*weigh.Testimony) bool { return true }

// Object challenges the items of the indictment as Contest does, but for those that were challenged before at least as severely.
func (all *Items) Object(before []abi.Challenge, want func(*weigh.Testimony) bool) []abi.Challenge {
	return Unraised(mostSevere(all.grounds(want)), before)
}

func mostSevere(challenges []abi.Challenge) []abi.Challenge {
	if len(challenges) > maxChallenges {
		slices.SortStableFunc(challenges, func(a, b abi.Challenge) int { return cmp.Compare(weigh.Left(a.Severity), weigh.Left(b.Severity)) })
		challenges = challenges[:maxChallenges]
	}
	return challenges
}

// grounds gives each item that want selects and that has one its worst ground.
func (all *Items) grounds(want func(*weigh.Testimony) bool) []abi.Challenge {
	challenges := []abi.Challenge{}
	for i := range all.testimony {
		t := &all.testimony[i]
		if !want(t) {
			continue
		}
		if all.flaws == nil {
			all.flaws = weigh.Flaws(all.testimony, all.profile)
		}
		if all.flaws[i].Kind == weigh.Sound && t.Known(all.profile) {
			continue
		}
		if why, severity := all.ground(i); why != "" {
			challenges = append(challenges, abi.Challenge{EvidenceIndex: all.indexOf(i), Challenge: why, Severity: severity})
		}
	}
	return challenges
}

// Shown are the challenges of items for which a ground can be found, and no more severe than it: whoever raises a challenge has to show
// something that the court can check, however loud they are.
func (all *Items) Shown(challenges []abi.Challenge) []abi.Challenge {
	if len(challenges) == 0 {
		return nil
	}
	worst := make(map[int]abi.Severity)
	for _, found := range append(all.grounds(Everything), all.vague()...) {
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
func (all *Items) vague() []abi.Challenge {
	var challenges []abi.Challenge
	for i := range all.testimony {
		t := &all.testimony[i]
		if t.Supports != "" && t.Quote == abi.QuoteUnclaimed && !t.Known(all.profile) && !text.Blank(t.Content) && len(text.Words(t.Content)) < vagueWords {
			challenges = append(challenges, abi.Challenge{EvidenceIndex: all.indexOf(i), Challenge: "names a label, quotes nothing and gives no reason", Severity: abi.Weakening})
		}
	}
	return challenges
}

// brittle is the stated confidence that nothing unmeasured deserves.
const brittle = 0.99

// ground is the worst one of an item; empty for none.
func (all *Items) ground(i int) (string, abi.Severity) {
	t, flaw := &all.testimony[i], all.flaws[i]
	switch flaw.Kind {
	case weigh.Empty:
		return "says nothing: its content is empty", abi.Fatal
	case weigh.Absent:
		return "claims to quote " + text.InLine(t.SourceRef) + ", where none of its lines stands", abi.Fatal
	case weigh.Repeats, weigh.FitsTwo:
		other := &all.testimony[flaw.Other]
		cited := "item " + text.Int(all.indexOf(flaw.Other)) + " (" + text.InLine(other.SourceRef) + ")"
		switch {
		case flaw.Kind == weigh.FitsTwo:
			return "fits " + other.Supports + " as well: " + cited + " gives the same content for it", abi.Weakening
		case odds.SourceKey(t.SourceRef) == odds.SourceKey(other.SourceRef):
			return "repeats " + cited + " of the same source", abi.Minor
		}
		return "repeats " + cited + ", it is no second witness", abi.Weakening
	case weigh.Sound:
	}
	switch labels := len(all.labels); {
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

// maxCited bounds how many things one sentence lists.
const maxCited = 8

// Cite names an item: "[3] log-classifier".
func Cite(items []abi.IndictmentItem, index int) string {
	var l Listing
	l.Cite(items, index)
	return l.String()
}

// Listing is what a sentence lists, of which it counts only what is beyond eight. The zero value is ready.
type Listing struct {
	// Len is how many things there are.
	Len int
	out []byte
}

// Add adds one thing, in parts.
func (l *Listing) Add(parts ...string) {
	if l.Len++; l.Len > maxCited {
		return
	}
	if l.out == nil {
		l.out = make([]byte, 0, 128)
	}
	if l.Len > 1 {
		l.out = append(l.out, ", "...)
	}
	for _, part := range parts {
		l.out = append(l.out, part...)
	}
}

// Cite adds an item, named as [Cite] does, with what is said of it.
func (l *Listing) Cite(items []abi.IndictmentItem, index int, said ...string) {
	l.Add("[", text.Int(index), "]")
	if l.Len > maxCited {
		return
	}
	if index >= 0 && index < len(items) {
		l.out = append(append(l.out, ' '), text.InLine(items[index].SourceRef)...)
	}
	for _, part := range said {
		l.out = append(l.out, part...)
	}
}

// String gives the things, and counts those beyond eight.
func (l *Listing) String() string { return string(l.out) + l.beyond() }

// Sentence gives the things behind what opens the sentence; nothing where there are none.
func (l *Listing) Sentence(opening string) string {
	if l.Len == 0 {
		return ""
	}
	return opening + string(l.out) + l.beyond() + "."
}

func (l *Listing) beyond() string {
	if l.Len <= maxCited {
		return ""
	}
	return " and " + text.Int(l.Len-maxCited) + " more"
}

// Quarrel tells who challenged which items and how: a sentence, or nothing.
func Quarrel(items []abi.IndictmentItem, challenges []abi.Challenge) string {
	var l Listing
	for i := range challenges {
		ch := &challenges[i]
		by := ""
		if ch.By != "" {
			by = " by "
		}
		l.Cite(items, ch.EvidenceIndex, " (", string(ch.Severity), by, ch.By, ": ", ch.Challenge, ")")
	}
	return l.Sentence("Challenged: ")
}

// Join puts sentences together, leaving out the empty ones, also from a list that it is given.
func Join(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}
