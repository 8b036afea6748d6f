package weigh

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// Kind names what is wrong with an item by itself, whoever challenges it.
type Kind uint8

// The kinds of flaws, the worst last.
const (
	Sound Kind = iota
	// Repeats: another item that counts more says the same for the same label.
	Repeats
	// FitsTwo: another item gives the same content for another label.
	FitsTwo
	// Absent: it claims a quote that stands in no document.
	Absent
	// Empty: it has no content.
	Empty
)

// Flaw is what is wrong with an item, and beside which other item.
type Flaw struct {
	Kind Kind
	// Other is the index of the item that it repeats or that contradicts it, or inFinding.
	Other int
}

// inFinding stands for a finding of discovery, which is no item.
const inFinding = -1

// share is what a flaw leaves of an item.
func (f Flaw) share() float64 {
	switch f.Kind {
	case Empty:
		return 0
	case Absent:
		return 0.1
	case Repeats, FitsTwo:
		return 0.25
	default:
		return 1
	}
}

// Flaws finds the flaws of items, looking at their content only as a whole. An
// item whose source a profile knows is never Repeats, FitsTwo or Empty: its
// reliability beside the others was measured. For FitsTwo see [witness.doubts]. Time and space grow with the length of the contents.
func Flaws(items []Testimony, p *abi.Profile) []Flaw { return flawsBeside(witnesses(items, p), nil) }

// flawsBeside is Flaws beside lines that stand already.
func flawsBeside(items []witness, quoted []quote) []Flaw {
	flaws := make([]Flaw, len(items))
	for i := range items {
		switch {
		case text.Blank(items[i].Content) && items[i].known == nil:
			flaws[i] = Flaw{Kind: Empty}
		case items[i].Quote == abi.QuoteAbsent:
			flaws[i] = Flaw{Kind: Absent}
		}
	}
	claims := func(i int) bool { return items[i].Supports != "" && flaws[i].Kind == Sound }
	if !repeats(items, quoted, claims) {
		return flaws
	}
	lines := make(register)
	for i := range quoted {
		lines.add(quoted[i].lines, entry{quoted[i].label, inFinding, len(quoted[i].lines)})
	}
	for _, i := range strongestFirst(items) {
		if !claims(i) {
			continue
		}
		own := items[i].substance()
		before := lines.of(own)
		if j, ok := repeated(before, items[i].Supports); ok && items[i].known == nil {
			flaws[i] = Flaw{Kind: Repeats, Other: j}
		} else if j, ok := contradicted(before, items[i].Supports); ok {
			if items[j].doubts(&items[i]) {
				flaws[i] = Flaw{Kind: FitsTwo, Other: j}
			}
			if items[i].doubts(&items[j]) {
				flaws[j] = Flaw{Kind: FitsTwo, Other: i}
			}
		}
		lines.add(own, entry{items[i].Supports, i, len(own)})
	}
	return flaws
}

// maxCompared lines are compared each with each, which is faster than a map for few.
const maxCompared = 32

// repeats says whether the items that claims selects and the quotes may have a line in common. Mostly they have none.
func repeats(items []witness, quoted []quote, claims func(int) bool) bool {
	var room [maxCompared]string
	before := room[:0]
	for i := range quoted {
		if before = append(before, quoted[i].lines...); len(before) > maxCompared {
			return true
		}
	}
	for i := range items {
		if !claims(i) {
			continue
		}
		own := items[i].substance()
		if len(before)+len(own) > maxCompared {
			return true
		}
		for _, line := range own {
			if slices.Contains(before, line) {
				return true
			}
		}
		before = append(before, own...)
	}
	return false
}

// doubts says whether an item weakens another one by giving the same content for another label. Nothing weakens one that was measured. What a
// persona of the court says, or a language model that nobody measured, weakens only its like: otherwise it would take only a quote of each
// item to have none of them count. A rule of the user is weakened by other rules alone, since a person said what the line means.
func (w *witness) doubts(other *witness) bool {
	return other.known == nil && (!w.hearsay() || other.hearsay()) && (w.rule() || !other.rule())
}

func (w *witness) rule() bool {
	return !w.Party && strings.HasPrefix(w.SourceRef, abi.RuleSource)
}

// entry is the first item that gave a line for a label, and how many lines it has.
type entry struct {
	label string
	item  int
	lines int
}

// register knows who gave which line, one entry for each label.
type register map[string][]entry

func (r register) add(lines []string, e entry) {
	for _, line := range lines {
		before := r[line]
		if !slices.ContainsFunc(before, func(old entry) bool { return old.label == e.label }) {
			r[line] = append(before, e)
		}
	}
}

// of gives who gave each of the lines.
func (r register) of(lines []string) [][]entry {
	out := make([][]entry, len(lines))
	for i, line := range lines {
		out[i] = r[line]
	}
	return out
}

// repeated returns the earliest item that gave one of the lines for the same
// label. One shared line is enough: who adds lines to an item gains nothing.
func repeated(lines [][]entry, label string) (item int, ok bool) {
	for i := range lines {
		for _, e := range lines[i] {
			if e.label == label && (!ok || e.item < item) {
				item, ok = e.item, true
			}
		}
	}
	return item, ok
}

// contradicted returns the earliest item that gives the same lines for another label: all of its lines, or all of these, and perhaps more.
func contradicted(lines [][]entry, label string) (item int, ok bool) {
	var shared map[entry]int // mostly nothing
	for i := range lines {
		for _, e := range lines[i] {
			if e.label == label || e.item == inFinding {
				continue
			}
			if shared == nil {
				shared = make(map[entry]int)
			}
			shared[e]++
			if n := shared[e]; (n == len(lines) || n == e.lines) && (!ok || e.item < item) {
				item, ok = e.item, true
			}
		}
	}
	return item, ok
}

// strongestFirst gives the indexes of items by what they may count, so that of items that repeat each other the strongest keeps its weight.
// What personas and unmeasured models state comes last.
func strongestFirst(items []witness) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if last := items[a].hearsay(); last != items[b].hearsay() {
			if last {
				return 1
			}
			return -1
		}
		return cmp.Compare(items[b].Confidence*items[b].Left, items[a].Confidence*items[a].Left)
	})
	return order
}
