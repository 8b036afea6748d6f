package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxGrounds is how many lines a report quotes, and maxGroundBytes how much of each.
const (
	maxGrounds     = 3
	maxGroundBytes = 160
)

// grounds quotes the lines that speak most for a label, where an investigation
// did not and they were not told before: those that the clues point to, and the
// case's own items.
func grounds(r *abi.NodeRequest, clues *inquiry.Clues, label, told string) string {
	f := r.File
	if f == nil || f.Investigate != nil && slices.ContainsFunc(f.Investigate.Evidence, speaksFor(label)) {
		return ""
	}
	var b strings.Builder
	for _, e := range foremost(append(clues.Items(inquiry.DepthOf(f)), r.Case.Evidence...), label) {
		line := strings.TrimSuffix(firstLine(e.Content), ".")
		if strings.Contains(told, line) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(" For it:")
		}
		b.WriteString(" " + text.InLine(e.SourceRef) + ": " + line + ".")
	}
	return b.String()
}

func firstLine(content string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	if len(line) <= maxGroundBytes {
		return line
	}
	return strings.ToValidUTF8(line[:maxGroundBytes], "") + "..."
}

func speaksFor(label string) func(abi.Evidence) bool {
	return func(e abi.Evidence) bool { return e.Supports == label }
}

// foremost are the items for a label that are surest of it; of those that differ in figures alone one is enough.
func foremost(items []abi.Evidence, label string) []abi.Evidence {
	var list []abi.Evidence
	said := map[string]bool{}
	for _, e := range items {
		substance := strings.Join(text.Substance(e.Content), "\n")
		if e.Supports == label && !said[substance] {
			said[substance], list = true, append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b abi.Evidence) int { return cmp.Compare(b.RelevanceConfidence, a.RelevanceConfidence) })
	return list[:min(len(list), maxGrounds)]
}
