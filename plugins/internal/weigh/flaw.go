package weigh

import (
	"cmp"
	"slices"

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
	// Other is the index of the item that it repeats or that contradicts it.
	Other int
}

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

// Flaws finds the flaws of items, looking at their content only as a whole.
// Time and space grow with the length of the contents.
func Flaws(items []Testimony) []Flaw {
	flaws := make([]Flaw, len(items))
	for i := range items {
		switch {
		case text.Blank(items[i].Content):
			flaws[i] = Flaw{Kind: Empty}
		case items[i].Quote == abi.QuoteAbsent:
			flaws[i] = Flaw{Kind: Absent}
		}
	}
	seen := make(map[said]int)
	whole := make(map[string]int)
	for _, i := range strongestFirst(items) {
		if items[i].Supports == "" || flaws[i].Kind != Sound {
			continue
		}
		if j, ok := firstToSay(seen, &items[i], i); ok {
			flaws[i] = Flaw{Kind: Repeats, Other: j}
			continue
		}
		if j, ok := whole[items[i].Content]; ok && items[j].Supports != items[i].Supports {
			flaws[i], flaws[j] = Flaw{Kind: FitsTwo, Other: j}, Flaw{Kind: FitsTwo, Other: i}
			continue
		}
		whole[items[i].Content] = i
	}
	return flaws
}

// said is a line that an item gives for a label.
type said struct{ label, line string }

// firstToSay returns the item that gave one of item's lines for the same label
// before. One shared line is enough: who adds lines to an item gains nothing.
func firstToSay(seen map[said]int, item *Testimony, index int) (int, bool) {
	lines := text.Substance(item.Content)
	first, repeated := 0, false
	for _, line := range lines {
		j, ok := seen[said{item.Supports, line}]
		if ok && (!repeated || j < first) {
			first, repeated = j, true
		}
	}
	for _, line := range lines {
		key := said{item.Supports, line}
		if _, ok := seen[key]; !ok {
			seen[key] = index
		}
	}
	return first, repeated
}

// strongestFirst gives the indexes of items by what they may count, so that of
// items that repeat each other the strongest keeps its weight.
func strongestFirst(items []Testimony) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(items[b].Confidence*items[b].Left, items[a].Confidence*items[a].Left)
	})
	return order
}
