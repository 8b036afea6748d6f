package reading

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
)

// unfoundWeight is what is left of a claim with a figure that no item has; muchNearer is
// how much more of a clause's words an item must have than another to be the one that is meant.
const unfoundWeight, muchNearer = 0.75, 0.4

// compare checks the figures of a claim against the items that it quotes or names, and, where none
// of them has it, against those that have its words or those of the figure's clause. A figure
// differs where one of them has another of the same, unless an item that is about as near to the clause has it.
func (t *tracing) compare(s *Statement, out *Support, rests, byWords []*Item) {
	for _, f := range s.figures() {
		has := func(item *Item) bool {
			return f.among(item.figures) || f.follows(item.figures) || Names(item.folded, f.text)
		}
		if slices.ContainsFunc(rests, has) || t.passed(&f) {
			continue
		}
		bearing := t.bearing(&f, append(slices.Clone(rests), byWords...))
		same := max(nearest(&f, bearing, has), t.elsewhere(&f))
		differs := nearest(&f, bearing, func(item *Item) bool {
			return !has(item) && slices.ContainsFunc(item.figures, func(other figure) bool { return f.alike(&other) })
		})
		if differs >= 0 && (same < 0 || differs >= same+muchNearer) {
			out.Differs = f.show()
			return
		}
		if out.Unfound == "" && same < 0 {
			out.Unfound = f.show()
		}
	}
	if out.Unfound != "" {
		out.Weight *= unfoundWeight
	}
}

// besideWeight is what is left of a claim that says much beside its quotation;
// looseShare of what it says there has no item.
const besideWeight, looseShare = 0.8, 2.0 / 3

// beside says whether most of what a claim says outside of its quotations, four words
// at least, stands in no item. Words that tell that something is said don't count, and
// what addresses the reader has to be told in one's own words.
func (t *tracing) beside(s *Statement, quoted *Item) bool {
	if len(s.Quotations) == 0 || s.Procedural() || steering.Steers(quoted.Content) {
		return false
	}
	loose, all := 0, 0
	for _, word := range Words(s.Outside) {
		if telling[word] || proceedings[word] || proceedings[singular(word)] || t.labels[word] || strings.ContainsAny(word, "0123456789") {
			continue
		}
		all++
		if !slices.ContainsFunc(t.file.Items, func(item Item) bool { return item.Standing != Absent && (item.has(word) || item.has(singular(word))) }) {
			loose++
		}
	}
	return loose >= minClaim && float64(loose) >= looseShare*float64(all)
}

// bearing are the items that a claim rests on, and behind them those that have half of the
// words of a figure's clause.
func (t *tracing) bearing(f *figure, list []*Item) []*Item {
	for i := range t.file.Items {
		item := &t.file.Items[i]
		if item.Standing != Absent && len(f.clause) >= leastClause && item.shareOf(f.clause) >= leastShare && !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// elsewhere says how near the nearest item that has the figure is to its clause: -1 if
// none has it.
func (t *tracing) elsewhere(f *figure) float64 {
	standing := make([]*Item, 0, len(t.file.Items))
	for i := range t.file.Items {
		if item := &t.file.Items[i]; item.Standing != Absent {
			standing = append(standing, item)
		}
	}
	return nearest(f, standing, func(item *Item) bool { return f.among(item.figures) })
}

// nearest is the largest share of the words of a figure's clause that one of the items
// has which are such; -1 if none is.
func nearest(f *figure, items []*Item, such func(item *Item) bool) float64 {
	most := -1.0
	for _, item := range items {
		if such(item) {
			most = max(most, item.shareOf(f.clause))
		}
	}
	return most
}

// show gives a figure with what it is of.
func (f *figure) show() string {
	if f.of != "" && !strings.HasSuffix(f.text, f.shown) {
		return f.text + " " + f.shown
	}
	return f.text
}
