package proceeding

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxCited bounds how many things one sentence lists.
const maxCited = 8

// Cite names an item: "[3] log-classifier".
func Cite(items []abi.IndictmentItem, index int) string {
	if index < 0 || index >= len(items) {
		return "[" + text.Int(index) + "]"
	}
	return "[" + text.Int(index) + "] " + text.InLine(items[index].SourceRef)
}

// List joins what a sentence lists, and counts what is beyond eight.
func List(what []string) string {
	if len(what) <= maxCited {
		return strings.Join(what, ", ")
	}
	return strings.Join(what[:maxCited], ", ") + " and " + text.Int(len(what)-maxCited) + " more"
}

// Quarrel tells who challenged which items and how: a sentence, or nothing.
func Quarrel(items []abi.IndictmentItem, challenges []abi.Challenge) string {
	list := make([]string, 0, len(challenges))
	for i := range challenges {
		ch := &challenges[i]
		who := ""
		if ch.By != "" {
			who = " by " + ch.By
		}
		list = append(list, Cite(items, ch.EvidenceIndex)+" ("+string(ch.Severity)+who+": "+ch.Challenge+")")
	}
	if len(list) == 0 {
		return ""
	}
	return "Challenged: " + List(list) + "."
}

// Join puts sentences together, leaving out the empty ones.
func Join(sentences ...string) string {
	size := 0
	for _, s := range sentences {
		size += len(s) + 1
	}
	out := make([]byte, 0, size)
	for _, s := range sentences {
		if s == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, s...)
	}
	return string(out)
}
