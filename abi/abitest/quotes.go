package abitest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// minQuote is how many characters a line needs to count as a quote (§4.5).
const minQuote = 8

// fold makes one space of every run of white space, and none at the ends.
func fold(s string) string { return strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ") }

// documents are those of a case, as §4.4 and §4.5 look words up in them.
type documents struct {
	list   []abi.Document
	folded []string // lazily, by index of list
}

func newDocuments(list []abi.Document) *documents {
	return &documents{list: list, folded: make([]string, len(list))}
}

func (d *documents) fold(i int) string {
	if d.folded[i] == "" {
		d.folded[i] = fold(d.list[i].Text)
	}
	return d.folded[i]
}

// contains says whether a document of that name is there, and the quote in it.
func (d *documents) contains(name, quote string) (known, stands bool) {
	for i := range d.list {
		if d.list[i].Name == name {
			return true, strings.Contains(d.fold(i), fold(quote))
		}
	}
	return false, false
}

// cites says whether a source_ref names a document, or a place in it, in which the content stands.
func (d *documents) cites(sourceRef, content string) bool {
	for i := range d.list {
		rest, ok := strings.CutPrefix(sourceRef, d.list[i].Name)
		if ok && (rest == "" || rest[0] == ':' || rest[0] == '#') && fold(content) != "" && strings.Contains(d.fold(i), fold(content)) {
			return true
		}
	}
	return false
}

// quote is what the host finds of an item.
func (d *documents) quote(sourceRef, content string) (abi.QuoteStatus, string) {
	var lines []string
	for line := range strings.Lines(content) {
		if line = fold(line); utf8.RuneCountInString(line) >= minQuote {
			lines = append(lines, line)
		}
	}
	if whole := fold(content); len(lines) == 0 && whole != "" {
		lines = append(lines, whole)
	}
	for i := range d.list {
		for _, line := range lines {
			if strings.Contains(d.fold(i), line) {
				return abi.QuoteStands, d.list[i].Name
			}
		}
	}
	for i := range d.list {
		if names(sourceRef, d.list[i].Name) {
			return abi.QuoteAbsent, d.list[i].Name
		}
	}
	return abi.QuoteUnclaimed, ""
}

// names says whether a source_ref names a document: `log`, `log:L83`, or with
// the kind of a reading before it.
func names(sourceRef, document string) bool {
	isPlace := func(rest string) bool { return rest != "" && (rest[0] == ':' || rest[0] == '#') }
	if rest, ok := strings.CutPrefix(sourceRef, document); ok && (rest == "" || isPlace(rest)) {
		return true
	}
	_, where, _ := strings.Cut(sourceRef, ":")
	rest, ok := strings.CutPrefix(where, document)
	return ok && isPlace(rest)
}
