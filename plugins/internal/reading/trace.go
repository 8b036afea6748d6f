package reading

import (
	"slices"
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
	figures  []figure
	place    Reference
}

// File is the evidence of an audit, read once.
type File struct {
	Items []Item
	// silent are items that only address the reader: they can be quoted, and bear nothing out.
	silent []Item
	// Documents that items are lines of, by name.
	Documents []string
	// Checked: there were documents to look items up in.
	Checked bool
}

// maxItems of evidence are read: some seconds of fuel.
const maxItems = 2000

// Open reads the evidence of a request: the items of the case and of those who
// read its documents, with what the host found. What the opinion itself says
// does not count, and what only addresses the reader says nothing.
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
	documents := make(map[string]bool)
	for i := range evidence {
		e := &evidence[i]
		name, _, _ := strings.Cut(e.SourceRef, ":")
		if name == forensicsName || name == dissentName || name == OpinionName || len(f.Items)+len(f.silent) >= maxItems {
			continue
		}
		item := Item{Evidence: *e, Standing: standing[e.SourceRef], words: make(map[string]bool), folded: Fold(e.Content)}
		if steering.Steers(e.Content) && !says(e.Content) {
			f.silent = append(f.silent, item)
			continue
		}
		EachWord(e.Content, func(word string) { item.words[word] = true })
		item.figures = figures(e.Content)
		if place, ok := placeOf(e.SourceRef); ok {
			item.place = place
			if !documents[place.Document] {
				documents[place.Document] = true
				f.Documents = append(f.Documents, place.Document)
			}
		}
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

// Labels are the names of what may be concluded: those of the opinion's metadata and those
// that items speak for.
func (f *File) Labels(o *abi.JudicialOpinion) []string {
	labels := []string{}
	for _, key := range []string{KeyClassification, KeyCharge} {
		if label := o.Metadata[key]; label != "" {
			labels = append(labels, label)
		}
	}
	for i := range f.Items {
		if label := f.Items[i].Supports; label != "" && !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	return labels
}

// AcquitsForWant says whether an opinion acquits, and there is no evidence that it could cite.
func (f *File) AcquitsForWant(o *abi.JudicialOpinion) bool {
	return len(f.Items) == 0 && o.Metadata[KeyDecision] == "acquit"
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

// Quoted are the items in which a quotation stands.
func (f *File) Quoted(q *Quotation) []*Item {
	var list []*Item
	for _, items := range [][]Item{f.Items, f.silent} {
		for i := range items {
			if _, _, ok := q.StandsIn(items[i].folded); ok {
				list = append(list, &items[i])
			}
		}
	}
	return list
}

// leastShare of a statement's words must stand in an item that it rests on
// without naming or quoting it.
const leastShare = 0.5

// Named says whether a statement names an item: by its source_ref, or as one of
// the lines that it names.
func (item *Item) Named(s *Statement, lines []Reference) bool {
	return slices.Contains(lines, item.place) || Names(s.Text, item.SourceRef)
}

// shares is how many words of a statement stand in the item.
func (item *Item) shares(s *Statement) int {
	shared := 0
	for _, word := range s.Words {
		if item.words[word] {
			shared++
		}
	}
	return shared
}

// bears says whether enough of a statement's words stand in the item: half of them, or
// fewer where the statement names the document, or has a figure of what the item has one of.
func (item *Item) bears(s *Statement) bool {
	shared := item.shares(s)
	switch share := float64(shared) / float64(max(1, len(s.Words))); {
	case shared >= minWords && share >= leastShare:
		return true
	case shared >= 2 && share >= leastShare/2 && item.place.Document != "" && s.NamesDocument(item.place.Document):
		return true
	default:
		return shared > 0 && item.measures(s)
	}
}

// measures says whether a figure of a statement is of the same as one of the
// item's: by the word before and the word behind.
func (item *Item) measures(s *Statement) bool {
	mine := s.figures()
	for i := range mine {
		f := &mine[i]
		if f.of+f.unit == "" || f.about == "" {
			continue
		}
		for k := range item.figures {
			other := &item.figures[k]
			if (f.of == "" || f.of == other.of || f.unit != "" && f.unit == other.unit) && f.alike(other) && item.has(f.about) {
				return true
			}
		}
	}
	return false
}

// has says whether a word, without its plural, stands in the item.
func (item *Item) has(word string) bool {
	return word != "" && (item.words[word] || item.words[word+"s"])
}

// Concerns says whether a statement speaks of the item: names it, quotes it, or
// shares its words with it.
func (item *Item) Concerns(s *Statement) bool {
	if Names(s.Text, item.SourceRef) || item.quotedBy(s) {
		return true
	}
	return item.bears(s)
}

func (item *Item) quotedBy(s *Statement) bool {
	for i := range s.Quotations {
		if _, _, ok := s.Quotations[i].StandsIn(item.folded); ok {
			return true
		}
	}
	return false
}

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
