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
	ForensicsName = "forensics" // what the host found when it looked an item up
	DissentName   = "dissent"   // what another judge said
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
	// checked: there were documents to look items up in.
	checked bool
}

// maxItems of evidence are read: some seconds of fuel.
const maxItems = 2000

// Open reads the evidence of a request: the items of the case and of those who read its documents, with what the host found. What the
// opinion itself says does not count, and what only addresses the reader says nothing.
func Open(evidence []abi.Evidence) *File {
	f := &File{}
	standing := make(map[string]Standing)
	for i := range evidence {
		if ref, ok := strings.CutPrefix(evidence[i].SourceRef, ForensicsName+":"); ok {
			f.checked = true
			if strings.HasPrefix(evidence[i].Content, "stands") {
				standing[ref] = Stands
			} else if standing[ref] != Stands {
				standing[ref] = Absent
			}
		}
	}
	for i := range evidence {
		e := &evidence[i]
		name, _, _ := strings.Cut(e.SourceRef, ":")
		if name == ForensicsName || name == DissentName || name == OpinionName || len(f.Items)+len(f.silent) == maxItems {
			continue
		}
		item := Item{Evidence: *e, Standing: standing[e.SourceRef], words: make(map[string]bool), folded: Fold(e.Content)}
		if steering.Steers(e.Content) && !says(e.Content) {
			f.silent = append(f.silent, item)
			continue
		}
		item.figures = figures(e.Content)
		EachWord(e.Content, func(word string) { item.words[word] = true })
		if place, ok := placeOf(e.SourceRef); ok {
			item.place = place
			if !slices.Contains(f.Documents, place.Document) {
				f.Documents = append(f.Documents, place.Document)
			}
		}
		f.Items = append(f.Items, item)
	}
	return f
}

// says tells whether a content says something beside what addresses the reader, in a line of its own.
func says(content string) bool {
	for line := range strings.Lines(content) {
		if len(Claims(Statements(line))) > 0 {
			return true
		}
	}
	return false
}

// labels are the names of what may be concluded: those of the opinion's metadata and those that items speak for.
func (f *File) labels(o *abi.JudicialOpinion) []string {
	labels := []string{o.Metadata[KeyClassification], o.Metadata[keyCharge]}
	for i := range f.Items {
		labels = append(labels, f.Items[i].Supports)
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// AcquitsForWant says whether an opinion acquits, and there is no evidence that it could cite.
func (f *File) AcquitsForWant(o *abi.JudicialOpinion) bool {
	return len(f.Items) == 0 && o.Metadata[keyDecision] == "acquit"
}

// Weight is what an item counts that a claim is traced to: what stands in the documents wholly, what claims to and doesn't nothing, and
// what claims no document half, unless there was none to claim.
func (f *File) Weight(item *Item) float64 {
	switch {
	case item.Standing == Stands || item.Standing == Unclaimed && !f.checked:
		return 1
	case item.Standing == Absent:
		return 0
	default:
		return 0.5
	}
}

// Quoted are the items in which a quotation stands.
func (f *File) Quoted(q *Quotation) []*Item {
	stands := func(item *Item) bool {
		_, _, ok := q.StandsIn(item.folded)
		return ok
	}
	return append(where(f.Items, stands), where(f.silent, stands)...)
}

// Named are the items that a statement names, by their source_ref or as one of the lines that it names.
func (f *File) Named(s *Statement, lines []Reference) []*Item {
	return where(f.Items, func(item *Item) bool { return slices.Contains(lines, item.place) || Names(s.Text, item.SourceRef) })
}

func where(items []Item, such func(*Item) bool) []*Item {
	var list []*Item
	for i := range items {
		if such(&items[i]) {
			list = append(list, &items[i])
		}
	}
	return list
}

func (f *File) some(such func(*Item) bool) bool {
	for i := range f.Items {
		if such(&f.Items[i]) {
			return true
		}
	}
	return false
}

// heaviest is the first of the items that count most; nil of none.
func (f *File) heaviest(list []*Item) *Item {
	var best *Item
	for _, item := range list {
		if best == nil || f.Weight(item) > f.Weight(best) {
			best = item
		}
	}
	return best
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

// leastShare of a statement's words must stand in an item that it rests on without naming or quoting it.
const leastShare = 0.5

// bears says whether enough of a statement's words stand in the item, or one and a figure of what the item has one of.
func (item *Item) bears(s *Statement) bool {
	shared := item.shares(s)
	return shared >= minWords && float64(shared) >= leastShare*float64(len(s.Words)) || shared > 0 && slices.ContainsFunc(s.figures(), item.hasAlike)
}
