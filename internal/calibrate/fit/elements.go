package fit

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// elementStatement is something that a source may say by an item of an element.
type elementStatement struct {
	statement int // index into corpus.statements
	element   abi.Element
}

// readElements finds by which elements each source says what it says, where that differs: a reader of logs that names a label for one
// kind of line and for another makes two statements that may not be worth the same.
func (c *corpus) readElements() {
	made := make([][]elementStatement, len(c.samples))
	cases := make(map[elementStatement]int)
	for i := range c.samples {
		made[i] = c.elementStatements(i)
		for _, x := range made[i] {
			cases[x]++
		}
	}
	kinds := make([]int, len(c.statements)) // by statement: elements by which it is made
	for x, n := range cases {
		if n >= leastCases {
			kinds[x.statement]++
		}
	}
	for x, n := range cases {
		if n >= leastCases && kinds[x.statement] > 1 {
			c.elements = append(c.elements, x)
		}
	}
	slices.SortFunc(c.elements, func(a, b elementStatement) int {
		return cmp.Or(cmp.Compare(a.statement, b.statement), cmp.Compare(a.element, b.element))
	})
	for i := range c.samples {
		for at, x := range c.elements {
			if slices.Contains(made[i], x) {
				c.samples[i].elements = append(c.samples[i].elements, int32(at))
			}
		}
	}
}

// elementStatements are what the items of a case say by which element, each once.
func (c *corpus) elementStatements(i int) []elementStatement {
	s := &c.samples[i]
	var out []elementStatement
	for k := range s.entry.Case.Evidence {
		item := &s.entry.Case.Evidence[k]
		key := odds.SourceKey(item.SourceRef)
		for u := range s.uttered {
			x := &s.uttered[u]
			if x.source == 0 || c.sources[x.source] != key || c.labelOf(x.says) != item.Supports {
				continue
			}
			if made := (elementStatement{x.statement, odds.ElementOf(item.Element)}); !slices.Contains(out, made) {
				out = append(out, made)
			}
		}
	}
	return out
}

// labelOf names what a source says; empty for no label.
func (c *corpus) labelOf(says int) string {
	if says == noLabel {
		return ""
	}
	return c.labels[says]
}
