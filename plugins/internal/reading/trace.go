package reading

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
)

// Names by which the host speaks in the evidence of an audit.
const (
	OpinionName   = "opinion"   // what the opinion itself says
	forensicsName = "forensics" // what the host found when it looked an item up
	dissentName   = "dissent"   // what another judge said
)

// Standing is what the host found when it looked an item up in the documents.
type Standing int

// The standings.
const (
	Unclaimed Standing = iota // it claims to stand in no document
	Stands
	Absent // it claims to, and doesn't
)

// Item is an item of evidence that a claim can be traced to.
type Item struct {
	abi.Evidence
	Standing Standing
	words    map[string]bool
	folded   string
}

// File is the evidence of an audit, read once.
type File struct {
	Items []Item
	// Checked: there were documents to look items up in.
	Checked bool
}

// maxItems of evidence are read: some seconds of fuel.
const maxItems = 2000

// Open reads the evidence of a request: the items of the case and of those who
// read its documents, with what the host found. What the opinion itself says
// stands for nothing, and what only addresses the reader says nothing.
func Open(evidence []abi.Evidence) *File {
	standing := make(map[string]Standing)
	f := &File{}
	for i := range evidence {
		ref, ok := strings.CutPrefix(evidence[i].SourceRef, forensicsName+":")
		if !ok {
			continue
		}
		f.Checked = true
		switch {
		case strings.HasPrefix(evidence[i].Content, "stands"):
			standing[ref] = Stands
		case standing[ref] != Stands:
			standing[ref] = Absent
		}
	}
	for i := range evidence {
		e := &evidence[i]
		name, _, _ := strings.Cut(e.SourceRef, ":")
		if name == forensicsName || name == dissentName || name == OpinionName || len(f.Items) == maxItems {
			continue
		}
		if steering.Steers(e.Content) && !says(e.Content) {
			continue
		}
		item := Item{Evidence: *e, Standing: standing[e.SourceRef], words: make(map[string]bool), folded: fold(e.Content)}
		EachWord(e.Content, func(word string) { item.words[word] = true })
		f.Items = append(f.Items, item)
	}
	return f
}

// says tells whether a content says something beside what addresses the
// reader, in a line of its own.
func says(content string) bool {
	for line := range strings.Lines(content) {
		if len(Claims(appendSentences(nil, strings.TrimSpace(line)))) > 0 {
			return true
		}
	}
	return false
}

// Weight is what an item counts that a claim is traced to: what stands in the
// documents wholly, what claims to and doesn't nothing, and what claims no
// document half, unless there was none to claim.
func (f *File) Weight(item *Item) float64 {
	switch {
	case item.Standing == Stands || item.Standing == Unclaimed && !f.Checked:
		return 1
	case item.Standing == Absent:
		return 0
	default:
		return 0.5
	}
}

// Trace finds the item that a statement rests on: one that it quotes, or
// names, or shares its words with; of several the one that counts most, the
// first of equals. Nil if there is none.
func (f *File) Trace(s *Statement) *Item {
	var best *Item
	for i := range f.Items {
		item := &f.Items[i]
		if (best == nil || f.Weight(item) > f.Weight(best)) && item.Concerns(s) {
			best = item
		}
	}
	return best
}

// leastShare of a statement's words must stand in an item that it rests on
// without naming or quoting it.
const leastShare = 0.5

// Concerns says whether a statement speaks of the item.
func (item *Item) Concerns(s *Statement) bool {
	if Names(s.Text, item.SourceRef) {
		return true
	}
	if s.quotedIn(item.folded) {
		return true
	}
	shared := 0
	for _, word := range s.Words {
		if item.words[word] {
			shared++
		}
	}
	return shared >= minWords && float64(shared) >= leastShare*float64(len(s.Words))
}

// QuotedIn says whether a quotation of the statement stands in a text, in any
// white space and any case of letters.
func (s *Statement) QuotedIn(text string) bool { return len(s.folded) > 0 && s.quotedIn(fold(text)) }

func (s *Statement) quotedIn(folded string) bool {
	for _, quote := range s.folded {
		if strings.Contains(folded, quote) {
			return true
		}
	}
	return false
}

// minQuote is the shortest quotation, in bytes, that tells one item from another.
const minQuote = 8

// Names says whether a text has a name as a word of its own.
func Names(text, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = start + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// fold gives small letters, and one space for each run of white space.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
