package proceeding

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

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
