// Package quotes answers whether words stand in the documents of a case: the
// facts about evidence that no module can influence (SPEC.md §4.4, §4.5).
package quotes

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// minQuote is the shortest line, in characters after folding, that counts as a quote by itself: shorter ones stand in every log.
const minQuote = 8

// Documents answers whether words stand in the documents of a case, with white space folded on both sides. Safe for concurrent use.
type Documents struct {
	list   []abi.Document
	folded []func() string // lazily, by index of list
}

// Of takes the documents of a case, which must not change afterwards.
func Of(list []abi.Document) *Documents {
	d := &Documents{list: list, folded: make([]func() string, len(list))}
	for i := range list {
		d.folded[i] = sync.OnceValue(func() string { return foldSpace(list[i].Text) })
	}
	return d
}

func (d *Documents) fold(i int) string { return d.folded[i]() }

// Contains says whether a document of that name is there, and whether the quote stands in it.
func (d *Documents) Contains(name, quote string) (known, stands bool) {
	for i := range d.list {
		if d.list[i].Name == name {
			return true, strings.Contains(d.fold(i), foldSpace(quote))
		}
	}
	return false, false
}

// Quote looks an item up in all documents. Where none has a line of it, the source may still claim one of them.
func (d *Documents) Quote(sourceRef, content string) (abi.QuoteStatus, string) {
	lines := quotable(content)
	for i := range d.list {
		if d.anyLine(i, lines) {
			return abi.QuoteStands, d.list[i].Name
		}
	}
	for i := range d.list {
		if claims(sourceRef, d.list[i].Name) {
			return abi.QuoteAbsent, d.list[i].Name
		}
	}
	return abi.QuoteUnclaimed, ""
}

// Cites says whether a source_ref names a document, with or without a place in it, in which the whole content stands.
func (d *Documents) Cites(sourceRef, content string) bool {
	words := foldSpace(content)
	for i := range d.list {
		if rest, ok := strings.CutPrefix(sourceRef, d.list[i].Name); ok && (rest == "" || isPlace(rest)) && words != "" && strings.Contains(d.fold(i), words) {
			return true
		}
	}
	return false
}

func (d *Documents) anyLine(i int, lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(d.fold(i), line) })
}

// claims says whether a source_ref names the document: by its name alone, or by its name and a place, such as `log:L83` and
// `report.xml#12`. Before a place the kind of a reading may stand, as in `seeker-frame:log:L83`.
func claims(sourceRef, document string) bool {
	if rest, ok := strings.CutPrefix(sourceRef, document); ok && (rest == "" || isPlace(rest)) {
		return true
	}
	_, where, _ := strings.Cut(sourceRef, ":")
	rest, ok := strings.CutPrefix(where, document)
	return ok && isPlace(rest)
}

// isPlace says whether a place stands behind a document's name.
func isPlace(rest string) bool { return rest != "" && (rest[0] == ':' || rest[0] == '#') }

// quotable gives the folded lines of content that are long enough to count; a content that has only short ones counts as a whole.
func quotable(content string) []string {
	var lines []string
	for line := range strings.Lines(content) {
		if line = foldSpace(line); utf8.RuneCountInString(line) >= minQuote {
			lines = append(lines, line)
		}
	}
	if whole := foldSpace(content); len(lines) == 0 && whole != "" {
		lines = append(lines, whole)
	}
	return lines
}

// foldSpace makes one space of every run of white space and trims the ends.
func foldSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Line is the line, from 1, of the document of that name on which a quote begins, and 0 if no line has its first words as they stand.
func (d *Documents) Line(name, quote string) int {
	first := ""
	for line := range strings.Lines(quote) {
		if first = foldSpace(line); first != "" {
			break
		}
	}
	for i := range d.list {
		if d.list[i].Name != name || first == "" {
			continue
		}
		number := 0
		for line := range strings.Lines(d.list[i].Text) {
			number++
			if strings.Contains(line, first) || strings.Contains(foldSpace(line), first) {
				return number
			}
		}
	}
	return 0
}
